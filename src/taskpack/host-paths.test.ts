// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of scripts are meant
import { describe, expect, test } from 'bun:test';
import { containerRoots, hostPathsIn } from './host-paths.ts';

const paths = (line: string, workdir = '/app') => hostPathsIn(line, containerRoots(workdir)).map((root) => root.path);

describe('a use of the machine', () => {
  test.each([
    ['cd /app'],
    ['/app'],
    ['ls /app/'],
    ['cat "/app/x"'],
    ["cat '/app'"],
    ['Write it to `/app/out.json`.'],
    ['Work in /app.'],
    ['(see /app)'],
    ['Write **/app/x**, then _/app/y_.'],
    ['--prefix=/app'],
    ['OUT=/app/out'],
    ['APP_DIR=/app'],
    ['export PATH=/usr/bin:/app/bin'],
    ['tar -C/app -xf x.tar'],
    ['gcc -I/app/include'],
    ['curl -d @/app/x http://localhost/app'],
    ['cat </app/x'],
    ['echo 1 >/app/x'],
    ['echo 1 2>>/app/x'],
    ['true;/app/run'],
    ['true&&/app/run'],
    ['x=$(/app/run)'],
    ['cp {/app,/tmp}/x'],
    ['cd //app'],
    ['cat file:///app/x'],
    ['#!/app/venv/bin/python'],
    ['rm -rf /app/*'],
    ['rm -rf /app*'],
    ['echo "$A" "/app"'],
    ['x "a" $B "/app"'],
    ["the task's '/app/x'"],
    ['cat /application /app'],
    ['cat ./app /app'],
    ['${OUT:-/app/out}'],
    ['${TESTS_DIR:-/app}'],
    ['${APP_DIR:-/app/sub}'],
    ['${APP_DIR:+/app}'],
    ['os.environ.get("OTHER", "/app")'],
    ['os.environ.get("APP_DIR", "/app/sub")'],
    ['os.environ["APP_DIR"] = "/app"'],
    ["process.env.APP_DIR = '/app'"],
    ['Path("/app") / "x"'],
    ['写到：/app'],
  ])('%s', (line) => {
    expect(paths(line)).toEqual(['/app']);
  });

  test('each folder of the container counts', () => {
    expect(paths('cp /tests/x /logs/verifier/y /app/z /tests/q')).toEqual(['/tests', '/logs', '/app']);
  });
});

describe('no use', () => {
  test.each([
    [''],
    ['/application'],
    ['/app-data'],
    ['/app_data'],
    ['/app2'],
    ['/app.py'],
    ['/app.d/x'],
    ['/appé'],
    ['./app/x'],
    ['../app'],
    ['~/app'],
    ['x/app'],
    ['/usr/app'],
    ['/srv/tests/x'],
    ['$ROOT/app'],
    ['${ROOT}/app'],
    ['"$ROOT"/app'],
    ['"${A}/b"/app'],
    ['$(pwd)/app'],
    ['https://x/app'],
    ['https://example.com/app/x'],
    ['https://app/x'],
    ['http://localhost:8080/app'],
    ["find . -path '*/app/*'"],
    ["'**/app'"],
    ['src/**/app'],
    ['</app>'],
    ['<tests></tests>'],
    ['${x#/app/}'],
    ['${x%%/app}'],
    ['grep "\\/app"'],
    ['app'],
    ['/ app'],
    ['${APP_DIR:-/app}'],
    ['"${APP_DIR:-/app}/x"'],
    ['cd "${APP_DIR-/app}"'],
    [': "${APP_DIR:=/app}"'],
    ['"${APP_DIR:-"/app"}"'],
    ['cp "${TESTS_DIR:-/tests}"/x "${LOGS_DIR:-/logs}"/verifier'],
    ['os.environ.get("APP_DIR", "/app")'],
    ["os.getenv('LOGS_DIR','/logs')"],
    ['os.environ.get("APP_DIR") or "/app"'],
    ["const dir = process.env.APP_DIR ?? '/app';"],
    ["const dir = process.env['APP_DIR'] || `/app`;"],
    ['ENV.fetch("TESTS_DIR", "/tests")'],
  ])('%s', (line) => {
    expect(paths(line)).toEqual([]);
  });
});

describe('a workdir of its own', () => {
  test.each<[string, readonly string[]]>([
    ['cd /srv/data', ['/srv/data']],
    ['cd /srv/data/x', ['/srv/data']],
    ['cd /srv/dataset', []],
    ['cd /srv', []],
    ['cd "${APP_DIR:-/srv/data}"', []],
    ['cd "${APP_DIR:-/app}"', []],
    ['cp /app/x /srv/data', ['/app', '/srv/data']],
  ])('%s', (line, expected) => {
    expect(paths(line, '/srv/data')).toEqual([...expected]);
  });

  test('below /app, the longer one is meant', () => {
    expect(paths('cd /app/project/x', '/app/project')).toEqual(['/app/project']);
    expect(paths('cd /app/other', '/app/project')).toEqual(['/app']);
  });

  test('/ itself is left to the caller, and /tests as a workdir stands once', () => {
    expect(paths('cd / && ls /etc', '/')).toEqual([]);
    expect(paths('cd /tests', '/tests')).toEqual(['/tests']);
  });
});

describe('a line of a megabyte is read once', () => {
  const long = (part: string) => part.repeat(Math.ceil(1_000_000 / part.length));
  test.each<[string, string, readonly string[]]>([
    ['JSON with many uses', `{"a":[${long('"/app/x",')}"/logs"]}`, ['/app', '/logs']],
    ['many names inside of other paths', long('x/app '), []],
    ['many defaults', long('${APP_DIR:-/app} '), []],
    ['many defaults in Python', long(' get("APP_DIR", "/app")'), []],
    ['many quoted variables', long('"$ROOT"/app '), []],
    ['one quoted variable, then many quotes behind a backslash', `"${long('x')}$${long('\\"x/app ')}`, []],
    ['letters before doubled slashes', long(`${'a'.repeat(195)}//app `), []],
    ['slashes alone', long('/'), []],
    ['a use behind all that', `${long('x/app ')}/app`, ['/app']],
  ])('%s', (_name, line, expected) => {
    expect(paths(line)).toEqual([...expected]);
  });
});

test('a quote behind a backslash closes nothing', () => {
  expect(paths('"$A" \\"/app')).toEqual(['/app']);
});
