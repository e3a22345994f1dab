import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { editOps } from '../ports/edit.ts';
import type { Check, Pack, PromptTask } from '../ports/task.ts';
import { leakScanner } from '../skill/leak-scan.ts';
import { leakMaterial, secretPaths } from './leak-material.ts';
import { taskFiles, temporaryFolder } from './pack-fixture.ts';
import { readPack } from './read-pack.ts';

const removals: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(removals.map((remove) => remove())));

async function packOf(...tasks: Parameters<typeof taskFiles>[]): Promise<Pack> {
  const { dir, remove } = await temporaryFolder(Object.assign({}, ...tasks.map((t) => taskFiles(...t))));
  removals.push(remove);
  return readPack(dir);
}

describe('of a folder task', () => {
  test('verifier, solution, lines of results, instruction and paths', async () => {
    const pack = await packOf([
      'one',
      {
        'tests/expected/sum.txt': '48213\n\nlast line\n',
        'tests/check.py': 'assert True\n',
        'solution/solve.sh': 'echo 48213\n',
      },
    ]);
    const { tasks, paths } = await leakMaterial(pack, ['/var/scratch/x-', '/app']);
    expect(tasks).toEqual([
      {
        id: 'one',
        instruction: 'Write one into answer.txt.\n',
        expected: ['48213', '', 'last line', ''],
        patterns: [],
        verifier: ['assert True\n', '48213\n\nlast line\n', '#!/bin/sh\ngrep -q x answer.txt\n'],
        solution: ['echo 48213\n'],
      },
    ]);
    expect(paths).toEqual([pack.dir, join(pack.dir, 'one'), '/var/scratch/x-']);
  });

  test('what is no text is left out, and of what is long the beginning is read, whole characters of it', async () => {
    const pack = await packOf([
      'one',
      {
        'tests/image.png': new Uint8Array([137, 80, 0, 1]),
        'tests/latin1.txt': new Uint8Array([0xe9, 0x20, 0xe9]),
        'tests/long.py': '汉'.repeat(100_000),
      },
    ]);
    const [one] = (await leakMaterial(pack)).tasks;
    expect(one?.verifier.map((text) => [text[0], text.length > 80_000])).toEqual([
      ['#', false],
      ['汉', true],
    ]);
    expect(one?.verifier.join('')).not.toContain('\uFFFD');
    expect(one?.verifier.join('').length).toBeLessThan(100_000);
  });
});

describe('of a prompt task', () => {
  const check = (c: object): Check => ({ weight: 1, after: null, ...c }) as Check;
  const prompt: PromptTask = {
    kind: 'prompt',
    id: 'p1',
    dir: '/home/ada/prompts',
    hash: 'h',
    instruction: 'Who owes what?',
    instructionHash: 'i',
    agentTimeoutSec: null,
    shouldTrigger: null,
    system: 'You keep the books.',
    files: [{ name: 'a.txt', text: 'Ada owes 5.' }],
    checks: [
      check({ kind: 'equals', value: 'first\nsecond', ignoreCase: true }),
      check({ kind: 'contains', value: 'third', ignoreCase: false }),
      check({ kind: 'regex', pattern: '^x+$', flags: '' }),
      check({ kind: 'json-path', path: 'a.b', value: { c: ['fourth', 5, true, null] } }),
      check({ kind: 'number', value: -48213.5, tolerance: 1 }),
      check({ kind: 'command', command: ['sh', '-c', 'grep sixth'], timeoutSec: 1 }),
    ],
    noAnswer: [],
  };

  test('all that checks look for', async () => {
    const { tasks } = await leakMaterial({ name: 'p', dir: prompt.dir, hash: 'h', tasks: [prompt] });
    expect(tasks).toEqual([
      {
        id: 'p1',
        instruction: 'You keep the books.\n\nWho owes what?\n\nAda owes 5.',
        expected: ['first', 'second', 'third', 'fourth', '5', '48213.5'],
        patterns: ['^x+$'],
        verifier: ['sh -c grep sixth'],
        solution: [],
      },
    ]);
  });

  test('the files that a command alone is given', async () => {
    const files = [
      { name: 'check.py', text: 'assert seventh' },
      { name: 'want/out.txt', text: 'eighth\r\nninth' },
    ];
    const checks = [check({ kind: 'command', command: ['python3', 'check.py'], timeoutSec: 1, files })];
    const { tasks } = await leakMaterial({ name: 'p', dir: prompt.dir, hash: 'h', tasks: [{ ...prompt, checks }] });
    expect([tasks[0]?.verifier, tasks[0]?.expected]).toEqual([
      ['python3 check.py', 'assert seventh', 'eighth\r\nninth'],
      ['eighth', 'ninth'],
    ]);
  });

  test('a folder right below the root is no secret', () => {
    expect(secretPaths({ name: 'p', dir: '/tasks', hash: 'h', tasks: [] }, ['/', '/home/ada'])).toEqual(['/home/ada']);
  });
});

describe('the examples', () => {
  const root = resolve(import.meta.dir, '..', '..', 'examples');
  type Shipped = { readonly kind: string; readonly op: (typeof editOps)[number]; readonly [k: string]: string };
  /** Every example with a pack of task folders and edits that are known to be general. */
  const examples = readdirSync(root).filter((name) => readdirSync(join(root, name)).includes('rehearsal.json'));
  const read = (...parts: string[]) => readFileSync(join(root, ...parts), 'utf8');

  test('there are some', () => expect(examples.length).toBeGreaterThan(0));

  test.each(examples)('%s: no edit that is shipped is refused, and what its verifiers say is', async (name) => {
    const seed = read(name, name, 'SKILL.md');
    const material = await leakMaterial(await readPack(join(root, name, 'tasks')));
    const scan = leakScanner(material, seed);
    const { edits } = JSON.parse(read(name, 'rehearsal.json')) as { edits: readonly Shipped[] };
    const said = edits.map((e) => [
      e.phrase,
      scan({ op: e.op, target: e.target!, content: e.content!, cites: [], reason: '' }, seed),
    ]);
    expect(said).toEqual(edits.map((e) => [e.phrase, null]));
    expect(edits.filter((e) => e.kind === 'useful').length).toBeGreaterThan(0);
    const append = (content: string) =>
      scan({ op: 'append_section', target: '', content, cites: [], reason: '' }, seed);
    for (const task of material.tasks) {
      const quoted = task.verifier.find((text) => text.startsWith('#!'))!;
      expect(append(quoted.split('\n').slice(1).join(' ')) ?? task.id).toContain('line 1 of the content');
      expect(append(`As in ${task.id}.`)).toContain('names a task');
    }
  });
});
