import { describe, expect, test } from 'bun:test';
import { type Play, play } from '../session/session-fixture.ts';
import type { LoggedEvent } from './events.ts';
import { eventsOf, goldenLogs, pool, watch } from './played-fixture.ts';
import type { RunState } from './run-state.ts';

const texts = (state: RunState) => state.feed.map((f) => f.text);

function check(events: readonly LoggedEvent[]): RunState {
  let before = 0;
  const state = watch(events, {
    after: (event, { feed }) => {
      for (const f of feed.slice(before)) {
        expect(f.at).toBe(event.at);
        expect(f.text.trim()).not.toBe('');
        for (const line of [f.text, ...f.details]) expect(line).not.toMatch(/[\n\r]|undefined|null|NaN|Infinity/);
        for (const line of f.details) expect(line.trim()).not.toBe('');
      }
      before = feed.length;
    },
  });
  const count = (type: LoggedEvent['type']) => events.filter((e) => e.type === type).length;
  const of = (kind: string) => state.feed.filter((f) => f.kind === kind).length;
  expect(of('kept') + of('dropped')).toBe(count('screening.decided'));
  expect(of('skipped')).toBe(count('edit.rejected'));
  expect(
    state.feed.filter((f) => /^step \d+(?: \(slow update\))? (?:accepted|rejected|indecisive):/.test(f.text)).length,
  ).toBe(count('gate.decided'));
  expect(of('test')).toBe(count('finalize.started') + count('finalize.finished'));
  return state;
}

describe('the feed', () => {
  test.each(goldenLogs())('%s: one entry for each thing, none with a line break', (_name, events) => {
    const said = texts(check(events));
    expect(said.filter((t) => t.startsWith('baseline: ')).length).toBeGreaterThanOrEqual(2);
    expect(said.at(-1)).toMatch(/^sealed test: \d+\/\d+ with the result, /);
  });

  test('played sessions with rollouts that could not be scored', async () => {
    const base: Play = { world: { seed: 1, infra: 0.2 }, budget: 120, finalize: true };
    for (const seed of [1, 2, 3, 4, 5, 6])
      check(eventsOf((await play({ ...base, world: { seed, infra: 0.2 }, ...pool(`f${seed}`) })).log));
  });

  test('a rejection says why, where it stopped and what becomes of the draft', () => {
    const [, events] = goldenLogs().find(([name]) => name.includes('demo')) ?? ['', []];
    const rejections = check(events).feed.filter((f) => f.kind === 'reject');
    expect(rejections.map((f) => f.text)).toEqual([
      'step 2 rejected: a tie: no task changed; stopped after 4 of 16: could not win',
      'step 3 rejected: it lost as many tasks as it won; stopped after 7 of 16: could not win; the draft of 4 edits is dropped',
    ]);
  });

  test('what came in from outside is said in words', async () => {
    let first = true;
    const { state } = await play({
      world: { seed: 2 },
      budget: 90,
      inputs: (point) => {
        if (point === 'spent') return [];
        if (!first) return [];
        first = false;
        return [
          { kind: 'note', text: 'keep it\n short' },
          { kind: 'ban', text: 'curl' },
          { kind: 'budget.changed', rollouts: 95 },
          { kind: 'limits.changed', limits: { rollouts: 500, minutes: null } },
          { kind: 'limits.changed', limits: { rollouts: null, minutes: null } },
        ];
      },
    });
    expect(state.feed.filter((f) => f.kind === 'input').map((f) => f.text)).toEqual([
      'note: to the optimizer: keep it short',
      'ban: no edit may bring in “curl”',
      'budget: 95 rollouts from here on',
      'limits: 500 rollouts started from here on',
      'limits: none from here on',
    ]);
  });
});
