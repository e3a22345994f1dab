import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { waitUntil } from '../process/wait.ts';
import { WaitClock } from './wait-clock.ts';

/** What begins or ends, and the time that passes after it. */
const step = fc.record({
  what: fc.constantFrom('wait', 'stop waiting', 'answer', 'stop answering', 'listen'),
  ms: fc.nat({ max: 50 }),
});

test('time is added while somebody waits and nobody is answered, and all of it is told', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      let now = 0;
      let expected = 0;
      let told = 0;
      let untold = 0;
      const clock = new WaitClock(() => now);
      const waits: (() => void)[] = [];
      const answers: (() => void)[] = [];
      let isHeard = false;
      for (const { what, ms } of steps) {
        if (what === 'wait') {
          const { promise, resolve } = Promise.withResolvers<void>();
          void clock.during('why', promise);
          waits.push(resolve);
        } else if (what === 'stop waiting') waits.pop()?.();
        else if (what === 'answer') answers.push(clock.answering());
        else if (what === 'stop answering') answers.pop()?.();
        else if (!isHeard) {
          clock.onWait((heard) => {
            told += heard;
          });
          isHeard = true;
        }
        // what has been settled is noticed before time goes on
        await Promise.resolve();
        await Promise.resolve();
        now += ms;
        const counts = waits.length > 0 && answers.length === 0;
        if (counts) expected += ms;
        if (counts && !isHeard) untold += ms;
        expect(clock.totalMs).toBe(expected);
      }
      for (const end of [...waits, ...answers]) end();
      await Promise.resolve();
      await Promise.resolve();
      if (isHeard) expect(told).toBe(expected - untold);
      expect(clock.totalMs).toBe(expected);
    }),
  );
});

test('a wait is told while it is on', async () => {
  const clock = new WaitClock();
  const heard: string[] = [];
  clock.onWait((_ms, why) => heard.push(why));
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = clock.during('too many requests', promise);
  expect(await waitUntil(() => heard.length >= 2, 10_000)).toBe(true);
  resolve();
  await waiting;
  expect(new Set(heard)).toEqual(new Set(['too many requests']));
});

test('ends with what it waited for', async () => {
  const clock = new WaitClock();
  expect(await clock.during('x', Promise.resolve(7))).toBe(7);
  const failed = await clock.during('x', Promise.reject(new Error('no'))).catch((error: Error) => error.message);
  expect(failed).toBe('no');
});
