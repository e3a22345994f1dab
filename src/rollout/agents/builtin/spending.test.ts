import { describe, expect, test } from 'bun:test';
import type { AgentLimits } from '../../../config/agent.ts';
import { type Usage, unknownUsage } from '../../../ports/usage.ts';
import { noLimits } from './builtin-fixture.ts';
import { DEFAULT_REQUESTS, Spending } from './spending.ts';

const spendingOf = (limits: Partial<AgentLimits>, ...all: readonly Usage[]) => {
  const spending = new Spending({ ...noLimits, ...limits }, 'p/m');
  for (const usage of all) spending.replied(usage);
  return spending;
};
const told: Usage = { inputTokens: 90, outputTokens: 10, costUsd: 0.5, requests: 1 };

describe('what a rollout spends', () => {
  test('ends at as many requests as it may make, 50 where nothing is said', () => {
    expect(spendingOf({ requests: 2 }, told).reached()).toBeNull();
    expect(spendingOf({ requests: 2 }, told, told).reached()).toContain('2 requests');
    const many = (n: number) => spendingOf({}, ...Array.from({ length: n }, () => told));
    expect(many(DEFAULT_REQUESTS - 1).reached()).toBeNull();
    expect(many(DEFAULT_REQUESTS).reached()).toContain('50 requests');
  });

  test('counts no request that gave no answer as a turn', () => {
    const spending = spendingOf({ requests: 2 }, told);
    spending.add(told);
    expect(spending.reached()).toBeNull();
    expect(spending.usage).toEqual({ inputTokens: 180, outputTokens: 20, costUsd: 1, requests: 2 });
  });

  test('ends at its tokens and at its money', () => {
    expect(spendingOf({ tokens: 201 }, told, told).reached()).toBeNull();
    expect(spendingOf({ tokens: 200 }, told, told).reached()).toContain('200 tokens');
    expect(spendingOf({ usd: 1.01 }, told, told).reached()).toBeNull();
    expect(spendingOf({ usd: 1 }, told, told).reached()).toContain('$1');
  });

  test('takes what is unknown for the dearest, and says in the sum that it is unknown', () => {
    const spending = spendingOf({ tokens: 300 }, told, unknownUsage);
    expect(spending.reached()).toBeNull();
    spending.replied(unknownUsage);
    expect(spending.reached()).toContain('tokens');
    expect(spending.usage).toEqual({ inputTokens: null, outputTokens: null, costUsd: null, requests: null });
  });

  test('can’t hold a limit by what is never told', () => {
    const silent = [unknownUsage, unknownUsage, unknownUsage];
    expect(spendingOf({ tokens: 1 }, ...silent.slice(1)).unheld()).toBeNull();
    expect(spendingOf({ tokens: 1 }, ...silent).unheld()?.failure).toMatchObject({
      code: 'config',
      where: 'agentLimits.tokens',
    });
    expect(spendingOf({ usd: 1 }, ...silent).unheld()?.failure.where).toBe('agentLimits.usd');
    expect(spendingOf({ usd: 9 }, ...silent, told).unheld()).toBeNull();
    expect(spendingOf({}, ...silent).unheld()).toBeNull();
  });
});
