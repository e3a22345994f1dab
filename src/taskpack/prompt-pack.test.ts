import { afterEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { SkilloptError } from '../ports/failure.ts';
import { MOST_LISTED } from './bounded-list.ts';
import { taskFiles, writeFiles } from './pack-fixture.ts';
import { MOST_PACK_BYTES, readPromptPack } from './prompt-pack.ts';
import { copyAnyPack, readAnyPack } from './read-any-pack.ts';

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true });
});

/** A folder with these files; its tasks.json is given as data or as text. */
function folder(pack: unknown, files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'skillopt-prompts-'));
  made.push(dir);
  const text = typeof pack === 'string' || pack instanceof Uint8Array ? pack : JSON.stringify(pack);
  for (const [name, content] of Object.entries({ 'tasks.json': text, ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}

const task = (more: Readonly<Record<string, unknown>> = {}) => ({
  id: 'a',
  prompt: 'Capital of France?',
  answer: 'Paris',
  ...more,
});
const withCheck = (check: unknown) => [{ id: 'a', prompt: 'p', checks: [check] }];

async function refusal(path: string) {
  const error = await readAnyPack(path).then(
    () => null,
    (e: unknown) => e,
  );
  if (!(error instanceof SkilloptError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.failure.code).toBe('pack');
  return error.failure;
}

const tasksOf = async (path: string) => (await readPromptPack(path)).pack.tasks;
const only = async (path: string) => (await tasksOf(path))[0]!;

describe('a prompt pack', () => {
  test('is a list, or an object with what all tasks share', async () => {
    const [bare] = await tasksOf(folder([task()]));
    expect(bare).toMatchObject({
      kind: 'prompt',
      id: 'a',
      instruction: 'Capital of France?',
      system: '',
      files: [],
      noAnswer: [],
      agentTimeoutSec: null,
    });
    expect(bare?.checks).toEqual([{ kind: 'equals', value: 'Paris', ignoreCase: false, weight: 1, after: null }]);
    const dir = folder({
      version: 1,
      name: 'capitals',
      system: 'Be brief.',
      noAnswer: ['^upstream'],
      tasks: [task({ id: 'b' }), task({ id: 'a', system: 'Own.', timeoutSec: 2.5 })],
    });
    const { pack } = await readPromptPack(dir);
    expect([pack.name, pack.dir, pack.tasks.map((t) => [t.id, t.system, t.agentTimeoutSec, t.noAnswer])]).toEqual([
      'capitals',
      dir,
      [
        ['a', 'Own.', 2.5, ['^upstream']],
        ['b', 'Be brief.', null, ['^upstream']],
      ],
    ]);
  });

  test('is named by its folder or by its file, of whatever name', async () => {
    const dir = folder([task()]);
    expect(await readAnyPack(dir)).toEqual(await readAnyPack(join(dir, 'tasks.json')));
    writeFileSync(join(dir, 'other.json'), JSON.stringify([task({ id: 'z' })]));
    expect((await readAnyPack(join(dir, 'other.json'))).tasks.map((t) => t.id)).toEqual(['z']);
  });

  test('every kind of check is read, with its defaults', async () => {
    const checks = [
      { equals: 'x', ignoreCase: true, after: ' ANSWER: ', weight: 2 },
      { contains: 'x' },
      { regex: '^a{2}$', flags: 'im' },
      { json: 'whole' },
      { 'json-path': 'a.b[0]', value: { c: [null] } },
      { number: -1.5, tolerance: 0.1 },
      { number: 1 },
      { command: ['python3', 'check.py', ''], files: ['check.py'] },
    ];
    const read = await only(folder([{ id: 'a', prompt: 'p', checks }], { 'check.py': 'exit(0)\n' }));
    const plain = { weight: 1, after: null };
    expect(read.checks).toEqual([
      { kind: 'equals', value: 'x', ignoreCase: true, weight: 2, after: 'ANSWER:' },
      { kind: 'contains', value: 'x', ignoreCase: false, ...plain },
      { kind: 'regex', pattern: '^a{2}$', flags: 'im', ...plain },
      { kind: 'json', place: 'whole', ...plain },
      { kind: 'json-path', path: 'a.b[0]', value: { c: [null] }, ...plain },
      { kind: 'number', value: -1.5, tolerance: 0.1, ...plain },
      { kind: 'number', value: 1, tolerance: 0, ...plain },
      {
        kind: 'command',
        command: ['python3', 'check.py', ''],
        timeoutSec: 30,
        files: [{ name: 'check.py', text: 'exit(0)\n' }],
        ...plain,
      },
    ]);
    expect((await only(folder([task({ answer: 42 })]))).checks).toEqual([
      { kind: 'number', value: 42, tolerance: 0, ...plain },
    ]);
  });

  test('prompts and files come from the folder, byte order mark and CRLF included', async () => {
    const text = `\uFEFF${JSON.stringify([{ id: 'a', promptFile: 'p/one.md', files: ['./data.csv', 'p/deep/x.txt'], answer: 'x' }], null, 2).replaceAll('\n', '\r\n')}`;
    const read = await only(folder(text, { 'p/one.md': '\uFEFFCount.\r\n', 'data.csv': 'a,b\n', 'p/deep/x.txt': '' }));
    expect(read.instruction).toBe('Count.\r\n');
    expect(read.files).toEqual([
      { name: 'data.csv', text: 'a,b\n' },
      { name: 'p/deep/x.txt', text: '' },
    ]);
  });

  test('the hash is over all that makes the task, and over nothing else', async () => {
    const base = { ...task({ files: ['f'] }), checks: [{ equals: 'x' }], answer: undefined };
    const hashOf = async (more: object, f = 'text', wide: object = {}) =>
      (await only(folder({ ...wide, tasks: [{ ...base, ...more }] }, { f, g: f }))).hash;
    const same = await hashOf({});
    expect(await hashOf({ id: 'other' })).toBe(same);
    expect(await hashOf({ checks: [{ weight: 1, equals: 'x', ignoreCase: false }] })).toBe(same);
    expect(await hashOf({}, 'text', { name: 'n', version: 1 })).toBe(same);
    const others = await Promise.all([
      hashOf({ prompt: 'Other?' }),
      hashOf({ system: 's' }),
      hashOf({ files: ['g'] }),
      hashOf({}, 'other text'),
      hashOf({ checks: [{ equals: 'y' }] }),
      hashOf({ checks: [{ equals: 'x', weight: 2 }] }),
      hashOf({ checks: [{ equals: 'x', after: 'A:' }] }),
      hashOf({ timeoutSec: 5 }),
      hashOf({}, 'text', { noAnswer: ['x'] }),
    ]);
    expect(new Set([same, ...others]).size).toBe(others.length + 1);
  });

  test('other skills stand beside the one under test, for every task', async () => {
    const otherSkills = [
      { name: 'pdf', description: 'Reads PDFs.' },
      { name: 'plug:in_2', description: 'x'.repeat(1024) },
    ];
    const { pack } = await readPromptPack(
      folder({ otherSkills, tasks: [task(), task({ id: 'b', prompt: 'Other?' })] }),
    );
    expect(pack.tasks.map((t) => t.otherSkills)).toEqual([otherSkills, otherSkills]);
    const bare = await only(folder({ tasks: [task()] }));
    expect('otherSkills' in bare).toBe(false);
    const none = await only(folder({ otherSkills: [], tasks: [task()] }));
    expect(none.otherSkills).toEqual([]);
    expect(new Set([bare.hash, none.hash, pack.tasks[0]?.hash]).size).toBe(3);
  });

  const other = (skills: string) => `{"otherSkills": ${skills}, "tasks": [{"id": "a", "prompt": "p", "answer": "x"}]}`;
  test.each([
    ['no list', other('{}'), 'not a list'],
    ['no description', other('[{"name": "a"}]'), 'without a description'],
    ['an unknown key', other('[{"name": "a", "descripton": "x"}]'), 'unknown key "descripton"'],
    ['a name with blanks', other('[{"name": "a b", "description": "x"}]'), "can't be the name of a skill"],
    ['the answer for none', other('[{"name": "None", "description": "x"}]'), "can't be the name of a skill"],
    ['one twice', other('[{"name": "a", "description": "x"}, {"name": "A", "description": "y"}]'), 'stands twice'],
    ['a long one', other(`[{"name": "a", "description": "${'x'.repeat(1025)}"}]`), 'more than 1024'],
    [
      'very many',
      other(JSON.stringify(Array.from({ length: 61 }, (_, n) => ({ name: `s${n}`, description: 'x' })))),
      'has 61 skills',
    ],
  ])('other skills: %s', async (_name, text, what) => {
    expect((await refusal(folder(text))).what).toContain(what);
  });

  test('the same prompt is one instruction, unless it stands over other files', async () => {
    const dir = folder(
      [
        task(),
        task({ id: 'b', prompt: 'capital  of france?', answer: 'x' }),
        task({ id: 'c', files: ['f'] }),
        task({ id: 'd', files: ['g'] }),
      ],
      { f: '1', g: '2' },
    );
    const [a, b, c, d] = (await tasksOf(dir)).map((t) => t.instructionHash);
    expect(a).toBe(b!);
    expect(new Set([a, c, d]).size).toBe(3);
  });

  test('is not changed by being read', async () => {
    const dir = folder([task({ files: ['f'] })], { f: 'x' });
    const before = readFileSync(join(dir, 'tasks.json'));
    await readAnyPack(dir);
    expect([readdirSync(dir).sort(), readFileSync(join(dir, 'tasks.json'))]).toEqual([['f', 'tasks.json'], before]);
  });
});

describe('what is wrong is told where it stands', () => {
  const wrong: readonly (readonly [string, unknown, string, string])[] = [
    ['no JSON', '[\n  {"id": "a",}\n]', 'tasks.json:2:14', 'not JSON'],
    ['a comment', '// x\n[]', 'tasks.json:1:1', 'not JSON'],
    ['an empty file', '', 'tasks.json:1:1', 'not JSON'],
    ['no list', '"x"', 'tasks.json:1:1', 'the pack is not an object'],
    ['no tasks', '{"version": 1}', 'tasks.json:1:1', 'without tasks'],
    ['an empty list', '[]', 'tasks.json:1:1', 'without tasks'],
    ['another version', '{"version": 2, "tasks": []}', 'tasks.json:1:13', 'version'],
    ['an unknown key', '[\r\n {"id": "a", "promt": "p", "answer": "x"}]', 'tasks.json:2:14', 'unknown key "promt"'],
    ['a key twice', '[{"id": "a", "id": "b", "prompt": "p", "answer": "x"}]', 'tasks.json:1:14', 'stands twice'],
    ['no id', '[{"prompt": "p", "answer": "x"}]', 'tasks.json:1:2', 'without an id'],
    ['a number as id', '[{"id": 1, "prompt": "p", "answer": "x"}]', 'tasks.json:1:9', 'id is not a text'],
    ['an id that leads away', '[{"id": "../a", "prompt": "p", "answer": "x"}]', 'tasks.json:1:9', 'can not start with'],
    ['a long id', `[{"id": "${'é'.repeat(101)}", "prompt": "p", "answer": "x"}]`, 'tasks.json:1:9', '200 bytes'],
    [
      'an id twice',
      '[{"id": "a", "prompt": "p", "answer": "x"},\n {"id": "a", "prompt": "q", "answer": "x"}]',
      'tasks.json:2:2',
      'stands also at tasks.json:1:2',
    ],
    [
      'a task twice',
      '[{"id": "a", "prompt": "p", "answer": "x"},\n {"id": "b", "prompt": "p", "answer": "x"}]',
      'tasks.json:2:2',
      'b is the same task as a',
    ],
    ['no prompt', '[{"id": "a", "answer": "x"}]', 'tasks.json:1:2', 'without a prompt'],
    ['a blank prompt', '[{"id": "a", "prompt": " \\n", "answer": "x"}]', 'tasks.json:1:24', 'prompt is empty'],
    [
      'two prompts',
      '[{"id": "a", "prompt": "p", "promptFile": "f", "answer": "x"}]',
      'tasks.json:1:43',
      'both a prompt and',
    ],
    ['half a character', '[{"id": "a", "prompt": "\\ud83d", "answer": "x"}]', 'tasks.json:1:24', 'half a character'],
    ['nothing that scores', '[{"id": "a", "prompt": "p"}]', 'tasks.json:1:2', 'without checks'],
    [
      'both forms of scoring',
      '[{"id": "a", "prompt": "p", "answer": "x", "checks": []}]',
      'tasks.json:1:39',
      'both an answer and checks',
    ],
    ['empty checks', '[{"id": "a", "prompt": "p", "checks": []}]', 'tasks.json:1:39', 'no check'],
    ['no time', '[{"id": "a", "prompt": "p", "answer": "x", "timeoutSec": 0}]', 'tasks.json:1:58', 'timeoutSec'],
    [
      'noAnswer',
      '{"noAnswer": ["("], "tasks": [{"id": "a", "prompt": "p", "answer": "x"}]}',
      'tasks.json:1:15',
      'egular expression',
    ],
  ];
  test.each(wrong)('%s', async (_name, pack, where, what) => {
    const failure = await refusal(folder(pack));
    expect(failure.what).toContain(what);
    expect(failure.where).toContain(where);
    expect(failure.fix).not.toBe('');
  });

  const wrongChecks: readonly (readonly [string, unknown, string])[] = [
    ['no kind', { equal: 'x' }, 'does not say what it asks'],
    ['two kinds', { equals: 'x', contains: 'y' }, 'asks for equals and contains'],
    ['no object', 'Paris', 'does not say what it asks'],
    ['a key of another kind', { equals: 'x', tolerance: 1 }, 'unknown key "tolerance"'],
    ['an empty text', { equals: '' }, 'equals is empty'],
    ['a number as text', { equals: 4 }, 'not a text'],
    ['a text as number', { number: '4' }, 'number is not a number'],
    ['a negative tolerance', { number: 4, tolerance: -1 }, 'tolerance'],
    ['no weight', { equals: 'x', weight: 0 }, 'weight'],
    ['a negative weight', { equals: 'x', weight: -1 }, 'weight'],
    ['a bad pattern', { regex: '(' }, 'egular expression'],
    ['a flag with a state', { regex: 'x', flags: 'g' }, 'flag "g"'],
    ['repetitions inside each other', { regex: '^(a+)+$' }, 'repetitions inside each other'],
    ['JSON in a place that there is not', { json: 'half' }, 'neither "whole" nor "anywhere"'],
    ['a bad path', { 'json-path': 'a..b', value: 1 }, 'not a path'],
    ['a path without value', { 'json-path': 'a' }, 'without a value'],
    ['after over two lines', { equals: 'x', after: 'A\nB' }, 'more than one line'],
    ['a command as text', { command: 'true' }, 'command is not a list'],
    ['an empty command', { command: [] }, 'without a program'],
    ['a blank program', { command: [' '] }, 'the program is empty'],
    ['a command that never ends', { command: ['x'], timeoutSec: 1e9 }, 'timeoutSec'],
    ['a missing file of a command', { command: ['x'], files: ['none.py'] }, 'none.py is not there'],
  ];
  test.each(wrongChecks)('a check: %s', async (_name, check, what) => {
    expect((await refusal(folder(withCheck(check)))).what).toContain(what);
  });

  test('a command that names a file of the pack which it does not get', async () => {
    const files = { 'check.py': 'exit()', 'data.csv': '1' };
    const command = ['python3', './check.py', 'data.csv'];
    const failure = await refusal(folder(withCheck({ command, files: ['data.csv'] }), files));
    expect(failure.what).toContain('the command names check.py, which lies in the pack but is not laid beside it');
    expect(failure.fix).toBe('add "files": ["check.py"] to the check');
    const shown = [{ id: 'a', prompt: 'p', files: ['data.csv'], checks: [{ command, files: ['check.py'] }] }];
    expect((await readAnyPack(folder(shown, files))).tasks).toHaveLength(1);
  });

  test('in lines of a bounded length', async () => {
    const long = 'x'.repeat(10_000);
    const failure = await refusal(folder([{ ...task({ files: [long] }), [long]: 1 }]));
    for (const line of [failure.what, ...failure.where.split('\n'), ...failure.fix.split('\n')])
      expect(line.length).toBeLessThan(500);
  });

  test('a key that is written wrong is told once', async () => {
    const odd = await refusal(folder([{ ids: 'a', promt: 'p', answr: 'x' }]));
    expect(odd.what).toContain('and 2 more problems');
    expect((await refusal(folder({ taks: [] }))).what).not.toContain('more');
  });

  test('unknown keys and kinds come with the nearest that is known', async () => {
    expect((await refusal(folder([{ ...task(), timeoutsec: 3 }]))).fix).toContain('"timeoutSec"');
    expect((await refusal(folder(withCheck({ jsonPath: 'a', value: 1 })))).fix).toContain('"json-path"');
  });

  const files: readonly (readonly [string, string, Readonly<Record<string, string | Uint8Array>>, string])[] = [
    ['missing', 'none.txt', {}, 'is not there'],
    ['above', '../x', {}, 'not a path inside'],
    ['absolute', '/etc/hostname', {}, 'not a path inside'],
    ['with a backslash', 'a\\b', {}, 'not a path inside'],
    ['a folder', 'd', { 'd/x': '' }, 'not a regular file'],
    ['not UTF-8', 'f', { f: new Uint8Array([0x61, 0xff]) }, 'not valid UTF-8'],
    ['binary', 'f', { f: 'a\0b' }, 'NUL'],
    ['of 30 MB', 'f', { f: new Uint8Array(30_000_000) }, '30000000 bytes'],
    ['the pack itself', 'tasks.json', {}, 'holds the checks'],
  ];
  test.each(files)('a file %s', async (_name, name, content, what) => {
    const failure = await refusal(folder([task({ files: [name] })], content));
    expect(failure.what).toContain(what);
    expect(failure.where).toContain('tasks.json:1:');
  });

  test('links are followed inside, never outside', async () => {
    const dir = folder([task({ files: ['in', 'deep/x'] })], { real: 'r', 'd/x': 'x' });
    symlinkSync('real', join(dir, 'in'));
    symlinkSync('d', join(dir, 'deep'));
    expect((await only(dir)).files.map((f) => f.text)).toEqual(['r', 'x']);
    const outside = folder([task()], { secret: 's' });
    symlinkSync(outside, join(dir, 'out'));
    writeFileSync(join(dir, 'tasks.json'), JSON.stringify([task({ files: ['out/secret'] })]));
    expect((await refusal(dir)).what).toContain('leads out of the folder');
    const linked = folder([task()]);
    rmSync(join(linked, 'tasks.json'));
    symlinkSync(join(outside, 'tasks.json'), join(linked, 'tasks.json'));
    expect((await refusal(linked)).what).toContain('leads out of the folder');
    // Named itself, it may lead anywhere.
    expect((await readAnyPack(join(linked, 'tasks.json'))).tasks).toHaveLength(1);
  });

  test('all of it in one go, the list bounded', async () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ id: `t${i}`, prompt: '', answer: 'x' }));
    const failure = await refusal(folder(many));
    expect(failure.what).toContain('and 49 more problems');
    expect(failure.where.split('\n')).toHaveLength(MOST_LISTED + 1);
  });

  test('what is no pack at all', async () => {
    expect((await refusal(folder(new Uint8Array([0xff])))).what).toContain('not valid UTF-8');
    expect((await refusal(join(tmpdir(), 'skillopt-none', 'tasks.json'))).what).toContain('there is no such');
    expect((await refusal(folder(new Uint8Array(MOST_PACK_BYTES + 1)))).what).toContain('bytes');
    expect((await refusal(folder('['.repeat(200_000)))).what).toContain('JSON');
    const both = folder([task()]);
    await writeFiles(both, taskFiles('one'));
    expect((await refusal(both)).what).toContain('both a prompt pack and one of task folders');
    const failure = await refusal(folder('[{"id": "a\\u001b[2J", "prompt": "p", "answer": "x"}]'));
    expect(failure.what + failure.where + failure.fix).not.toContain('\x1b');
  });

  test('a text of any kind is read or refused, never anything else', async () => {
    const dir = folder([]);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.string({ unit: 'binary' }),
          fc.json().map((j) => `[${j}]`),
        ),
        async (text) => {
          writeFileSync(join(dir, 'tasks.json'), text);
          const end = await readAnyPack(dir).then(
            () => 'read',
            (e: unknown) => (e instanceof SkilloptError && e.failure.code === 'pack' ? 'refused' : String(e)),
          );
          expect(['read', 'refused']).toContain(end);
        },
      ),
    );
  });
});

describe('the copy of a pack', () => {
  test('of prompts holds only what the pack names, and reads the same', async () => {
    const dir = folder(
      [
        task({ files: ['d/f'] }),
        { id: 'b', promptFile: 'p.md', checks: [{ command: ['sh', 'c.sh'], files: ['c.sh'] }] },
      ],
      {
        'd/f': '\uFEFFtext',
        'p.md': 'Do.',
        'c.sh': 'exit 0',
        'big/other.bin': new Uint8Array(1000),
      },
    );
    const to = join(dir, '.skillopt', 'pack');
    await copyAnyPack(join(dir, 'tasks.json'), to);
    expect((readdirSync(to, { recursive: true }) as string[]).sort()).toEqual([
      'c.sh',
      'd',
      'd/f',
      'p.md',
      'tasks.json',
    ]);
    expect(readFileSync(join(to, 'd/f'))).toEqual(readFileSync(join(dir, 'd/f')));
    const [from, copied] = [await readAnyPack(dir), await readAnyPack(to)];
    expect([copied.hash, copied.tasks.map((t) => t.hash)]).toEqual([from.hash, from.tasks.map((t) => t.hash)]);
    const taken = await copyAnyPack(dir, to).then(
      () => null,
      (e: unknown) => e,
    );
    expect(taken).toMatchObject({ failure: { code: 'disk' } });
  });

  test('of task folders is as it was', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'skillopt-prompts-'));
    made.push(dir);
    await writeFiles(join(dir, 'from'), taskFiles('one'));
    await copyAnyPack(join(dir, 'from'), join(dir, 'to'));
    expect((await readAnyPack(join(dir, 'to'))).hash).toBe((await readAnyPack(join(dir, 'from'))).hash);
  });

  test('of a faulty pack is none', async () => {
    const dir = folder([task({ prompt: '' })]);
    const end = await copyAnyPack(dir, join(dir, 'copy')).then(
      () => null,
      (e: unknown) => e,
    );
    expect(end).toMatchObject({ failure: { code: 'pack' } });
    expect(readdirSync(dir)).toEqual(['tasks.json']);
  });
});
