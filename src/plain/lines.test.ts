import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedEvent } from '../events/events.ts';
import { Fold } from '../events/fold.ts';
import { readText } from '../journal/journal.ts';
import { PlainLines } from './lines.ts';

const demo = readText(
  readFileSync(join(import.meta.dir, '..', 'session', 'golden', 'loop-1-demo.jsonl'), 'utf8'),
).lines;
const startMs = Date.parse('2030-01-01T10:00:00.000Z');

/** The lines of the demo when its events came at these seconds. */
function lines(seconds: (index: number) => number, upTo = demo.length): readonly string[] {
  const fold = new Fold();
  const plain = new PlainLines(() => null);
  return demo.slice(0, upTo).flatMap(({ event }, i) => {
    const timed: LoggedEvent = { ...event, at: new Date(startMs + seconds(i) * 1000).toISOString() };
    fold.add(timed);
    return plain.after(timed, fold.state);
  });
}

const counters = (said: readonly string[]) =>
  said.flatMap((l) => {
    const found = l.match(/ · (\d+) of 400 rollouts$/);
    return found ? [Number(found[1])] : [];
  });

describe('counters', () => {
  test('baseline, every step and the first line of every round end in one', () => {
    const said = lines(() => 0);
    const first = new Map<string, string>();
    for (const l of said) {
      const round = l.match(/^ {2}round (\d+)/)?.[1];
      if (round && !first.has(round)) first.set(round, l);
    }
    expect(first.size).toBeGreaterThan(5);
    const counting = said.filter((l) => / · \d+ of 400 rollouts$/.test(l));
    expect(counting).toEqual(said.filter((l) => /^(baseline|step) /.test(l) || [...first.values()].includes(l)));
    expect(counters(said)[0]).toBe(8);
    expect(counters(said)).toEqual([...counters(said)].sort((a, b) => a - b));
  });
});

test('what one gate can tell stands below the baseline on selection, once', () => {
  const fold = new Fold();
  const plain = new PlainLines((state) => ({ kind: 'untold', why: `${state.tasks.selection.length} tasks` }));
  const said = demo.flatMap(({ event }) => {
    fold.add(event);
    return plain.after(event, fold.state);
  });
  const at = said.findIndex((l) => l.startsWith('power '));
  expect(said[at]).toBe('power       not told: 8 tasks');
  expect(said[at - 1]).toMatch(/^baseline {4}selection 2\/8 · 8 of 400 rollouts$/);
  expect(said.filter((l) => l.startsWith('power '))).toHaveLength(1);
});

test('a gate that changed many tasks names some of them', () => {
  const fold = new Fold();
  const plain = new PlainLines(() => null);
  const at = demo.findIndex(({ event }) => event.type === 'gate.decided');
  for (const { event } of demo.slice(0, at + 1)) fold.add(event);
  const [step] = fold.state.steps;
  const [pair] = step!.tasks;
  const tasks = Array.from({ length: 40 }, (_, i) => ({ ...pair!, task: `task-${i}`, before: 0, after: 1 }));
  const said = plain.after(demo[at]!.event, { ...fold.state, steps: [{ ...step!, tasks }] });
  expect(said.at(-1)).toMatch(/^ +won task-0, .*task-9 and 30 more$/);
});

describe('a long silence', () => {
  const quiet = (said: readonly string[]) => said.filter((l) => l.startsWith('rollouts '));

  test('none, while lines come often enough', () => {
    expect(quiet(lines((i) => i / 100))).toEqual([]);
  });

  test('the next finished rollout says how far it is, at most every ten seconds', () => {
    const said = quiet(lines((i) => i));
    expect(said.length).toBeGreaterThan(10);
    expect(said.length).toBeLessThan(demo.length / 10);
    for (const l of said)
      expect(l).toMatch(
        /^rollouts {4}\d+ of (400 · \d+ (s|min) · (at most|about)|24 of the sealed test · \d+ (s|min) · about) (\d+ (s|min)|\d+ h \d\d min) left$/,
      );
    expect(said.some((l) => l.includes('of the sealed test'))).toBe(true);
  });

  test('a clock that is set back starts the wait anew', () => {
    const at = demo.findIndex(({ event }) => event.type === 'rollout.finished');
    expect(at).toBeGreaterThan(0);
    const back = (i: number) => (i < at ? 5000 + i : i - at);
    const said = quiet(lines(back, at + 40));
    expect(said.length).toBeGreaterThan(0);
    expect(said.length).toBeLessThanOrEqual(4);
  });
});

describe('while nothing comes at all', () => {
  const upTo = (type: LoggedEvent['type']) => {
    const at = demo.findIndex(({ event }) => event.type === type);
    const fold = new Fold();
    const plain = new PlainLines(() => null);
    for (const { event } of demo.slice(0, at + 1)) {
      const timed: LoggedEvent = { ...event, at: new Date(startMs).toISOString() };
      fold.add(timed);
      plain.after(timed, fold.state);
    }
    return (second: number) => plain.still(fold.state, startMs + second * 1000);
  };

  test('what is at work is told, ever less often', () => {
    const still = upTo('rollout.started');
    const said = Array.from({ length: 1_000 }, (_, second) => ({ second, lines: still(second) }));
    expect(said.filter((s) => s.lines.length > 0).map((s) => s.second)).toEqual([
      15, 45, 105, 225, 345, 465, 585, 705, 825, 945,
    ]);
    expect(said[15]?.lines).toEqual([expect.stringMatching(/^still {7}0 of 400 rollouts · at work: \S+ 15 s$/)]);
  });

  test('the optimizer is told with what it reads', () => {
    const fold = new Fold();
    const plain = new PlainLines(() => null);
    const at = new Date(startMs).toISOString();
    const round = { key: 'reflection/1', round: 1, failing: 6 };
    const event: LoggedEvent = { v: 1, seq: 9, at, prev: '', type: 'reflection.started', ...round };
    fold.add(event);
    plain.after(event, fold.state);
    expect(plain.still(fold.state, startMs + 20_000)).toEqual(['still       the optimizer reads 6 failing runs, 20 s']);
  });

  test('nothing is told when nothing is at work', () => {
    expect(upTo('session.created')(100)).toEqual([]);
    expect(new PlainLines(() => null).still(new Fold().state, startMs)).toEqual([]);
  });
});

test('what goes on says what that costs', () => {
  const fold = new Fold();
  const plain = new PlainLines(() => null);
  const half = demo.slice(0, 200);
  for (const { event } of half) fold.add(event);
  const last = half.at(-1)?.event;
  const bounds = { budget: 500, limits: { rollouts: null, minutes: null } };
  const resumed = { v: 1, seq: 201, at: last?.at ?? '', prev: '', type: 'session.resumed', program: '1' } as const;
  const event: LoggedEvent = { ...resumed, file: bounds, wanted: bounds };
  fold.add(event);
  const [first, second] = plain.after(event, fold.state);
  expect(first).toMatch(
    /^resumed {5}session [0-9a-f]+ after \d+ finished rollouts, step \d; what finished is not performed again$/,
  );
  const left = Number(second?.match(/^ {12}continuing costs at most about \d+ s, (\d+) rollouts, no model cost$/)?.[1]);
  expect(left).toBeGreaterThan(300);
  expect(left + fold.state.rollouts.finished).toBeLessThan(520);
});
