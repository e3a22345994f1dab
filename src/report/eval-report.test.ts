import { describe, expect, test } from 'bun:test';
import { summaryOf } from '../cli/render-eval.ts';
import { evalFailurePoint } from '../events/eval-trouble.ts';
import { scored, unscored } from '../ports/outcome.ts';
import { unknownUsage } from '../ports/usage.ts';
import { type PlayEval, playEval } from '../session/eval-fixture.ts';
import { columns } from './columns.ts';
import { evalLines, evalReport, renderEval } from './eval-report.ts';
import { moneyText, percent } from './eval-words.ts';

const head = { lines: 3, hash: 'a'.repeat(32) };

async function reportOf(o: PlayEval) {
  const { state } = await playEval(o);
  const lines = evalLines(state, summaryOf(state));
  const line = (label: string) => lines.filter((l) => l.startsWith(label)).map((l) => l.replace(/\s{2,}/g, '  '));
  return { state, lines, line };
}

/** The skill passes these tasks, the agent alone those. */
const passing = (skill: readonly number[], none: readonly number[]): PlayEval => ({
  tasks: 8,
  chance: (arm, task) => ((arm === 'skill' ? skill : none).includes(Number(task.slice(5))) ? 1 : 0),
});

describe('the first line', () => {
  test('is the sentence that a person wants', async () => {
    const { line } = await reportOf(passing([0, 1, 2, 3], [0]));
    expect(line('result')).toEqual(['result  with it 4 of 8, without it 1 of 8']);
  });

  test('names another skill after those with and without it', async () => {
    const { line } = await reportOf({
      tasks: 2,
      arms: ['skill', 'other', 'no-skill'],
      chance: (arm) => (arm === 'other' ? 1 : 0),
    });
    expect(line('result')).toEqual(['result  with it 0 of 2, without it 0 of 2, with other 2 of 2']);
  });

  test('counts what could not be scored beside it', async () => {
    const { line } = await reportOf({
      ...passing([0, 1], []),
      outcome: (_key, task) => (task === 'task-0' ? unscored('verifier-timeout', 'too slow\nhere') : null),
    });
    expect(line('result')).toEqual(['result  with it 1 of 7 (1 unscored), without it 0 of 7 (1 unscored)']);
    expect(line('unscored')).toEqual(['unscored  6 verifier-timeout, such as task-0: too slow']);
    expect(line('against')[0]).toContain('won 1, lost 0, alike 6 of 7 tasks, 1 left out (unscored)');
    expect(line('task-0')).toEqual(['task-0  unscored  unscored']);
  });
});

const every = [0, 1, 2, 3, 4, 5, 6, 7];

describe('the comparison and the next step', () => {
  test.each([
    [[0, 1, 2, 3, 4], [], 'evidence 0.97 that it helps', /^next +make it better: skillopt run --help$/],
    [[], [0, 1, 2, 3, 4], 'evidence 0.97 that it hurts', /^next +read the trajectories of the tasks that it lost/],
    [every, [], 'evidence over 0.99 that it helps', /^next +make it better/],
    [[0], [], 'evidence 0.50 that it helps', /^next +so few changed tasks/],
    [[0], [1], 'no evidence either way', /^next +so few changed tasks/],
    [[], [], 'no evidence either way', /^next +nothing passes, whatever the arm: /],
    [every, every, 'no evidence either way', /^next +all passes, whatever the arm: bring harder tasks$/],
  ])('%j against %j', async (skill, none, evidence, next) => {
    const { line } = await reportOf(passing(skill, none));
    expect(line('against')[0]).toContain(evidence);
    expect(line('next')[0]).toMatch(next);
  });

  test('one arm alone asks for the one to compare with; what is spoiled comes first', async () => {
    expect((await reportOf({ arms: ['skill'] })).line('next')[0]).toContain('add --no-skill');
    expect((await reportOf({ infra: 1 })).line('next')[0]).toContain('mend what keeps rollouts from being scored');
  });

  test('one arm of which nothing could be scored is no matter of more tasks', async () => {
    const broken = {
      ...passing(every, []),
      outcome: (key: string) => (key.startsWith('none/') ? unscored('verifier-timeout', 'slow') : null),
    };
    const { line } = await reportOf(broken);
    expect(line('result')).toEqual(['result  with it 8 of 8, without it 0 of 0 (8 unscored)']);
    expect(line('next')[0]).toMatch(/^next {2}mend what keeps rollouts of no skill from being scored first, .* --out;/);
  });

  test('what only rounds to certainty is not shown as certain', async () => {
    const all = Array.from({ length: 12 }, (_, i) => i);
    const { line } = await reportOf({ ...passing(all, []), tasks: 12 });
    expect(line('against')[0]).toContain('evidence over 0.99 that it helps');
    expect([0, 0.004, 0.4, 0.996, 1].map(percent)).toEqual(['0 %', '<1 %', '40 %', '>99 %', '100 %']);
  });

  test('many attempts make no table that is wider than a screen', async () => {
    const { line } = await reportOf({ ...passing([0], []), tasks: 2, attempts: 20 });
    expect(line('of k attempts')[0]).toBe('of k attempts  k = 1  k = 2  k = 4  k = 8  k = 16  k = 20');
    expect(line('pass@k skill')[0]).toBe('pass@k skill  0.50  0.50  0.50  0.50  0.50  0.50');
  });
});

describe('where it first failed', () => {
  const spoiled = (n: number): PlayEval => ({
    tasks: 8,
    outcome: (_key, task) => (Number(task.slice(5)) < n ? unscored('verifier-timeout', 'too slow\nhere') : null),
  });

  test('stands in the report of one that could hardly be scored, with its line and what mends it', async () => {
    const { state, line, lines } = await reportOf(spoiled(5));
    const [said = ''] = line('failed at');
    expect(said).toMatch(/^failed at {2}task task-0: verifier-timeout: too slow \(line \d+ of the log\)$/);
    expect(state.firstUnscored?.line).toBe(Number(/line (\d+)/.exec(said)?.[1]));
    const created = state.created ?? expect.unreachable();
    const report = evalReport({ ...state, created }, summaryOf(state), { command: 'c', dir: 'd', head });
    expect(report.failure).toMatchObject({ where: 'task task-0', fix: report.next });
    expect(lines.at(-1)).toBe(`next        ${report.next}`);
  });

  test.each([0, 4])('with %i of 8 tasks spoiled there is none', async (n) => {
    expect((await reportOf(spoiled(n))).line('failed at')).toEqual([]);
  });

  test.each([
    [{ where: null, role: null }, null],
    [
      { where: '--limit-usd', role: null },
      { where: '--limit-usd', what: 'why', line: null },
    ],
    [
      { where: 'the model', role: 'rollouts' },
      { where: 'task t', what: 'auth: no', line: 7 },
    ],
  ] as const)('paused with %j: %j', async (paused, failure) => {
    const { state } = await playEval({});
    const trouble = { rollouts: { line: 7, where: 'task t', what: 'auth: no' }, optimizer: null };
    const held = { ...state, finished: false, paused: { why: 'why', fix: 'mend it', ...paused }, trouble };
    expect(evalFailurePoint(held, 'mend it')).toEqual(failure && { ...failure, fix: 'mend it' });
  });
});

test('what is unknown is no 0, and what a rollout did not tell makes the sums the least', async () => {
  const usage = { inputTokens: 300, outputTokens: 100, costUsd: 0.002, requests: 2 };
  const told = await reportOf({ ...passing([0], []), usage: () => usage });
  expect(told.line('skill')[0]).toMatch(/^skill {2}1\/8 {2}13 % .* 400 {2}\$0\.0020 {2}2\.0 {2}0\.00 s$/);
  expect(told.line('spent')[0]).toContain('16 rollouts · $0.032 · 6400 tokens');
  const none = await reportOf({ ...passing([0], []), usage: () => unknownUsage });
  expect(none.line('skill')[0]).toMatch(/\? {2}\? {2}\? {2}0\.00 s$/);
  expect(none.line('spent')[0]).toContain('cost unknown · tokens unknown');
  let n = 0;
  const some = await reportOf({ ...passing([0], []), usage: () => (n++ < 2 ? unknownUsage : usage) });
  // one of eight told nothing: the mean of the others over all eight is the least that it can be
  expect(some.line('skill')[0]).toContain('≥350  ≥$0.0018  ≥1.8');
  expect(some.line('spent')[0]).toContain('at least $0.028 · at least 5600 tokens');
});

test('where the description is measured, what can’t be told is not passed, and the skill is opened, not read', async () => {
  const o: PlayEval = { arms: ['skill'], tasks: 4, silent: ['task-0', 'task-1'] };
  const reads = [null, false, true, false];
  const { state } = await reportOf({
    ...o,
    outcome: (_key, task) => scored({ trigger: 1 }, 1, 1, { read: reads[Number(task.slice(5))] ?? null }),
  });
  const created = state.created!;
  const lines = (optimize: string) => {
    const now = { ...state, created: { ...created, config: { ...created.config, optimize } } };
    return evalLines(now, summaryOf(now)).join('\n');
  };
  expect(lines('body')).toMatch(/opened in 0 of 1, .*; 1 that can’t tell count by their checks alone$/m);
  expect(lines('body')).toMatch(/^arm .* read /m);
  expect(lines('description')).toMatch(/opened in 0 of 1, .*; 1 that can’t tell count as not passed$/m);
  expect(lines('description')).toMatch(/^arm .* opened /m);
});

test('a mean stands where rewards lie between 0 and 1', async () => {
  const soft = await reportOf({ tasks: 2, outcome: () => scored({ reward: 0.25 }, 0.25, 1, { read: null }) });
  expect(soft.line('arm')[0]).toContain('mean');
  expect(soft.line('skill')[0]).toMatch(/^skill {2}0\/2 {2}0 % .* 0\.250 {2}–/);
  expect(soft.line('task-0')).toEqual(['task-0  0/1 0.25  0/1 0.25']);
  expect((await reportOf({})).line('arm')[0]).not.toContain('mean');
});

test('the document holds the same lines, whatever a task is called or a machine has said', async () => {
  const { state, lines } = await reportOf({ infra: 1, outcome: () => unscored('environment', '```\nlog 1 lines') });
  const document = renderEval(state, summaryOf(state), head);
  expect(document.split('```')).toHaveLength(3);
  expect(document).toContain(lines[0] ?? '?');
  expect(document).toEndWith(`\nlog 3 lines, head ${'a'.repeat(32)}\n`);
});

test('columns are aligned by what is seen', () => {
  expect(
    columns([
      ['a', '', 'ü…'],
      ['bcd', '', 'x', 'y'],
    ]),
  ).toEqual(['a    ü…', 'bcd  x   y']);
});

test.each([
  [0, '$0'],
  [0.00042, '$0.00042'],
  [0.0123, '$0.012'],
  [0.1, '$0.10'],
  [12.345, '$12.35'],
])('%d dollars', (usd, text) => {
  expect(moneyText(usd)).toBe(text);
});
