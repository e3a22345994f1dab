import { expect, test } from 'bun:test';
import { essence, type Play, play, randomLatency } from './session-fixture.ts';
import { Slots } from './slots.ts';
import { VirtualClock } from './virtual-clock-fixture.ts';

const base: Play = { world: { seed: 9, infra: 0.1 }, budget: 90, workers: 8, optimizerMs: 0 };

test('gives out as many as there are, and tells those who wait, once each, when one comes back', () => {
  const slots = new Slots(2);
  expect([slots.take(), slots.take(), slots.take()]).toEqual([true, true, false]);
  const heard: string[] = [];
  const a = () => heard.push('a');
  const b = () => heard.push('b');
  slots.onFree(a);
  slots.onFree(b);
  slots.onFree(a);
  slots.give();
  expect(heard).toEqual(['a', 'b']);
  slots.give();
  expect(heard).toEqual(['a', 'b']);
});

test('sessions that share workers decide as they do alone, and never use more than there are', async () => {
  const seeds = [9, 10, 11, 12];
  const alone = await Promise.all(seeds.map((seed) => play({ ...base, world: { seed, infra: 0.1 } })));
  const slots = new Slots(3);
  const clock = new VirtualClock();
  let most = 0;
  let now = 0;
  const together = seeds.map((seed) =>
    play({
      ...base,
      world: { seed, infra: 0.1 },
      slots,
      clock,
      latency: randomLatency(`s${seed}`),
      onWork: (more) => {
        now += more;
        most = Math.max(most, now);
      },
    }),
  );
  const got = await clock.drive(Promise.all(together));
  expect(got.map(essence)).toEqual(alone.map(essence));
  expect(most).toBe(3);
});
