import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  clopperPearson,
  lowerBound,
  signFlipAtMost,
  signFlipP,
  signTestAtMost,
  signTestLeast,
  signTestP,
} from './stats.ts';

describe('sign test', () => {
  test.each([
    [8, 2, 0.0547],
    [2, 0, 0.25],
    [4, 1, 0.1875],
    [0, 0, 1],
    [1, 0, 0.5],
    [0, 3, 1],
  ])('%i wins, %i losses: p = %f', (wins, losses, p) => {
    expect(signTestP(wins, losses)).toBe(p);
  });

  test('levels are compared in integers: 2–0 is exactly 250/1000', () => {
    expect(signTestAtMost(2, 0, 250)).toBe(true);
    expect(signTestAtMost(2, 0, 249)).toBe(false);
  });

  test('the smallest accepted scores of each gate', () => {
    const least = (level: number, losses: number) => {
      let wins = losses + 1;
      while (!signTestAtMost(wins, losses, level)) wins++;
      return wins;
    };
    expect([0, 1, 2].map((l) => least(250, l))).toEqual([2, 4, 5]); // balanced, block 1
    expect([0, 1, 2, 3, 4].map((l) => least(350, l))).toEqual([2, 3, 4, 6, 7]); // balanced, pooled
    expect([0, 1, 2].map((l) => least(200, l))).toEqual([3, 4, 6]); // careful, block 1
    expect([0, 1, 2, 3].map((l) => least(250, l))).toEqual([2, 4, 5, 7]); // careful, pooled
  });
});

test('the fewest wins of a level, for every number of pairs', () => {
  for (const level of [10, 200, 250, 350, 500]) {
    const least = signTestLeast(90, level);
    for (const [pairs, wins] of least.entries()) {
      if (wins <= pairs) expect(signTestAtMost(wins, pairs - wins, level)).toBe(true);
      else expect(wins).toBe(pairs + 1);
      if (wins > 0) expect(signTestAtMost(wins - 1, pairs - wins + 1, level)).toBe(false);
    }
  }
});

describe('sign-flip test', () => {
  test('on differences of one size it is the sign test', () => {
    fc.assert(
      fc.property(fc.nat(9), fc.nat(9), (wins, losses) => {
        const differences = [...Array<number>(wins).fill(1000), ...Array<number>(losses).fill(-1000)];
        expect(signFlipP(differences)).toBe(signTestP(wins, losses));
      }),
    );
  });

  test('agrees with counting all patterns', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1000, max: 1000 }), { maxLength: 8 }),
        fc.nat(1000),
        (differences, level) => {
          const sizes = differences.filter((d) => d !== 0).map(Math.abs);
          const observed = differences.reduce((a, b) => a + b, 0);
          let hits = 0;
          for (let pattern = 0; pattern < 2 ** sizes.length; pattern++) {
            const sum = sizes.reduce((a, size, i) => a + ((pattern >> i) & 1 ? size : -size), 0);
            if (sum >= observed) hits++;
          }
          expect(signFlipAtMost(differences, level)).toBe(hits * 1000 <= level * 2 ** sizes.length);
        },
      ),
    );
  });
});

describe('intervals of a share', () => {
  test('values from the literature', () => {
    expect(lowerBound(8, 10, 0.05)).toBeCloseTo(0.4930986989, 8);
    expect(lowerBound(9, 14, 0.025)).toBeCloseTo(0.3513801106, 8);
    expect(1 - lowerBound(5, 14, 0.025)).toBeCloseTo(0.8724015701, 8);
    expect(clopperPearson(9, 14, 0.95)).toEqual([0.351, 0.872]);
  });

  test('nothing was scored: there is no interval', () => {
    expect(clopperPearson(0, 0, 0.95)).toBeNull();
  });

  test('holds the share, and is the mirror image for failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.nat(), (n, x) => {
        const k = x % (n + 1);
        const [low, high] = clopperPearson(k, n, 0.95) ?? [1, 0];
        const [mirrorLow, mirrorHigh] = clopperPearson(n - k, n, 0.95) ?? [1, 0];
        expect(low).toBeLessThanOrEqual(k / n);
        expect(high).toBeGreaterThanOrEqual(k / n);
        expect(mirrorLow).toBeCloseTo(1 - high, 6);
        expect(mirrorHigh).toBeCloseTo(1 - low, 6);
      }),
    );
  });
});
