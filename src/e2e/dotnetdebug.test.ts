import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeExample } from '../cli/bundled.ts';
import { loadConfig } from '../config/load.ts';
import type { Check, PromptTask } from '../ports/task.ts';
import { runCheck, softScore } from '../rollout/checks/run-check.ts';
import { readSkill } from '../skill/document.ts';
import { leakScanner } from '../skill/leak-scan.ts';
import { seedWarnings } from '../skill/seed-warnings.ts';
import { leakMaterial } from '../taskpack/leak-material.ts';
import { readPromptPack } from '../taskpack/prompt-pack.ts';
import { Place, removePlaces } from './binary.ts';
import { answerOf, type Known, knownAnswers } from './dotnetdebug-answers.ts';
import { ModelServer } from './model-server.ts';

afterAll(removePlaces);

const root = resolve(import.meta.dir, '../..');
const packDir = join(root, 'tasks/dotnetdebug');
const exampleDir = join(root, 'examples/dotnetdebug');
const { pack, bytes, files } = await readPromptPack(packDir);
const known = knownAnswers();
const tasks = known.map((one): readonly [string, Known, PromptTask] => {
  const task = pack.tasks.find((t) => t.id === one.id);
  if (task === undefined) throw new Error(`the table has ${one.id}, the pack has not`);
  return [one.id, one, task];
});
const codes = [...(pack.tasks[0]?.system ?? '').matchAll(/^- ([a-z0-9-]+): /gm)].map((m) => m[1] ?? '');

/** The checks' verdict on an answer, 0…1. */
function score(task: PromptTask, answer: string): number {
  return softScore(
    task.checks.map((check) => {
      if (check.kind === 'command') throw new Error('a command is not run here');
      return { weight: check.weight, passed: runCheck(check, answer) };
    }),
  );
}

/** Checks that look at what `marker` begins. */
const looksAt = (marker: string) => (check: Check) => check.after === marker;

/** The ways in which models write down one and the same value. */
function writtenForms(one: Known, value: string): readonly string[] {
  const cause = (text: string) => (one.cause === null ? '' : text);
  const isJson = /^[{[]/.test(value);
  const plain = [
    answerOf(one, value),
    `${cause(`CAUSE: ${one.cause}`)}\nANSWER: ${value}\n\n`,
    `${cause(`CAUSE:${one.cause}  `)}\nANSWER:    ${value}  `,
    `Line 1 and \`none\` come to mind.\r\n${cause(`CAUSE: ${one.cause}`)}\r\nANSWER: ${value}\r\n`,
    `${cause('CAUSE: not-known\n')}ANSWER: 1000001\nNo, that is wrong.\n${answerOf(one, value)}`,
    `${cause(`**CAUSE:** ${one.cause}\n`)}**ANSWER:** ${value}`,
    `<think>\nANSWER: 1000001?\n</think>\n\`\`\`\n${cause(`CAUSE: ${one.cause}\n`)}ANSWER: ${value}\n\`\`\``,
    `${cause(`> CAUSE: ${one.cause}\n`)}> ANSWER: ${value}`,
  ];
  if (isJson)
    return [
      ...plain,
      `${cause(`CAUSE: ${one.cause}\n`)}ANSWER: \`${value}\``,
      `${cause(`CAUSE: ${one.cause}\n`)}ANSWER:\n\`\`\`json\n${JSON.stringify(JSON.parse(value), null, 2)}\n\`\`\``,
    ];
  const cased = [value.toLowerCase(), value.toUpperCase()].map(
    (v) => `${cause(`CAUSE: ${one.cause?.toUpperCase()}\n`)}ANSWER: ${v}`,
  );
  // what has quotes, brackets or signs of Markdown of its own is not put into another pair
  if (/^["`*(<]/.test(value)) return [...plain, ...cased];
  return [
    ...plain,
    ...cased,
    `${cause(`**CAUSE: ${one.cause}**\n`)}**ANSWER: ${value}**`,
    `${cause(`CAUSE: \`${one.cause}\`\n`)}ANSWER: \`${value}\``,
    `${cause(`CAUSE: "${one.cause}".\n`)}ANSWER: "${value}"`,
    `${cause(`CAUSE: ${one.cause}.\n`)}ANSWER: ${value}${value.endsWith('.') ? '' : '.'}`,
    `${cause(`- CAUSE: **${one.cause}**\n`)}- ANSWER: **${value}**`,
  ];
}

describe('the pack', () => {
  test('has at least 36 tasks, five and more of each main kind, and an entry of the table for each', () => {
    expect(known.map((one) => one.id).toSorted()).toEqual(pack.tasks.map((task) => task.id).toSorted());
    expect(pack.tasks.length).toBeGreaterThanOrEqual(36);
    const countOf = (kind: string) => pack.tasks.filter((task) => task.id.startsWith(`${kind}-`)).length;
    const counts = ['exc', 'async', 'di', 'ef', 'null', 'build', 'conf'].map((kind) => [kind, countOf(kind)]);
    expect(counts.filter(([, count]) => Number(count) < 5)).toEqual([]);
  });

  test('asks no two tasks the same, names every file that lies in it, and stays small', () => {
    expect(new Set(pack.tasks.map((task) => task.instructionHash)).size).toBe(pack.tasks.length);
    const lying = readdirSync(packDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length + 1).toBe(lying.length);
    expect(bytes.length + files.reduce((sum, file) => sum + file.text.length, 0)).toBeLessThan(300_000);
  });

  test('is as large as its descriptions say', () => {
    for (const path of ['README.md', 'tasks/README.md', 'examples/dotnetdebug/README.md'])
      expect(readFileSync(join(root, path), 'utf8')).toContain(
        `${pack.tasks.length} ${path.startsWith('ex') ? 'small ' : ''}cases of .NET`,
      );
    const rows = readFileSync(join(exampleDir, 'README.md'), 'utf8').matchAll(
      /^\| ((?:`[a-z]+-`(?:, )?)+) \| (\d+) \|/gm,
    );
    const counted = [...rows].map(([, kinds = '', count]) => {
      const prefixes = [...kinds.matchAll(/[a-z]+-/g)].map(([prefix]) => prefix);
      return [kinds, Number(count), pack.tasks.filter((t) => prefixes.some((p) => t.id.startsWith(p))).length] as const;
    });
    expect(counted.reduce((sum, [, count]) => sum + count, 0)).toBe(pack.tasks.length);
    for (const [kinds, said, there] of counted) expect([kinds, said]).toEqual([kinds, there]);
  });

  test('runs no command, and looks at nothing but the lines of its answer form', () => {
    const checks = pack.tasks.flatMap((task) => task.checks);
    expect(new Set(checks.map((check) => check.after))).toEqual(new Set(['ANSWER:', 'CAUSE:']));
    expect(checks.filter((check) => check.kind === 'command')).toEqual([]);
  });

  test('lists every cause that it asks for, and asks for every cause that it lists', () => {
    const asked = new Set(known.flatMap((one) => one.cause ?? []));
    expect([...asked].toSorted()).toEqual(codes.toSorted());
    for (const [id, one, task] of tasks)
      expect([id, task.checks.some(looksAt('CAUSE:'))]).toEqual([id, one.cause !== null]);
  });
});

describe.each(tasks)('%s', (_id, one, task) => {
  const [first = ''] = one.right;

  test('takes every right answer in every form', () => {
    expect(one.right.length).toBeGreaterThan(0);
    const refused = one.right.flatMap((value) => writtenForms(one, value)).filter((text) => score(task, text) !== 1);
    expect(refused).toEqual([]);
  });

  test('refuses wrong answers', () => {
    expect(one.wrong.length).toBeGreaterThanOrEqual(3);
    for (const value of one.wrong) {
      const text = answerOf({ ...one, cause: null }, value);
      const taken = task.checks.filter(looksAt('ANSWER:')).filter((c) => c.kind !== 'command' && runCheck(c, text));
      // of JSON single fields may be right
      const bound = /^\{/.test(first) ? task.checks.length - 1 : 0;
      expect([value, taken.length <= bound, score(task, answerOf(one, value)) < 1]).toEqual([value, true, true]);
    }
  });

  test('refuses an empty answer, and what only mentions the right one', () => {
    const unmarked = [
      '',
      ' \n\n',
      'ANSWER:',
      `CAUSE:\nANSWER:`,
      first,
      `It is ${first}${one.cause === null ? '' : `, because of ${one.cause}`}.`,
      `The answer: ${first}\nThe cause: ${one.cause ?? 'none'}`,
      `My ANSWER: ${first}`,
      `ANSWER: see below\n${first}`,
      task.instruction,
      `${task.system}\n\n${task.instruction}`,
    ];
    // JSON may also follow on the next lines
    const isJson = /^[{[]/.test(first);
    expect(
      unmarked.filter((text) => !(isJson && text.startsWith('ANSWER: see below')) && score(task, text) > 0),
    ).toEqual([]);
  });

  test('refuses an answer that lists what it could be, or wraps it in words', () => {
    const rest = one.wrong.filter((value) => !value.includes(first));
    const all = [first, ...rest];
    const lists = [all.join(', '), all.join(' or '), all.toReversed().join(', '), `either ${all.join(' or ')}`];
    const words = [
      `I am not sure, but it may be ${first}, or else something like it`,
      `not ${first}`,
      `${first} is wrong`,
    ];
    const marked = [...lists, ...(/^[{[]/.test(first) ? [] : words)];
    expect(marked.filter((value) => score(task, answerOf({ ...one, cause: null }, value)) > 0)).toEqual([]);
  });
});

describe.each(tasks.filter(([, one]) => one.cause !== null))('%s', (_id, one, task) => {
  const [first = ''] = one.right;

  test('takes one cause, the right one, and answer and cause apart', () => {
    const withCause = (cause: string) => score(task, `CAUSE: ${cause}\nANSWER: ${first}`);
    const half = score(task, `ANSWER: ${first}`);
    expect([half > 0, half < 1]).toEqual([true, true]);
    const others = [...codes.filter((code) => code !== one.cause), codes.join(', '), `${one.cause} or ${codes[0]}`, ''];
    expect(others.filter((cause) => withCause(cause) !== half)).toEqual([]);
    const causeAlone = score(task, `CAUSE: ${one.cause}\nANSWER: `);
    expect([causeAlone > 0, causeAlone < 1]).toEqual([true, true]);
  });
});

describe('the seed skill', () => {
  const text = readFileSync(join(exampleDir, 'dotnetdebug/SKILL.md'), 'utf8');

  test('is valid, and nothing about it is odd', () => {
    const skill = readSkill(text);
    expect([skill.name, seedWarnings(skill, 'dotnetdebug')]).toEqual(['dotnetdebug', []]);
  });

  test('carries nothing of a task; a procedure may be added, an answer may not', async () => {
    const bare = text.slice(0, text.indexOf('# .NET'));
    const material = await leakMaterial(pack);
    const scan = leakScanner(material, bare);
    const append = (content: string) =>
      scan({ op: 'append_section', target: '', content, cites: [], reason: '' }, bare);
    expect(append(text.slice(bare.length))).toBeNull();
    const procedure = [
      '## How to go about it',
      'Read the innermost exception first. For services, write down the lifetime of each and who holds whom.',
      'Count queries one by one: a query is sent where its rows are asked for. Later sources of a setting win.',
      'Write the steps down, then end with CAUSE: and a code such as captive-dependency or n-plus-one, then ANSWER:.',
    ].join('\n');
    expect(append(procedure)).toBeNull();
    expect(append('See async-which-hangs for a window that hangs.')).not.toBeNull();
    expect(append('The date is 2025-04-28.')).not.toBeNull();
  });
});

describe('the configs', () => {
  const names = readdirSync(exampleDir).filter((name) => name.endsWith('.json'));

  test.each(names)('%s loads, and its skill and pack are the bundled ones', async (name) => {
    const config = loadConfig(join(exampleDir, name));
    expect([config.skill, config.pack, config.backend]).toEqual(['example:dotnetdebug', 'example:dotnetdebug', 'chat']);
    const place = new Place();
    writeExample('dotnetdebug', 'dotnetdebug', place.path('skill'));
    writeExample('dotnetdebug', 'tasks', place.path('pack'));
    expect(readSkill(place.read('skill/SKILL.md')).name).toBe('dotnetdebug');
    expect((await readPromptPack(place.path('pack'))).pack.hash).toBe(pack.hash);
  });

  test('there is one for a local model at one URL without a key, and one for Anthropic with a limit in dollars', () => {
    expect(names.toSorted()).toEqual(['skillopt.config.anthropic.json', 'skillopt.config.local.json']);
    const [anthropic, local] = names.toSorted().map((name) => loadConfig(join(exampleDir, name)));
    const url = { baseUrl: 'http://localhost:8000/v1' };
    expect([local?.model, local?.optimizer]).toMatchObject([url, url]);
    expect(JSON.stringify(local)).not.toContain('_API_KEY');
    expect(JSON.stringify([anthropic?.model, anthropic?.optimizer])).toMatch(/anthropic\/claude-.*anthropic\/claude-/);
    expect(anthropic?.limits.usd).toBeGreaterThan(0);
  });
});

test('the binary alone runs it: a model that knows the answers passes every task', async () => {
  const server = new ModelServer(({ turns }) => {
    const asked = turns[0]?.text ?? '';
    const found = tasks.find(([, , task]) => asked.includes(task.instruction.trim()));
    return { text: found === undefined ? 'No edit.' : answerOf(found[1], found[1].right[0] ?? '') };
  });
  const place = new Place();
  const config = readFileSync(join(exampleDir, 'skillopt.config.local.json'), 'utf8');
  await Bun.write(
    place.path('session/skillopt.config.json'),
    config.replaceAll('http://localhost:8000/v1', server.url),
  );
  const run = await place.succeed(['run', 'session']);
  expect(run.stdout).toMatch(/^baseline +selection 20\/20/m);
  expect(run.stdout).toMatch(/^baseline +train +(\d+)\/\1 /m);
  const seen = tasks.filter(([, , task]) =>
    server.asked.some((q) => q.turns[0]?.text.includes(task.instruction.trim())),
  );
  expect(seen.length).toBeGreaterThanOrEqual(36);
  const system = server.asked[0]?.system ?? '';
  expect([system.includes('sync-over-async'), system.includes('say what is wrong')]).toEqual([true, true]);
});
