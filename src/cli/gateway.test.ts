import { describe, expect, test } from 'bun:test';
import { roomOf } from './gateway.ts';

const onCounted = () => {};

describe('what is left for rollouts at a gateway', () => {
  test('is what the limits leave of what was spent, never less than nothing', () => {
    let spent = { usd: 1, tokens: 100 };
    const room = roomOf({
      limits: { rollouts: null, minutes: null, usd: 3, tokens: 150 },
      spent: () => spent,
      onCounted,
    });
    expect(room?.left()).toEqual({ usd: 2, tokens: 50 });
    spent = { usd: 4, tokens: 120 };
    expect(room?.left()).toEqual({ usd: 0, tokens: 30 });
    const tokens = roomOf({ limits: { rollouts: null, minutes: null, tokens: 150 }, spent: () => spent, onCounted });
    expect(tokens?.left()).toEqual({ usd: null, tokens: 30 });
    expect(roomOf({ limits: { rollouts: 5, minutes: null }, spent: () => spent, onCounted })).toBeNull();
  });

  test('counts a rollout when the log has it, and a run of the agent as optimizer', () => {
    let tell: (key: string) => void = () => {};
    const room = roomOf({
      limits: { rollouts: null, minutes: null, usd: 3 },
      spent: () => ({ usd: 0, tokens: 0 }),
      onCounted: (listener: (key: string) => void) => {
        tell = listener;
      },
    });
    expect(room?.counts('skill/task/env/1.0')).toBe(false);
    tell('skill/task/env/1.0');
    expect(room?.counts('skill/task/env/1.0')).toBe(true);
    expect(room?.counts('skill/task/env/2.0')).toBe(false);
    expect(room?.counts('reflection/3/abc/0.1')).toBe(false);
    tell('reflection/3/abc/0.1');
    expect(room?.counts('reflection/3/abc/0.1')).toBe(true);
    expect(room?.counts('reflection/3/abc/0.2')).toBe(false);
  });
});
