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
const whole: readonly Sample[] = [
  started,
  { ...started, line: 'finalize', ahead: true },
  finished,
  { ...finished, trajectory: 'f00', outcome: { ...scored, hard: 0, read: true, agentTimedOut: true } },
  { ...finished, outcome: { status: 'unscored', reason: 'tampered', detail: '' }, exit: 'timeout', versions: {} },
];

test('the events that fill a log are known at once', () => {
  expect(whole.map(isPlainlyEvent)).toEqual(whole.map(() => true));
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
    { numRuns: 5000 },
  );
});
