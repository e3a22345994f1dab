import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { eventShape } from './events.ts';
import { isPlainlyEvent } from './quick-shape.ts';

type Sample = { readonly type: string; readonly [field: string]: unknown };
const started: Sample = { type: 'rollout.started', key: 'a/b/c/0.0', task: 't', line: 'loop', ahead: false };
const scored = { status: 'scored', hard: 1, soft: 0.5, rewards: { reward: 0.5, style: -2 }, read: null };
const usage = { inputTokens: 3, outputTokens: null, costUsd: 0.25, requests: 0 };
const finished: Sample = {
  type: 'rollout.finished',
  key: 'a/b/c/0.0',
  task: 't',
  outcome: scored,
  trajectory: null,
  usage,
  exit: 'finished',
  durationMs: 12.5,
  versions: { oracle: '1' },
};
const drawn = { consumed: ['a/b/c/0.0', 'reflection/1/e'], seen: '1p', digest: 'd' };
const edit = { op: 'insert_after', target: '- one', content: '- two', cites: ['t'], reason: 'why' };
const score = { passed: 1, scored: 2, of: 3, mean: 0.5 };
const reflected: Sample = {
  type: 'reflection.finished',
  key: 'reflection/1/e',
  round: 1,
  atMost: 8,
  shown: ['a/b/c/0.0'],
  answer: { kind: 'proposal', proposal: { edits: [edit], summary: 's' } },
  usage,
  durationMs: 0,
};
const many: readonly Sample[] = [
  { type: 'evaluation.started', what: 'loop', skill: 'a', rollouts: 3 },
  { type: 'reflection.started', key: 'reflection/1/e', round: 1, failing: 0 },
  reflected,
  { ...reflected, answer: { kind: 'unusable', detail: 'd' } },
  {
    type: 'evaluation.finished',
    split: 'open',
    why: 'w',
    skill: 'a',
    score: { ...score, mean: null },
    tasks: [
      ['t', 1],
      ['u', null],
    ],
    ...drawn,
  },
  { type: 'edit.rejected', round: 1, index: null, edit: null, reason: 'none-offered', detail: '', ...drawn },
  { type: 'edit.rejected', round: 1, index: 3, edit: 'e', reason: 'target-missing', detail: 'd', ...drawn },
  {
    type: 'screening.decided',
    round: 1,
    index: 0,
    edit: 'e',
    task: null,
    passed: null,
    kept: true,
    points: -1,
    draft: 'a',
    draftSize: 1,
    ...drawn,
  },
  {
    type: 'gate.decided',
    step: 1,
    rounds: 2,
    rule: 'balanced',
    metric: 'mixed',
    edits: ['e'],
    tried: 1,
    incumbent: 'a',
    candidate: 'b',
    gateAction: 'accept',
    why: 'w',
    wins: 1,
    losses: 0,
    pairs: 1,
    of: 2,
    confidence: 0.5,
    selection: { incumbent: score, candidate: score },
    tasks: [{ task: 't', block: 0, before: null, after: 0.5 }],
    draftDropped: false,
    ...drawn,
  },
];
const whole: readonly Sample[] = [
  ...many,
  started,
  { ...started, line: 'finalize', ahead: true },
  finished,
  { ...finished, trajectory: 'f00', outcome: { ...scored, hard: 0, read: true, agentTimedOut: true } },
  { ...finished, outcome: { status: 'unscored', reason: 'tampered', detail: '' }, exit: 'timeout', versions: {} },
];

test('the events that fill a log are known at once', () => {
  expect(whole.filter((event) => !isPlainlyEvent(event))).toEqual([]);
  expect(whole.filter((event) => !eventShape.safeParse(event).success)).toEqual([]);
});

/** Every place in a value: the path to each field of each object. */
function paths(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, held]) => paths(held, [...at, name]))].filter(
    (path) => path.length > 0,
  );
}

/** The value with another one, or nothing, at a place. */
function changed(value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown {
  if (name === undefined) return to;
  if (Array.isArray(value))
    return value.flatMap((held, at) =>
      String(at) !== name ? [held] : rest.length === 0 && to === gone ? [] : [changed(held, rest, to)],
    );
  const { [name]: held, ...others } = value as Record<string, unknown>;
  if (rest.length === 0 && to === gone) return others;
  return { ...others, [name]: changed(held, rest, to) };
}
const gone = Symbol('gone');

test('what is taken at once is taken by the shape', () => {
  const anything = fc.oneof(
    fc.constantFrom(gone, null, undefined, -1, 0, 1, 2, 0.5, 1e16, Number.NaN, Number.POSITIVE_INFINITY, '', 'x', true),
    fc.constantFrom([], {}, { x: 1 }, { x: 'y' }, ['finished'], false, 'scored', 'unscored', 'timeout', 'confirmation'),
    fc.anything(),
  );
  const place = fc
    .constantFrom(...whole)
    .chain((event) => fc.tuple(fc.constant(event), fc.constantFrom(...paths(event))));
  fc.assert(
    fc.property(place, anything, ([event, path], to) => {
      const other = changed(event, path, to) as { readonly type: string };
      if (isPlainlyEvent(other)) expect(eventShape.safeParse(other).success).toBe(true);
    }),
    { numRuns: 20_000 },
  );
});
