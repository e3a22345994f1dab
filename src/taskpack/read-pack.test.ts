// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of task files are meant
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmod, cp, mkdir, readdir, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Failure, SkilloptError } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { type Files, taskFiles, temporaryFolder, writeFiles } from './pack-fixture.ts';
import { readPack } from './read-pack.ts';

let dir: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ dir, remove } = await temporaryFolder());
});
afterEach(() => remove());

async function refusal(path: string): Promise<Failure> {
  const error = await readPack(path).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof SkilloptError && error.failure.code === 'pack') return error.failure;
  throw error ?? new Error('was not refused');
}

const good: Files = taskFiles('good');

describe('a whole pack', () => {
  test('is read, in the order of ids, with the defaults where nothing is said', async () => {
    await writeFiles(dir, { ...taskFiles('b'), ...taskFiles('a', { 'task.toml': '' }), ...taskFiles('B') });
    const pack = await readPack(dir);
    expect(pack.dir).toBe(dir);
    expect(pack.tasks.map((task) => task.id)).toEqual(['B', 'a', 'b']);
    expect(pack.tasks[1]).toEqual({
      kind: 'folder',
      id: 'a',
      dir: join(dir, 'a'),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      instruction: 'Write a into answer.txt.\n',
      instructionHash: sha256('write a into answer.txt.'),
      agentTimeoutSec: null,
      shouldTrigger: null,
      verifierTimeoutSec: 600,
      workdir: '/app',
      commands: [],
      env: { environment: {}, verifier: {}, solution: {} },
      hasSolution: false,
    });
    expect(pack.tasks[2]?.agentTimeoutSec).toBe(60);
  });

  test('takes from task.toml what it says, and passes over what it does not know', async () => {
    const toml = `
schema_version = "1.4"
[task]
name = "org/name"
[metadata]
commands = ["jq", "g++"]
difficulty = { level = 3 }
[agent]
timeout_sec = 0
[verifier]
timeout_sec = 12.5
env = { KEY = "\${SECRET}" }
[environment]
workdir = "/srv//data/"
docker_image = "image:1"
cpus = 2
[environment.env]
A = "1"
[solution.env]
B = "2"
`;
    await writeFiles(
      dir,
      taskFiles('a', { 'task.toml': toml, 'environment/Dockerfile': undefined, 'solution/solve.sh*': 'true' }),
    );
    expect((await readPack(dir)).tasks[0]).toMatchObject({
      commands: ['jq', 'g++'],
      agentTimeoutSec: null,
      shouldTrigger: null,
      verifierTimeoutSec: 12.5,
      workdir: '/srv/data',
      env: { environment: { A: '1' }, verifier: { KEY: '${SECRET}' }, solution: { B: '2' } },
      hasSolution: true,
    });
  });

  test.each([
    ['FROM a\nWORKDIR /one\nWORKDIR two\n', '/one/two'],
    ['FROM a\nRUN true\n', '/app'],
    ['FROM a AS build\nWORKDIR /build\nFROM b\n', '/app'],
    ['FROM a\nENV HOME_DIR=/home/me\nWORKDIR ${HOME_DIR}/work\n', '/home/me/work'],
  ])('workdir of %j is %s', async (dockerfile, workdir) => {
    await writeFiles(dir, taskFiles('a', { 'environment/Dockerfile': dockerfile }));
    expect((await readPack(dir)).tasks[0]?.workdir).toBe(workdir);
  });

  test('leaves out hidden entries and plain files beside the tasks', async () => {
    await writeFiles(dir, { ...good, '.DS_Store': 'x', '.git/config': 'x', 'README.md': 'x', LICENSE: 'x' });
    expect((await readPack(dir)).tasks.map((task) => task.id)).toEqual(['good']);
  });

  test('shows no canary line to the agent', async () => {
    const instruction = '<!-- benchmark CANARY 123 -->\n# canary 4\n\n# Title\ncanary stays\n';
    await writeFiles(dir, taskFiles('a', { 'instruction.md': instruction }));
    expect((await readPack(dir)).tasks[0]?.instruction).toBe('# Title\ncanary stays\n');
  });

  test('may be named through a link, and may hold links that stay inside a task', async () => {
    await writeFiles(dir, { ...taskFiles('pack/a'), ...taskFiles('pack/b', { 'tests/data.txt': 'a' }) });
    await symlink('../tests/data.txt', join(dir, 'pack/b/environment/data.txt'));
    await symlink('pack', join(dir, 'alias'));
    const pack = await readPack(join(dir, 'alias'));
    expect(pack.tasks.map((task) => task.id)).toEqual(['a', 'b']);
    expect(pack.hash).toBe((await readPack(join(dir, 'pack'))).hash);
  });

  test('executes nothing', async () => {
    const mark = (name: string) => `#!/bin/sh\ntouch "${join(dir, name)}" "${dir}/pack/a/${name}"\n`;
    await writeFiles(dir, {
      ...taskFiles('pack/a', {
        'tests/test.sh*': mark('ran-test'),
        'solution/solve.sh*': mark('ran-solution'),
        'environment/Dockerfile': `FROM a\nRUN touch ${join(dir, 'ran-build')}\n`,
        'task.toml': `[metadata]\nname = "$(touch ${join(dir, 'ran-toml')})"\n`,
      }),
    });
    await readPack(join(dir, 'pack'));
    expect(await readdir(dir)).toEqual(['pack']);
    expect((await readdir(join(dir, 'pack/a'))).toSorted()).toEqual([
      'environment',
      'instruction.md',
      'solution',
      'task.toml',
      'tests',
    ]);
  });
});

describe('identity', () => {
  test('does not depend on place, times, order or names of tasks', async () => {
    await writeFiles(dir, { ...taskFiles('one/a', { 'tests/data/x': 'x' }), ...taskFiles('one/b') });
    await cp(join(dir, 'one'), join(dir, 'elsewhere/two'), { recursive: true });
    await utimes(join(dir, 'elsewhere/two/a/instruction.md'), 1, 1);
    await writeFiles(dir, { 'elsewhere/two/README.md': 'x', 'elsewhere/two/a/.DS_Store': 'x' });
    await mkdir(join(dir, 'elsewhere/two/a/empty'));
    const [one, two] = [await readPack(join(dir, 'one')), await readPack(join(dir, 'elsewhere/two'))];
    expect(two.hash).toBe(one.hash);
    expect(two.tasks.map((task) => task.hash)).toEqual(one.tasks.map((task) => task.hash));
    await rename(join(dir, 'one/a'), join(dir, 'one/c'));
    const renamed = await readPack(join(dir, 'one'));
    expect(renamed.tasks.map((task) => task.hash)).toEqual(one.tasks.map((task) => task.hash).toReversed());
  });

  test.each<[string, (task: string) => Promise<void>]>([
    ['a byte', (task) => writeFile(join(task, 'tests/data'), 'y')],
    ['an exec bit', (task) => chmod(join(task, 'tests/data'), 0o755)],
    ['a name', (task) => rename(join(task, 'tests/data'), join(task, 'tests/date'))],
    ['a new file', (task) => writeFile(join(task, 'README.md'), '')],
    ['a file less', (task) => rm(join(task, 'tests/data'))],
  ])('changes with %s', async (_what, change) => {
    await writeFiles(dir, taskFiles('a', { 'tests/data': 'x' }));
    const before = await readPack(dir);
    await change(join(dir, 'a'));
    const after = await readPack(dir);
    expect(after.tasks[0]?.hash).not.toBe(before.tasks[0]?.hash);
    expect(after.hash).not.toBe(before.hash);
  });

  test('instructions that differ in case, blanks or compatibility forms are the same', async () => {
    await writeFiles(dir, {
      ...taskFiles('a', { 'instruction.md': 'Write  the ﬁle\n\n' }),
      ...taskFiles('b', { 'instruction.md': ' write the\r\nFILE' }),
      ...taskFiles('c', { 'instruction.md': 'write a file' }),
    });
    const hashes = (await readPack(dir)).tasks.map((task) => task.instructionHash);
    expect(hashes[0]).toBe(hashes[1]!);
    expect(hashes[0]).not.toBe(hashes[2]!);
  });
});

describe('refusals of a whole pack', () => {
  test('no such folder', async () => {
    expect(await refusal(join(dir, 'nowhere'))).toMatchObject({
      what: 'there is no such folder',
      where: join(dir, 'nowhere'),
    });
  });

  test('no such file', async () => {
    expect((await refusal(join(dir, 'tasks.json'))).what).toBe('there is no such file');
  });

  test('a file', async () => {
    await writeFiles(dir, { pack: 'x' });
    expect((await refusal(join(dir, 'pack'))).what).toMatch(/a pack is a folder, and this is a file/);
    expect((await refusal(join(dir, 'pack/below'))).what).toMatch(/there is no such folder/);
  });

  test('no task at all', async () => {
    expect((await refusal(dir)).what).toBe('there is no task in this folder: it holds no folder');
    await writeFiles(dir, { 'a/x': '', 'b/x': '', 'README.md': '' });
    expect((await refusal(dir)).what).toBe('there is no task in this folder: none of its 2 folders has a task.toml');
  });

  test('the folder above the pack, and the folder of one task: told which one to name', async () => {
    await writeFiles(dir, taskFiles('pack/a'));
    expect((await refusal(dir)).fix).toBe(`name the folder below it: ${join(dir, 'pack')}`);
    expect((await refusal(join(dir, 'pack/a'))).what).toBe('this is one task, not a pack');
  });

  test('two tasks with the same content', async () => {
    await writeFiles(dir, good);
    await cp(join(dir, 'good'), join(dir, 'twin'), { recursive: true });
    const failure = await refusal(dir);
    expect(failure.what).toMatch(/twin: the same task as good/);
    expect(failure.fix).toBe('remove twin or good');
  });

  test('all broken tasks at once: the first in what, each in where, with its fix', async () => {
    await writeFiles(dir, {
      ...good,
      ...taskFiles('a', { 'instruction.md': '', 'tests/test.sh*': undefined }),
      ...taskFiles('b', { 'task.toml': '[agent]\ntimeout_sec = "soon"\n' }),
      'stray/notes.txt': '',
    });
    const failure = await refusal(dir);
    expect(failure.what).toBe('stray: a folder without task.toml (and 3 more problems)');
    expect(failure.where.split('\n')).toEqual([
      `${dir}/stray: a folder without task.toml`,
      `${dir}/a/instruction.md: an empty instruction`,
      `${dir}/a/tests/test.sh: missing: nothing would score the task`,
      `${dir}/b/task.toml:2: [agent].timeout_sec: expected number, received string`,
    ]);
    expect(failure.fix.split('\n')).toHaveLength(4);
  });

  test('of very many problems the first twenty, and how many more', async () => {
    const many = Array.from({ length: 300 }, (_, n) => `X${n} = ${n}`);
    await writeFiles(dir, taskFiles('a', { 'task.toml': `[environment.env]\n${many.join('\n')}\n` }));
    const failure = await refusal(dir);
    expect(failure.what).toEndWith('(and 299 more problems)');
    const places = failure.where.split('\n');
    expect(places).toHaveLength(21);
    expect(places[19]).toStartWith(`${dir}/a/task.toml:21: `);
    expect(places[20]).toBe('and 280 more');
    expect(failure.fix.split('\n')).toHaveLength(20);
  });
});

describe('refusals of a task', () => {
  const latin1 = Uint8Array.from([0x61, 0x0a, 0x62, 0xe9, 0x0a]);
  const cases: readonly [string, Parameters<typeof taskFiles>[1], RegExp, string][] = [
    ['syntax of task.toml', { 'task.toml': '[agent]\n\ntimeout_sec = = 3\n' }, /not valid TOML/, 'bad/task.toml:3'],
    ['an array that is never closed', { 'task.toml': 'a = 1\nb = [\n1,\n' }, /not valid TOML/, 'bad/task.toml:2'],
    ['a section of the wrong type', { 'task.toml': 'agent = 3\n' }, /agent: expected object/, 'bad/task.toml:1'],
    ['a negative time', { 'task.toml': '[verifier]\ntimeout_sec = -1' }, /\[verifier\].timeout_sec/, 'bad/task.toml:2'],
    ['a time of inf', { 'task.toml': '[agent]\ntimeout_sec = inf' }, /\[agent\].timeout_sec/, 'bad/task.toml:2'],
    [
      'a name in env that steers a terminal',
      { 'task.toml': '[solution.env]\n"\\u001b[2J" = 1' },
      /env\.\\u\{1b\}\[2J: expected string/,
      'bad/task.toml',
    ],
    [
      'a number in env',
      { 'task.toml': '[solution.env]\nA = 1' },
      /\[solution\].env.A: expected string/,
      'bad/task.toml:2',
    ],
    [
      'a relative workdir',
      { 'task.toml': '[environment]\nworkdir = "app"' },
      /must be an absolute path/,
      'bad/task.toml:2',
    ],
    ['commands that are no list', { 'task.toml': '[metadata]\ncommands = "jq"' }, /expected array/, 'bad/task.toml:2'],
    ['a command with a path', { 'task.toml': '[metadata]\ncommands = ["/bin/jq"]' }, /bare name/, 'bad/task.toml:2'],
    [
      'several steps',
      { 'task.toml': '[agent]\n[[steps]]\nname = "x"' },
      /several steps.*not supported/,
      'bad/task.toml:2',
    ],
    ['Windows', { 'task.toml': '[environment]\nos = "windows"' }, /a task for Windows/, 'bad/task.toml:2'],
    ['another system', { 'task.toml': '[environment]\nos = "plan9"' }, /\[environment\].os/, 'bad/task.toml:2'],
    ['task.toml in another encoding', { 'task.toml': latin1 }, /not valid UTF-8/, 'bad/task.toml:2'],
    ['no instruction', { 'instruction.md': undefined }, /missing/, 'bad/instruction.md'],
    ['an empty instruction', { 'instruction.md': ' \n\t\n' }, /an empty instruction/, 'bad/instruction.md'],
    [
      'nothing but a very long canary',
      { 'instruction.md': `<!-- ${'canary '.repeat(50_000)}-->` },
      /an empty instruction/,
      'bad/instruction.md',
    ],
    [
      'more instructions than an image has layers',
      { 'environment/Dockerfile': `FROM a\n${'ENV A=1\n'.repeat(1000)}` },
      /more than 1000 instructions/,
      'bad/environment/Dockerfile',
    ],
    ['nothing but a canary', { 'instruction.md': '# canary\n\n' }, /an empty instruction/, 'bad/instruction.md'],
    ['an instruction in another encoding', { 'instruction.md': latin1 }, /not valid UTF-8/, 'bad/instruction.md:2'],
    ['no test', { 'tests/test.sh*': undefined }, /missing: nothing would score/, 'bad/tests/test.sh'],
    [
      'a folder in place of the test',
      { 'tests/test.sh*': undefined, 'tests/test.sh/x': '' },
      /missing/,
      'bad/tests/test.sh',
    ],
    ['no environment', { 'environment/Dockerfile': undefined }, /no environment: neither/, 'bad/environment'],
    [
      'a workdir that is not in the Dockerfile',
      { 'environment/Dockerfile': 'FROM a\nWORKDIR $HOME\n' },
      /depends on something outside/,
      'bad/environment/Dockerfile:2',
    ],
  ];
  test.each(cases)('%s', async (_name, files, what, where) => {
    await writeFiles(dir, { ...good, ...taskFiles('bad', files) });
    const failure = await refusal(dir);
    expect(failure.what).toMatch(what);
    expect(failure.what).not.toMatch(/more problem/);
    expect(failure.where).toBe(join(dir, where));
    expect(failure.fix).not.toBe('');
  });

  test('a compose file or an image is environment enough', async () => {
    await writeFiles(dir, {
      ...taskFiles('a', { 'environment/Dockerfile': undefined, 'environment/docker-compose.yaml': 'services: {}' }),
      ...taskFiles('b', { 'environment/Dockerfile': undefined, 'task.toml': '[environment]\ndocker_image = "i"' }),
    });
    expect((await readPack(dir)).tasks).toHaveLength(2);
  });

  const links: readonly [string, string, string, RegExp][] = [
    ['to a file outside', '/etc/hostname', 'bad/tests/link', /a symbolic link that leads out/],
    ['to another task', '../../good/instruction.md', 'bad/tests/link', /a symbolic link that leads out/],
    ['to a folder outside', '../..', 'bad/tests/link', /a symbolic link that leads out/],
    ['to nothing', 'nothing', 'bad/tests/link', /a link that leads nowhere/],
    ['to itself', 'link', 'bad/tests/link', /a link that leads nowhere/],
    ['to the folder it is in', '.', 'bad/tests/link', /never ends/],
    ['as a task, to a folder outside', '/usr', 'link', /leads out of the pack/],
    ['as a task, to nothing', 'nothing', 'link', /leads nowhere/],
  ];
  test.each(links)('a symbolic link %s', async (_name, target, path, what) => {
    await writeFiles(dir, { ...good, ...taskFiles('bad') });
    await symlink(target, join(dir, path));
    const failure = await refusal(dir);
    expect(failure.what).toMatch(what);
    expect(failure.where).toBe(join(dir, path));
  });

  test('a pipe', async () => {
    await writeFiles(dir, taskFiles('bad'));
    expect(Bun.spawnSync(['mkfifo', join(dir, 'bad/tests/pipe')]).exitCode).toBe(0);
    expect((await refusal(dir)).what).toMatch(/bad\/tests\/pipe: not a regular file/);
  });

  test('over 50 MB', async () => {
    await writeFiles(dir, taskFiles('bad', { 'environment/large': '' }));
    await truncate(join(dir, 'bad/environment/large'), 50_000_000);
    const failure = await refusal(dir);
    expect(failure.what).toMatch(/bad: over 50 MB, all of which would be copied again and again/);
  });

  test.each([
    ['.hidden', /can not start with "."/],
    ['-rf', /can not start with "-"/],
    ['a\x1b[2Jb', /control characters/],
    ['a\u202eb', /control characters/],
    ['a\\b', /can not contain/],
    [' a', /can not begin or end with a blank/],
  ])('the name %j', async (id, what) => {
    await writeFiles(dir, { ...good, ...taskFiles(id) });
    const failure = await refusal(dir);
    expect(failure.what).toMatch(what);
    expect(JSON.stringify(failure)).not.toMatch(/\\u001b|\u202e/);
  });

  test('a name that is not UTF-8', async () => {
    await writeFiles(dir, good);
    await mkdir(Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff])]));
    expect((await refusal(dir)).what).toMatch(/a name that is not UTF-8/);
  });

  // Root may read everything, so there is nothing to see for it.
  test.skipIf(process.getuid?.() === 0)('files and folders that may not be read', async () => {
    await writeFiles(dir, { ...taskFiles('a'), ...taskFiles('b'), ...taskFiles('c') });
    await chmod(join(dir, 'a/tests/test.sh'), 0);
    await chmod(join(dir, 'b/tests'), 0);
    await chmod(join(dir, 'c'), 0);
    const failure = await refusal(dir);
    await Promise.all(['a/tests/test.sh', 'b/tests', 'c'].map((path) => chmod(join(dir, path), 0o755)));
    expect(failure.where.split('\n')).toEqual([
      `${dir}/c: not readable`,
      `${dir}/a/tests/test.sh: not readable`,
      `${dir}/b/tests: not readable`,
    ]);
  });
});
