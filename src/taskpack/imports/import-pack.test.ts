import { afterAll, describe, expect, test } from 'bun:test';
import { cp, lstat, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Files, taskFiles, temporaryFolder } from '../pack-fixture.ts';
import { hashTree } from '../tree.ts';
import { importPack } from './import-pack.ts';
import { shownLosses } from './import-report.ts';
import { imported, refused, removeImported } from './imports-fixture.ts';

const rooms: string[] = [];
afterAll(async () => {
  await removeImported();
  for (const dir of rooms.splice(0)) await rm(dir, { recursive: true, force: true });
});

/** The files of a task below a folder of a dataset. */
const below = (folder: string, id: string, more: Parameters<typeof taskFiles>[1] = {}): Files =>
  Object.fromEntries(Object.entries(taskFiles(id, more)).map(([name, text]) => [`${folder}/${name}`, text]));

const options = { to: null, format: null, glob: null, strict: false } as const;
const failure = (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    (error: { readonly failure?: unknown }) => error.failure ?? error,
  );

describe('a dataset of task folders', () => {
  const dataset: Files = {
    ...below('acme/v1', 'task-a', {
      'solution/solve.sh*': '#!/bin/sh\n',
      'environment/data/x.bin': new Uint8Array([0, 255]),
    }),
    ...below('acme/v1', 'task-b'),
    ...below('beta/v1', 'task-a', { 'instruction.md': 'Another one.\n' }),
    ...below('beta/v1', 'odd name!'),
    ...below('beta/v1', 'other'),
    'README.md': 'A dataset.\n',
    'acme/v1/notes/readme.txt': 'no task\n',
  };

  test('is copied flat, with names of its own and exec bits kept', async () => {
    const { report, pack, dir } = await imported(dataset);
    expect(report).toMatchObject({ format: 'harbor', entries: 5, losses: [] });
    expect(pack.tasks.map(({ id }) => id)).toEqual(['acme-v1-task-a', 'beta-v1-task-a', 'odd-name', 'other', 'task-b']);
    expect((await stat(join(dir, 'pack/acme-v1-task-a/solution/solve.sh'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(dir, 'pack/acme-v1-task-a/instruction.md'))).mode & 0o777).toBe(0o644);
    expect(await hashTree(join(dir, 'pack/odd-name'))).toBe(await hashTree(join(dir, 'source/beta/v1/odd name!')));
  });

  test('or a part of it, by a pattern', async () => {
    const names = async (glob: string) => (await imported(dataset, { glob })).pack.tasks.map(({ id }) => id);
    expect(await names('*/*/task-*')).toEqual(['acme-v1-task-a', 'beta-v1-task-a', 'task-b']);
    expect(await names('acme/**/task-*')).toEqual(['task-a', 'task-b']);
    expect(await names('./beta/v1/o*/')).toEqual(['odd-name', 'other']);
    expect(await names('acme/*/*/task.toml')).toEqual(['task-a', 'task-b']);
    const { told } = await imported(dataset, { glob: 'acme/v1/*' });
    expect(told('left')).toEqual(['acme/v1/notes a folder: it holds no task.toml']);
  });

  test('tells what can not be taken, and why', async () => {
    const { dir } = await temporaryFolder({
      ...below('s', 'good'),
      ...below('s', 'steps', { 'task.toml': '[[steps]]\nname = "a"\n' }),
      ...below('s', 'windows', { 'task.toml': '[environment]\nos = "windows"\n' }),
      ...below('s', 'untested', { 'tests/test.sh*': undefined }),
      ...below('s', 'toml', { 'task.toml': 'a = [\n' }),
      ...below('s', 'escaping'),
      ...below('s', 'twin', { 'instruction.md': 'Write good into answer.txt.\n' }),
      ...below('elsewhere', 'outer'),
    });
    rooms.push(dir);
    await symlink(join(dir, 'elsewhere/outer/instruction.md'), join(dir, 's/escaping/more.md'));
    await symlink(join(dir, 'elsewhere/outer'), join(dir, 's/linked'));
    const to = join(dir, 'pack');
    const report = await importPack(join(dir, 's'), { ...options, glob: '*', to });
    expect(report.tasks.map(({ id }) => id)).toEqual(['good']);
    const left = Object.fromEntries(report.losses.map(({ where, why }) => [where, why]));
    expect(left).toEqual({
      steps: expect.stringMatching(/^task\.toml:1: a task of several steps/),
      windows: expect.stringMatching(/^task\.toml:2: a task for Windows/),
      untested: expect.stringMatching(/^tests\/test\.sh: missing/),
      toml: expect.stringMatching(/^task\.toml:1: not valid TOML/),
      escaping: expect.stringMatching(/symbolic link that leads out/),
      linked: expect.stringMatching(/symbolic link that leads out/),
      twin: expect.stringMatching(/^the same as good, file by file/),
    });
    expect((await readdir(to)).toSorted()).toEqual(['IMPORT.md', 'good']);
  });

  test('of which nothing fits, or nothing can be taken, makes nothing', async () => {
    expect(await refused(dataset, { glob: 'x/*' })).toMatchObject({ code: 'usage', what: 'nothing fits x/*' });
    expect(await refused(dataset, { glob: '../*' })).toMatchObject({
      code: 'usage',
      what: expect.stringMatching(/leads out/),
    });
    expect(await refused(dataset, { glob: '*', format: 'promptfoo' })).toMatchObject({
      code: 'usage',
      where: '--glob',
    });
    expect(await refused(below('a', 't', { 'tests/test.sh*': undefined }))).toMatchObject({
      code: 'pack',
      what: 'no task could be carried over',
    });
  });
});

const promptfoo: Files = {
  'promptfooconfig.yaml': "prompts: ['{{q}}']\ntests: [{vars: {q: a}, assert: [{type: contains, value: x}]}]\n",
};
const evals: Files = {
  'evals/evals.json': '{"evals": [{"id": 1, "prompt": "a", "expectations": ["The output contains \'x\'"]}]}',
};
const splits: Files = {
  'train/a.json': '[{"id":"a","question":"q","answer":"b"}]',
  'val/a.json': '[]',
  'test/a.json': '[]',
};

describe('what a source is', () => {
  test('follows from what it holds', async () => {
    const format = async (files: Files, path = '') => (await imported(files, { path })).report.format;
    expect(await format(promptfoo)).toBe('promptfoo');
    expect(await format(promptfoo, 'promptfooconfig.yaml')).toBe('promptfoo');
    expect(
      await format(
        { 'mine.json': '{"prompts": ["x"], "tests": [{"assert": [{"type": "contains", "value": "x"}]}]}' },
        'mine.json',
      ),
    ).toBe('promptfoo');
    expect(await format(evals)).toBe('skill-creator');
    expect(await format(evals, 'evals/evals.json')).toBe('skill-creator');
    expect(await format(splits)).toBe('skillopt');
    expect(await format(below('org', 'task-1'))).toBe('harbor');
  });

  test('is asked for when it is not clear', async () => {
    const both = { ...promptfoo, ...evals };
    expect(await refused(both)).toEqual({
      code: 'usage',
      what: 'this can be read as promptfoo and as skill-creator',
      where: expect.stringMatching(/source$/),
      fix: 'say which: --format promptfoo or --format skill-creator',
      retryable: false,
    });
    expect((await imported(both, { format: 'skill-creator' })).report.tasks).toHaveLength(1);
    expect((await imported({ ...splits, ...below('org', 'task-1') }, { format: 'harbor' })).report.format).toBe(
      'harbor',
    );
  });

  test.each([
    ['an empty folder', { 'a/b.txt': '' }, '', /nothing here looks like tasks/],
    ['a missing one', { 'a.txt': '' }, 'gone', /no such source/],
    ['a text', { 'a.txt': 'x' }, 'a.txt', /no file that tasks are brought from/],
    ['other JSON', { 'a.json': '{"a": 1}' }, 'a.json', /nothing here looks like tasks/],
    ['a list of nothing', { 'a.json': '[]' }, 'a.json', /nothing here looks like tasks/],
    ['other CSV', { 'a.csv': 'a,b\n1,2\n' }, 'a.csv', /nothing here looks like tasks/],
  ] as const)('%s is none, with what could be named', async (_name, files, path, what) => {
    expect(await refused(files, { path })).toMatchObject({
      code: 'usage',
      what: expect.stringMatching(what),
      fix: expect.stringMatching(/promptfooconfig\.yaml|check the path/),
    });
  });

  test.each([
    ['empty', '', /a\.json:1:1$/, /^not JSON/],
    ['broken', '{"evals": [\n{]', /a\.json:2:2$/, /^not JSON/],
    ['not UTF-8', new Uint8Array([0x5b, 0xff, 0x5d]), /a\.json$/, /no text in UTF-8/],
    ['nested too deeply', '['.repeat(200_000), /a\.json/, /./],
  ] as const)('a file that is %s is told with its place', async (_name, content, where, what) => {
    expect(await refused({ 'a.json': content }, { path: 'a.json' })).toMatchObject({
      code: 'pack',
      where: expect.stringMatching(where),
      what: expect.stringMatching(what),
    });
  });

  test('YAML whose aliases multiply is refused', async () => {
    const lines = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`);
    const bomb = `a0: &a0 [x]\n${lines.join('\n')}\nprompts: [x]\ntests: *a9\n`;
    expect(await refused({ 'promptfooconfig.yaml': bomb })).toMatchObject({
      code: 'pack',
      what: expect.stringMatching(/alias/),
    });
  });

  test('a huge file is refused by its size', async () => {
    const { dir } = await temporaryFolder({ 'a.json': '[]' });
    rooms.push(dir);
    await truncate(join(dir, 'a.json'), 60_000_000);
    expect(await failure(importPack(join(dir, 'a.json'), options))).toMatchObject({
      code: 'pack',
      what: 'a.json has 60000000 bytes, more than 50000000',
    });
  });

  test('links that lead out of it are not followed', async () => {
    const { dir } = await temporaryFolder({
      'secret.txt': 'secret',
      's/promptfooconfig.yaml':
        "prompts: ['{{q}}']\ntests:\n  - {vars: {q: file://link.txt}, assert: [{type: contains, value: x}]}\n  - {vars: {q: a}, assert: [{type: contains, value: x}]}\n",
    });
    rooms.push(dir);
    await symlink(join(dir, 'secret.txt'), join(dir, 's/link.txt'));
    const report = await importPack(join(dir, 's'), { ...options, to: join(dir, 'pack') });
    expect(report.losses.map(({ why }) => why)).toEqual([
      expect.stringMatching(/link that leads out/),
      'its test is left',
    ]);
    expect(await readFile(join(dir, 'pack/tasks.json'), 'utf8')).not.toContain('secret');
  });
});

describe('the pack', () => {
  test('is never written over anything, nor into its source, which stays as it is', async () => {
    const { dir } = await temporaryFolder(
      Object.fromEntries(Object.entries(promptfoo).map(([name, text]) => [`s/${name}`, text])),
    );
    rooms.push(dir);
    const before = await hashTree(join(dir, 's'));
    await importPack(join(dir, 's'), { ...options, to: join(dir, 'pack') });
    const made = await hashTree(join(dir, 'pack'));
    await writeFile(join(dir, 'file'), 'mine');
    await symlink('gone', join(dir, 'dangling'));
    for (const to of ['pack', 'file', 'dangling', 's'])
      expect(await failure(importPack(join(dir, 's'), { ...options, to: join(dir, to) }))).toMatchObject({
        code: 'usage',
        fix: expect.stringMatching(/--to/),
      });
    await symlink(join(dir, 's'), join(dir, 'alias'));
    for (const to of ['s/new', 's/a/b', 'alias/new'])
      expect(await failure(importPack(join(dir, 's'), { ...options, to: join(dir, to) }))).toMatchObject({
        code: 'usage',
        what: 'the pack would lie inside of its source, which is never changed',
      });
    expect([await hashTree(join(dir, 's')), await hashTree(join(dir, 'pack'))]).toEqual([before, made]);
    expect((await readdir(dir)).toSorted()).toEqual(['alias', 'dangling', 'file', 'pack', 's']);
  });

  test('of a source that fails is not there, nor a part of it', async () => {
    const { dir } = await temporaryFolder({
      's/promptfooconfig.yaml': 'prompts: [x]\ntests: [{assert: [{type: pi}]}]\n',
    });
    rooms.push(dir);
    expect(await failure(importPack(join(dir, 's'), { ...options, to: join(dir, 'deep/pack') }))).toMatchObject({
      code: 'pack',
    });
    expect(await lstat(join(dir, 'deep/pack')).catch(() => null)).toBeNull();
    expect((await readdir(join(dir, 'deep')).catch(() => [])).toSorted()).toEqual([]);
  });

  test('says in IMPORT.md what was left, what differs, and where each task is from', async () => {
    const { dir } = await imported({
      'promptfooconfig.yaml':
        "providers: [a]\nprompts: ['{{q}}']\ntests:\n  - {vars: {q: 'a|b'}, description: 'A `b` <c>', threshold: 0.5, assert: [{type: contains, value: x}, {type: pi}]}\n",
    });
    const text = await readFile(join(dir, 'pack/IMPORT.md'), 'utf8');
    expect(text).toContain('Tasks: 1 of 1 entries.');
    expect(text).toMatch(/## Left behind: 1\n\n- `promptfooconfig.yaml:4` test 1: assert 2 \(pi\): /);
    expect(text).toMatch(/## Carried over with a difference: 1\n\n- `promptfooconfig.yaml:4` test 1: threshold 0.5/);
    expect(text).toMatch(/## Of no use in a pack: 1\n\n- `promptfooconfig.yaml:1` providers/);
    expect(text).toContain('| `A-b-c` | `promptfooconfig.yaml:4` |');
  });

  test('names every loss where there are many, and the same import makes the same bytes', async () => {
    const asserts = Array.from({ length: 60 }, () => '{type: pi}').join(', ');
    const files = {
      'promptfooconfig.yaml': `prompts: [x]\ntests: [{assert: [{type: contains, value: x}, ${asserts}]}]\n`,
    };
    const [a, b] = [await imported(files), await imported(files)];
    expect(a.report.losses).toHaveLength(60);
    expect((await readFile(join(a.dir, 'pack/IMPORT.md'), 'utf8')).match(/\(pi\)/g)).toHaveLength(60);
    await cp(join(a.dir, 'pack/tasks.json'), join(a.dir, 'copy'));
    expect(await readFile(join(a.dir, 'copy'), 'utf8')).toBe(await readFile(join(b.dir, 'pack/tasks.json'), 'utf8'));
  });

  test('tells the first losses of a reason on the screen, and not what follows from another', async () => {
    const one = (assert: string) => `  - {vars: {q: a}, assert: [${assert}]}\n`;
    const files = {
      'promptfooconfig.yaml': `prompts: ['{{q}}']\ntests:\n  - {vars: {}, assert: [{type: contains, value: x}, {type: pi}]}\n${one('{type: contains, value: y}')}${one('{type: pi}').repeat(5)}${one('{type: cost}')}`,
    };
    const { report } = await imported(files);
    expect(shownLosses(report.losses)).toEqual([
      expect.stringMatching(/:3 test 1: the variable \{\{q\}\} has no value$/),
      expect.stringMatching(/:5 test 3: assert 1 \(pi\): a judging model/),
      expect.stringMatching(/:6 test 4: assert 1 \(pi\): a judging model/),
      expect.stringMatching(/^and 3 more: a judging model/),
      expect.stringMatching(/:5 test 3: none of its asserts/),
      expect.stringMatching(/:6 test 4: none of its asserts/),
      expect.stringMatching(/^and 4 more: none of its asserts/),
      expect.stringMatching(/:10 test 8: assert 1 \(cost\)/),
    ]);
    expect(report.losses.filter(({ follows }) => follows)).toHaveLength(2);
  });

  test('is not made with strict when anything is left or differs; what has no use in a pack does not count', async () => {
    const files = (extra: string) => ({
      'promptfooconfig.yaml': `providers: [a]\nprompts: [x]\ntests: [{assert: [{type: contains, value: x}${extra}]}]\n`,
    });
    expect((await imported(files(''), { strict: true })).report.tasks).toHaveLength(1);
    expect(await refused(files(', {type: pi}'), { strict: true })).toMatchObject({
      code: 'pack',
      what: '1 thing is not carried over as it is, and --strict asks for all',
      where: expect.stringMatching(/^promptfooconfig.yaml:3 test 1: assert 2 \(pi\)/),
    });
  });

  test('has ids that can be names of files, each once', async () => {
    const names = [
      'Same',
      'same',
      '../up',
      '-dash',
      '.hidden',
      'tab\tin',
      '',
      'ß é 漢字',
      'x'.repeat(300),
      '\u202eevil',
    ];
    const tests = names.map((description, index) => ({
      description,
      vars: { q: String(index) },
      assert: [{ type: 'contains', value: 'x' }],
    }));
    const { report } = await imported({ 'promptfooconfig.json': JSON.stringify({ prompts: ['{{q}}'], tests }) });
    expect(report.tasks.map(({ id }) => id)).toEqual([
      'Same',
      'same-2',
      'up',
      'dash',
      'hidden',
      'tab-in',
      'test-7',
      'ß-é-漢字',
      'x'.repeat(60),
      'evil',
    ]);
  });

  test('holds no text that is half a character, and no twin', async () => {
    const one = (prompt: string) => ({ vars: { q: prompt }, assert: [{ type: 'contains', value: 'x' }] });
    const { report } = await imported({
      'promptfooconfig.json': JSON.stringify({ prompts: ['{{q}}'], tests: [one('\ud800'), one('a'), one('a')] }),
    });
    expect(report.tasks.map(({ id }) => id)).toEqual(['test-2']);
    expect(report.losses.map(({ why }) => why)).toEqual([
      expect.stringMatching(/half a character/),
      'the same as test-2: it would count twice',
    ]);
  });
});
