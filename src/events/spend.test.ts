import { expect, test } from 'bun:test';
import { noUsage, unknownUsage } from '../ports/usage.ts';
import { SpendSum } from './spend.ts';

const used = { inputTokens: 9, outputTokens: 1, costUsd: 0.5, requests: 1 };

test('what nobody knows is counted apart, and the sums are the least that was spent', () => {
  const sum = new SpendSum();
  expect(sum.spent).toEqual({ tokens: 0, costUsd: 0 });
  sum.add(noUsage);
  expect(sum.spent).toEqual({ tokens: 0, costUsd: 0 });
  sum.add(unknownUsage);
  expect(sum.spent).toEqual({ tokens: null, costUsd: null });
  sum.add(used);
  expect([sum.spent, sum.uncounted]).toEqual([{ tokens: 10, costUsd: 0.5 }, 1]);
  sum.add({ ...unknownUsage, inputTokens: 7, requests: 1 }); // a stream that broke off has told what went in
  expect([sum.spent, sum.uncounted]).toEqual([{ tokens: 10, costUsd: 0.5 }, 2]);
});

test('a model without a price makes the cost unknown for good', () => {
  const sum = new SpendSum();
  sum.add(used);
  sum.add({ ...used, costUsd: null });
  sum.add(used);
  expect([sum.spent, sum.uncounted]).toEqual([{ tokens: 30, costUsd: null }, 0]);
});
