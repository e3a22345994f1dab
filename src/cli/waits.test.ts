import { expect, test } from 'bun:test';
import { Waits, waitText } from './waits.ts';

const wait = (ms: number, why = 'too many requests', n = 2) => ({ why, n, of: 5, ms });

test('the longest wait is told with what is left of it, until its time has passed', () => {
  let nowMs = 0;
  const waits = new Waits(() => nowMs);
  expect(waits.text).toBe('');
  expect(waits.add(wait(12_000))).toBe(true);
  expect(waits.add(wait(3_000, 'the server failed', 4))).toBe(true);
  expect(waits.text).toBe('12 s: too many requests, try 2 of 5');
  nowMs = 4_500;
  expect(waits.text).toBe('8 s: too many requests, try 2 of 5');
  waits.add(wait(20_000, 'no connection', 3));
  expect(waits.text).toBe('20 s: no connection, try 3 of 5');
  nowMs = 24_500;
  expect(waits.text).toBe('');
});

test('a wait of less than a second is passed over', () => {
  const waits = new Waits(() => 0);
  expect(waits.add(wait(999))).toBe(false);
  expect(waits.text).toBe('');
  expect(waitText(wait(1_200))).toBe('2 s: too many requests, try 2 of 5');
});
