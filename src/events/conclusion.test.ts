import { describe, expect, test } from 'bun:test';
import { conclusion } from './conclusion.ts';
import type { LoggedEvent } from './events.ts';
import { Fold } from './fold.ts';
import type { Power } from './power.ts';
import type { RunState } from './run-state.ts';
import { failurePoint } from './trouble.ts';

type Some = { readonly type: LoggedEvent['type'] } & Record<string, unknown>;

const usage = { input: null, output: null, cacheRead: null, cacheWrite: null, reasoning: null, costUsd: null };

function folded(...events: readonly Some[]): RunState {
  const fold = new Fold({ feed: false });
  for (const [i, event] of events.entries())
    fold.add({ v: 1, seq: i + 1, at: '2026-01-01T00:00:00.000Z', prev: '', ...event } as unknown as LoggedEvent);
  return fold.state;
}

const finished = (task: string, reason: string | null): Some => ({
  type: 'rollout.finished',
  key: `${task}/x/e/1.0`,
  task,
  outcome:
    reason === null
      ? { status: 'scored', hard: 1, soft: 1, rewards: {}, read: true }
      : { status: 'unscored', reason, detail: `detail of ${task}\nmore` },
  usage,
});
const called = (problem: string | null): Some => ({
  type: 'model.called',
  role: 'optimizer',
  model: 'p/m',
  problem,
  usage,
});
const reflected = (round: number, detail: string | null): Some => ({
  type: 'reflection.finished',
  key: `reflection/${round}/x`,
  round,
  answer: detail === null ? { kind: 'proposal', proposal: { edits: [], summary: '' } } : { kind: 'unusable', detail },
  usage,
});
const paused = (more: object): Some => ({ type: 'session.paused', why: 'why', fix: 'fix', ...more });
const down = paused({ where: 'task z', role: 'rollouts' });

describe('where a run first failed', () => {
  test.each<[string, readonly Some[], object | null]>([
    ['nowhere, when its user stopped it', [finished('a', 'provider-error'), paused({})], null],
    [
      'at the first of those that went wrong in a row',
      [finished('a', 'x'), finished('b', null), finished('c', 'y'), finished('d', 'z'), down],
      { line: 3, where: 'task c', what: 'y: detail of c', fix: 'the fix' },
    ],
    [
      'at what the machinery failed at, and not at what nobody needed any more',
      [
        { type: 'rollout.started', key: 'k1', task: 'one', line: 'loop', ahead: false },
        { type: 'rollout.cancelled', key: 'k1', why: 'not needed any more' },
        { type: 'rollout.started', key: 'k2', task: 'two', line: 'loop', ahead: false },
        { type: 'rollout.cancelled', key: 'k2', why: 'the key was refused', failed: true },
        down,
      ],
      { line: 4, where: 'task two', what: 'the key was refused' },
    ],
    [
      'at the optimizer, where its work failed',
      [finished('a', 'x'), called(null), called('refused'), paused({ where: 'model p/m', role: 'optimizer' })],
      { line: 3, where: 'model p/m', what: 'refused' },
    ],
    [
      'at what the pause says, where it is the work of neither',
      [finished('a', 'x'), paused({ where: 'limits.usd' })],
      { line: null, where: 'limits.usd', what: 'why' },
    ],
    [
      'at the first reflection that could not be read',
      [reflected(1, null), reflected(2, 'no JSON\nmore'), reflected(3, 'b'), ended('optimizer-failed')],
      { line: 2, where: 'the reflection of round 2', what: 'no JSON' },
    ],
    [
      'at the first rollout of a broken measurement',
      [finished('a', 'verifier-crash'), ended('measurement-broken')],
      { line: 1, where: 'task a', what: 'verifier-crash: detail of a' },
    ],
    ['nowhere, when it ended well', [finished('a', 'x'), ended('budget')], null],
  ])('%s', (_name, events, expected) => {
    const point = failurePoint(folded(...events), 'the fix');
    if (expected === null) expect(point).toBeNull();
    else expect(point).toMatchObject(expected);
  });
});

function ended(cause: string, result = 'no-measurable-difference'): Some {
  const drawn = { consumed: [], seen: '', digest: '' };
  return { type: 'session.ended', cause, result, shipped: '', planned: 0, calls: 0, steps: 0, accepted: 0, ...drawn };
}

const refs = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `t${i}`, hash: '', instructionHash: '' }));
const splits: Some = { type: 'splits.fixed', train: refs(6), selection: refs(4), test: refs(5) };
const power = (enough: number | null): Power => ({
  kind: 'told',
  rule: 'balanced',
  tasks: 4,
  scored: 4,
  noise: 'assumed',
  neutral: 0.1,
  effects: [],
  half: null,
  likely: null,
  underpowered: true,
  enough,
});

describe('every end has one next step', () => {
  const next = (cause: string, result: string | undefined, p: Power | null, ...more: readonly Some[]) =>
    conclusion(folded(splits, ...more, ended(cause, result)), 'dir', p).next;

  test.each<[string, string, RegExp]>([
    ['ceiling', 'no-measurable-difference', /bring (harder|more selection) tasks/],
    ['plateau', 'no-measurable-difference', /try another optimizer/],
    ['completed', 'no-measurable-difference', /set search\.steps or search\.epochs higher .* skillopt fork dir$/],
    ['budget', 'no-measurable-difference', /raise the budget .* skillopt fork dir$/],
    ['limit', 'no-measurable-difference', /raise the limit/],
    ['stopped', 'no-measurable-difference', /./],
    ['plateau', 'not-confirmed', /add selection tasks/],
    ['plateau', 'improved', /^skillopt finalize dir/],
  ])('%s, %s', (cause, result, expected) => {
    expect(next(cause, result, null)).toMatch(expected);
  });

  test('an underpowered one says how many tasks would do, or that no number of them does', () => {
    expect(next('plateau', 'underpowered', power(12))).toMatch(
      /^bring about 12 selection tasks in place of 4 \(a pack of about 45 at these shares\)/,
    );
    expect(next('plateau', 'underpowered', power(null))).toMatch(/harder ones/);
  });

  test('a broken measurement says what broke, a failed optimizer what it said', () => {
    const broken = next('measurement-broken', undefined, null, finished('a', 'verifier-crash'));
    expect(broken).toBe('mend the measurement first (1 verifier-crash, such as a: detail of a)');
    expect(next('optimizer-failed', undefined, null, reflected(1, 'no JSON'))).toMatch(/\(it said: no JSON\)$/);
  });
});

test('an interval over several attempts a task says that it is too narrow', () => {
  const drawn = { consumed: [], seen: '', digest: '' };
  const arm = (name: string) => ({
    arm: name,
    skill: '',
    score: { passed: 6, scored: 10, of: 10, mean: 0.6 },
    interval: [0.26, 0.88],
    read: [0, 0],
  });
  const headline = (attempts: number) =>
    conclusion(
      folded(
        splits,
        ended('budget', 'improved'),
        { type: 'finalize.started', look: 1, attempts, arms: [], ...drawn },
        {
          type: 'finalize.finished',
          look: 1,
          complete: true,
          environmentChanged: null,
          arms: ['seed', 'result', 'no-skill'].map(arm),
          wins: 0,
          losses: 0,
          pairs: 5,
          tasks: [],
          ...drawn,
        },
      ),
      'dir',
      null,
    ).headline;
  expect(headline(1)).toEndWith('(opened once, 95 % interval 26 % to 88 %)');
  expect(headline(2)).toEndWith('26 % to 88 %, which is too narrow: 2 attempts a task count as so many tasks)');
});
