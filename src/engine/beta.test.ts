import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { betaInterval, betaQuantile, tQuantile } from './beta.ts';
import { clopperPearson } from './stats.ts';

test('known values', () => {
  const [low, high] = betaInterval(9, 14, 0.95);
  expect(low).toBeCloseTo(0.3513801106, 9);
  expect(high).toBeCloseTo(0.8724015701, 9);
  expect(betaInterval(8, 10, 0.9)[0]).toBeCloseTo(0.4930986989, 9); // 95 % on one side
  expect(tQuantile(0.975, 7)).toBeCloseTo(2.3646242516, 9);
  expect(tQuantile(0.975, 1)).toBeCloseTo(Math.tan(Math.PI * 0.475), 9);
  expect(betaQuantile(0.3, 1, 1)).toBeCloseTo(0.3, 12);
});

test('none and all of n: one side is the closed form', () => {
  for (const n of [1, 2, 7, 40]) {
    expect(betaInterval(0, n, 0.95)[0]).toBe(0);
    expect(betaInterval(0, n, 0.95)[1]).toBeCloseTo(1 - 0.025 ** (1 / n), 10);
    expect(betaInterval(n, n, 0.95)[0]).toBeCloseTo(0.025 ** (1 / n), 10);
    expect(betaInterval(n, n, 0.95)[1]).toBe(1);
  }
});

test('on whole numbers it is the interval that counts binomial terms', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120 }), fc.nat(120), (n, any) => {
      const k = any % (n + 1);
      const [low, high] = betaInterval(k, n, 0.95);
      const exact = clopperPearson(k, n, 0.95)!;
      expect(low).toBeCloseTo(exact[0], 2);
      expect(Math.abs(low - exact[0])).toBeLessThanOrEqual(0.000501);
      expect(Math.abs(high - exact[1])).toBeLessThanOrEqual(0.000501);
    }),
  );
});

test('more of the same share makes it narrower', () => {
  const width = (n: number) => betaInterval(0.6 * n, n, 0.95)[1] - betaInterval(0.6 * n, n, 0.95)[0];
  for (let n = 3; n < 60; n += 0.7) expect(width(n + 0.7)).toBeLessThan(width(n));
});
