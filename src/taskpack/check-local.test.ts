// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of scripts are meant
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { localProblems } from './check-local.ts';
import { taskFiles, temporaryFolder, writeFiles } from './pack-fixture.ts';
import { readPack } from './read-pack.ts';

let dir: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ dir, remove } = await temporaryFolder());
});
afterEach(() => remove());

async function problems(files: Parameters<typeof taskFiles>[1]) {
  await writeFiles(dir, taskFiles('a', files));
  return localProblems((await readPack(dir)).tasks[0]!);
}

const places = async (files: Parameters<typeof taskFiles>[1]) => (await problems(files)).map((one) => one.where);

describe('localProblems', () => {
  test('none in a task that finds its folders by variable', async () => {
    const script =
      '#!/bin/sh\ncd "${APP_DIR:-/app}"\nsh "${TESTS_DIR:-/tests}/x.sh" > "${LOGS_DIR:-/logs}/verifier/o"\n';
    expect(await places({ 'tests/test.sh*': script, 'solution/solve.sh*': script })).toEqual([]);
  });

  test('names file, line and the fix in the language of the file', async () => {
    const found = await problems({
      'instruction.md': '# Title\n\nWrite /app/out.txt\n',
      'tests/test.sh*': '#!/bin/sh\ncd /app\necho 1 > /logs/verifier/reward.txt\n',
      'tests/deep/check.py': 'import os\nprint(open("/app/x"))\n',
      'tests/check.mjs': "read('/tests/x');\n",
      'tests/Makefile': 'all:\n\techo /app\n',
      'solution/solve.sh*': 'echo 1 > /app/out.txt\r\n',
    });
    expect(found.map(({ level, where, fix }) => [level, where, fix])).toEqual([
      [
        'error',
        'a/instruction.md:3',
        'speak of "the current directory" instead of /app: the agent starts in its workdir',
      ],
      ['error', 'a/solution/solve.sh:1', 'write "${APP_DIR:-/app}" instead of /app'],
      ['error', 'a/tests/Makefile:2', 'write "${APP_DIR:-/app}" instead of /app'],
      ['error', 'a/tests/check.mjs:1', "write (process.env.TESTS_DIR ?? '/tests') instead of /tests"],
      ['error', 'a/tests/deep/check.py:2', 'write os.environ.get("APP_DIR", "/app") instead of /app'],
      ['error', 'a/tests/test.sh:2', 'write "${APP_DIR:-/app}" instead of /app'],
      ['error', 'a/tests/test.sh:3', 'write "${LOGS_DIR:-/logs}" instead of /logs'],
    ]);
    expect(found[0]?.what).toMatch(/task a uses \/app of this machine/);
  });

  test('passes over comments, but not over a shebang, a heading or // in a shell script', async () => {
    expect(
      await places({
        'tests/test.sh*': '#!/app/bin/sh\n# cd /app\n  # /app\n//app/run\n',
        'tests/x.ts': '// /app\n# /app\n',
        'tests/x.py': '# /app\n',
        'instruction.md': '# Work in /app\n',
      }),
    ).toEqual(['a/instruction.md:1', 'a/tests/test.sh:1', 'a/tests/test.sh:4', 'a/tests/x.ts:2']);
  });

  test('looks at text in tests, solution and instruction only', async () => {
    expect(
      await places({
        'tests/data.bin': 'cd /app\0',
        'environment/notes.txt': '/app',
        'README.md': '/app',
        'notes/tests/x.sh': '/app',
        'tests/latin1.txt': Uint8Array.from([0xe9, 0x20, 0x2f, 0x61, 0x70, 0x70]),
      }),
    ).toEqual(['a/tests/latin1.txt:1']);
  });

  test('sees what stands behind a link', async () => {
    const { symlink } = await import('node:fs/promises');
    await writeFiles(dir, taskFiles('a', { 'environment/shared.sh': 'cd /app\n' }));
    await symlink('../environment/shared.sh', `${dir}/a/tests/shared.sh`);
    const found = await localProblems((await readPack(dir)).tasks[0]!);
    expect(found.map((one) => one.where)).toEqual(['a/tests/shared.sh:1']);
  });

  test('looks at the environment that scripts get', async () => {
    expect(
      await places({
        'task.toml': '[verifier.env]\nOUT = "/logs/x"\nOK = "x/logs"\n[environment.env]\nHERE = "/app"\n',
      }),
    ).toEqual(['a/task.toml: [environment].env HERE', 'a/task.toml: [verifier].env OUT']);
  });

  test("counts the task's own workdir, and points to it", async () => {
    const found = await problems({
      'task.toml': '[environment]\nworkdir = "/srv/work"\n',
      'tests/test.sh*': 'cd /srv/work\nls /app\n',
    });
    expect(found.map((one) => one.fix)).toEqual([
      'write "${APP_DIR:-/srv/work}" instead of /srv/work',
      'write "${APP_DIR:-/srv/work}" instead of /app',
    ]);
  });

  test('refuses a task that works in / itself', async () => {
    const found = await problems({ 'task.toml': '[environment]\nworkdir = "/"\n' });
    expect(found.map((one) => [one.level, one.where])).toEqual([['error', 'a: workdir']]);
  });

  describe('what the environment puts into the workdir', () => {
    const copying = (lines: string) => ({ 'environment/Dockerfile': `FROM a\nWORKDIR /app\n${lines}\n` });

    test('is run there, and read like the scripts of the task', async () => {
      const found = await problems({
        ...copying('COPY run.sh notes.md c.yaml ./\nCOPY lib lib'),
        'environment/run.sh*': '#!/bin/sh\nls /app\n',
        'environment/lib/x.py': 'open("/logs/x")\n# /app\n',
        'environment/notes.md': '# Write to /app/out\n',
        'environment/c.yaml': 'out: /app/out\n',
        'environment/lib/x.bin': '/app\0',
        'environment/apart.sh': 'ls /app\n',
      });
      expect(found.map(({ level, where, fix }) => [level, where, fix])).toEqual([
        [
          'error',
          'a/environment/c.yaml:1',
          'write a path relative to the workdir instead of /app, or take it from the variable APP_DIR',
        ],
        ['error', 'a/environment/lib/x.py:1', 'write os.environ.get("LOGS_DIR", "/logs") instead of /logs'],
        [
          'error',
          'a/environment/notes.md:1',
          'speak of "the current directory" instead of /app: the agent starts in its workdir',
        ],
        ['error', 'a/environment/run.sh:2', 'write "${APP_DIR:-/app}" instead of /app'],
      ]);
    });

    test('is all of it, without what describes the container and what .dockerignore leaves out', async () => {
      expect(
        await places({
          ...copying('COPY . .'),
          'environment/.dockerignore': '# /app\nno.sh\n',
          'environment/docker-compose.yaml': 'services:\n  main:\n    working_dir: /app\n',
          'environment/no.sh': 'ls /app\n',
          'environment/deep/Dockerfile': 'WORKDIR /app\n',
        }),
      ).toEqual(['a/environment/deep/Dockerfile:1']);
    });

    test('is all of it beside a prebuilt image', async () => {
      expect(
        await places({
          'environment/Dockerfile': undefined,
          'task.toml': '[environment]\ndocker_image = "i"\n',
          'environment/x/run.sh': 'ls /app\n',
        }),
      ).toEqual(['a/environment/x/run.sh:1']);
    });

    test('is warned of where it is a table or a log, which is seldom run', async () => {
      const found = await problems({
        ...copying('COPY access.log ./'),
        'environment/access.log': '"GET" "/app/x" 200\n',
      });
      expect(found.map(({ level, where }) => [level, where])).toEqual([['warning', 'a/environment/access.log:1']]);
    });
  });

  test('lists twenty of many, and no error is lost among warnings', async () => {
    const found = await problems({
      'environment/Dockerfile': 'FROM a\nWORKDIR /app\nCOPY access.log ./\n',
      'environment/access.log': '"GET" "/app/x"\n'.repeat(1000),
      'tests/test.sh*': '#!/bin/sh\n'.concat('ls /app\n'.repeat(57)),
    });
    const errors = found.filter(({ level }) => level === 'error');
    expect(errors.length).toBe(21);
    expect(errors.at(-1)?.what).toBe('and 37 more places of task a that use folders of this machine');
    expect(found.length).toBe(42);
    expect(found.at(-1)).toMatchObject({ level: 'warning', what: expect.stringContaining('and 980 more places') });
  });
});
