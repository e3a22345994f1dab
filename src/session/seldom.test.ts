import { expect, test } from 'bun:test';
import { Seldom } from './seldom.ts';

/** Counts, and tells who waits for it. */
function counted(everyMs: number, work: (n: number) => void = () => {}) {
  let waiting: (() => void) | null = null;
  const made = {
    count: 0,
    next: () => new Promise<void>((resolve) => (waiting = resolve)),
    seldom: new Seldom(() => {
      made.count++;
      waiting?.();
      work(made.count);
    }, everyMs),
  };
  return made;
}

test('what is asked for is done at once, and what is asked for soon after it once, later', async () => {
  const made = counted(20);
  made.seldom.ask();
  expect(made.count).toBe(1);
  const next = made.next();
  for (let n = 0; n < 10; n++) made.seldom.ask();
  expect(made.count).toBe(1);
  await next;
  expect(made.count).toBe(2);
});

test('what is wanted now is done now, for all that asked before', () => {
  const made = counted(1_000_000);
  for (let n = 0; n < 3; n++) made.seldom.ask();
  made.seldom.now();
  made.seldom.now();
  made.seldom.ask();
  made.seldom.stop();
  expect(made.count).toBe(3);
});

test('what goes wrong is heard: on the spot, or by whoever asks next', async () => {
  const made = counted(20, (n) => {
    if (n > 1) throw new Error(`${n}`);
  });
  made.seldom.ask();
  const next = made.next();
  made.seldom.ask();
  await next;
  await new Promise(setImmediate);
  expect(() => made.seldom.ask()).toThrow('2');
  expect(() => made.seldom.now()).toThrow('3');
});
