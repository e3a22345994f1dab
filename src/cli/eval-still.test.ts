import { expect, test } from 'bun:test';
import type { LoggedEvent } from '../events/events.ts';
import { EvalStill } from './eval-still.ts';

const event = (type: string, task: string) => ({ type, key: `k/${task}`, task }) as unknown as LoggedEvent;

test('a line is due after 15 s of quiet, then ever more rarely, and names what runs', () => {
  const still = new EvalStill(0);
  expect(still.due(100_000)).toBeNull(); // nothing runs
  still.note(event('rollout.started', 'one'), 100_000);
  still.told(100_000);
  expect(still.due(114_999)).toBeNull();
  expect(still.due(115_000)).toBe('still       1 rollout runs, for 15 s: one');
  expect(still.due(144_999)).toBeNull();
  still.note(event('rollout.started', 'two'), 140_000);
  expect(still.due(145_000)).toBe('still       2 rollouts run, the longest for 45 s: one, two');
  still.note(event('rollout.finished', 'one'), 146_000);
  still.told(146_000);
  expect(still.due(161_000)).toBe('still       1 rollout runs, for 21 s: two');
  for (const type of ['rollout.cancelled', 'rollout.lost']) {
    still.note(event(type, 'two'), 162_000);
    expect(still.due(1_000_000)).toBeNull();
    still.note(event('rollout.started', 'two'), 1_000_000);
  }
});
