import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { expectFailure, jsonOf, Place, removePlaces } from './binary.ts';
import { writeFiles } from './own-pack.ts';
import { copyOfDemo, finishedDemo } from './sessions.ts';

afterAll(removePlaces);

const demo = 'skillopt-demo';
const commands = ['demo', 'run', 'finalize', 'status', 'verify'];

describe('help', () => {
  test('teaches how it goes, and lists every command', async () => {
    const { place } = await finishedDemo();
    const end = await place.succeed(['--help']);
    for (const command of commands) expect(end.stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    expect(end.stdout).toMatch(/baseline[\s\S]*rounds[\s\S]*gate[\s\S]*confirmation[\s\S]*finalize[\s\S]*Examples:/);
    expect(end.stderr).toBe('');
    expect((await place.succeed([])).stdout).toBe(end.stdout);
    expect((await place.succeed(['-h'])).stdout).toBe(end.stdout);
  });

  test.each(commands)('of %s says what it does and which options it has', async (command) => {
    const { place } = await finishedDemo();
    const end = await place.succeed([command, '--help']);
    expect(end.stdout).toStartWith(`Usage: skillopt ${command} [options] [dir]\n`);
    expect(end.stdout).toContain('--json');
    expect(end.stderr).toBe('');
    expect((await place.succeed(['help', command])).stdout).toBe(end.stdout);
  });
});

test.each(['--version', '-V'])('%s prints name and version', async (flag) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(await new Place().succeed([flag])).toMatchObject({ stdout: `skillopt ${version}\n`, stderr: '' });
});

describe('a wrong command line', () => {
  test.each([
    [['statsu'], /unknown command 'statsu' \(Did you mean status\?\)/],
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['run', '--finalise'], /unknown option '--finalise' \(Did you mean --finalize\?\)/],
    [['status', 'a', 'b'], /too many arguments/],
    [['run', '--budget', 'many'], /--budget .* 'many' is invalid/],
    [['run', '--workers', '0'], /--workers .* '0' is invalid/],
    [['run', '--limit-minutes'], /--limit-minutes .* argument missing/],
    [['status', ''], /argument 'dir'\. it is empty/],
    [['import', '--to', '', 'x'], /'--to <dir>' argument '' is invalid\. it is empty/],
    [['run', process.execPath], /argument 'dir'\. it is a file: name a directory, such as /],
    [['status', `${process.execPath}/x`], /argument 'dir'\. .* is a file: name a directory, such as /],
  ])('%j is refused with the way to the help', async (args, what) => {
    const place = new Place();
    const end = await place.run(args);
    const isKnown = !['statsu', 'frobnicate'].includes(args[0] ?? '');
    const fix = isKnown ? new RegExp(`^see skillopt ${args[0]} --help$`) : /^see skillopt --help$/;
    expectFailure(end, { code: 2, what, where: /^the command line$/, fix });
    expect(end.stdout).toBe('');
    const json = await place.run([...args, '--json']);
    expect({ code: json.code, error: jsonOf(json).error }).toMatchObject({ code: 2, error: { code: 'usage' } });
  });

  test.each(['status', 'verify', 'finalize'])('%s where there is no session says so', async (command) => {
    const place = new Place();
    const expected = {
      code: 2,
      what: /^there is no session here/,
      where: /\/work\/nowhere\/skillopt\.jsonl$/,
      fix: /skillopt run/,
    };
    expectFailure(await place.run([command, 'nowhere']), expected);
  });
});

describe('a pipe', () => {
  test('that closes early ends the output, not the work', async () => {
    const place = new Place();
    const end = await place.shell('("$SKILLOPT" demo; echo $? > code) | head -n 1');
    expect(end.stdout).toStartWith('skillopt demo · REHEARSAL');
    expect(end.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect({ code: place.read('code'), stderr: end.stderr }).toEqual({ code: '0\n', stderr: '' });
    expect(place.events(demo).at(-1)).toMatchObject({ type: 'finalize.finished' });
  });

  test.each(['--help', 'run --help', `status ${demo}`, `verify ${demo} --json`])(
    '%s | head -1 does not crash',
    async (args) => {
      const place = await copyOfDemo();
      const end = await place.shell(`("$SKILLOPT" ${args}; echo $? > code) | head -n 1`);
      expect(end.stdout.split('\n')).toHaveLength(2);
      expect({ code: place.read('code'), stderr: end.stderr }).toEqual({ code: '0\n', stderr: '' });
    },
  );

  test('gets everything before the process ends', async () => {
    const place = await copyOfDemo();
    const end = await place.shell(`"$SKILLOPT" status ${demo} --json | (sleep 0.2; cat)`);
    expect(JSON.parse(end.stdout)).toMatchObject({ phase: 'finished' });
  });
});

describe('surroundings', () => {
  const plain = [
    ['stdin closed', '<&-', {}],
    ['CI=1', '', { CI: '1' }],
    ['TERM=dumb', '', { TERM: 'dumb' }],
    ['NO_COLOR', '', { NO_COLOR: '1' }],
    ['a colour terminal named, but piped', '', { TERM: 'xterm-256color', COLORTERM: 'truecolor' }],
    ['the C locale', '', { LC_ALL: 'C' }],
    ['a foreign DEV and NODE_ENV', '', { DEV: 'true', NODE_ENV: 'development' }],
  ] as const;

  test.each(plain)('%s: the same plain output', async (_name, redirection, env) => {
    const place = await copyOfDemo();
    const wanted = await place.succeed(['status', demo]);
    const end = await place.shell(`"$SKILLOPT" status ${demo} ${redirection}`, env);
    expect(end).toEqual(wanted);
    expect(end.stdout).not.toContain('\u001b');
  });

  test('a whole demo in CI with stdin closed; a .env and a bunfig.toml of the folder are not read', async () => {
    const place = new Place();
    writeFiles(place.dir, {
      '.env': 'TMPDIR=/nowhere\n',
      'bunfig.toml': 'preload = ["./other.ts"]\n',
      'other.ts': 'process.exit(9);\n',
    });
    const env = { CI: '1', TERM: 'dumb', NO_COLOR: '1' };
    const end = await place.shell('unset TMPDIR; "$SKILLOPT" demo <&-', env);
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
    expect(end.stdout).not.toContain('\u001b');
    expect(end.stdout).toMatch(/^log +\d+ lines, head [0-9a-f]{32} /m);
  });
});
