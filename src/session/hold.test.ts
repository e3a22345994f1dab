import { describe, expect, test } from 'bun:test';
import { readText } from '../journal/journal.ts';
import { Hold } from './hold.ts';
import { essence, type Play, play } from './session-fixture.ts';

describe('a hold', () => {
  test('its clock stands still while it is held', () => {
    let now = 100;
    const hold = new Hold(() => now);
    now = 150;
    expect(hold.runningMs).toBe(150);
    hold.hold();
    now = 400;
    hold.hold();
    expect(hold.runningMs).toBe(150);
    hold.release();
    now = 410;
    expect(hold.runningMs).toBe(160);
  });

  test('lets nobody wait who need not, and everybody go at the release or at the signal', async () => {
    const hold = new Hold();
    await hold.open(new AbortController().signal);
    hold.hold();
    const stop = new AbortController();
    const went: string[] = [];
    const a = hold.open(new AbortController().signal).then(() => went.push('released'));
    const b = hold.open(stop.signal).then(() => went.push('stopped'));
    stop.abort();
    await b;
    expect(went).toEqual(['stopped']);
    hold.release();
    await a;
    expect(went).toEqual(['stopped', 'released']);
  });
});

describe('a session that is paused on the way', () => {
  const base: Play = { world: { seed: 3 }, budget: 90, workers: 4, latency: () => 10, optimizerMs: 5, finalize: true };

  test.each([1, 20, 60, 100])(
    'after %d lines: starts nothing until it goes on, and comes to the same result',
    async (after) => {
      const want = essence(await play(base));
      const hold = new Hold();
      let lines = 0;
      let startedHeld = 0;
      const got = await play({
        ...base,
        hold,
        beforeWrite: (line) => {
          lines++;
          if (hold.isHeld && /"type":"(rollout|reflection)\.started"/.test(line)) startedHeld++;
          if (lines !== after) return;
          hold.hold();
          setTimeout(() => {
            hold.release();
          }, 20);
        },
      });
      expect(startedHeld).toBe(0);
      expect(essence(got)).toEqual(want);
      expect(readText(got.log).lines.length).toBeGreaterThan(after);
    },
  );
});
