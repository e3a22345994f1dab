import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type TokenCounts, unknownCounts } from '../ports/gateway.ts';
import { addUsage, noUsage } from '../ports/usage.ts';
import { type Meter, Spend } from './spend.ts';

const costUsd = ({ inputTokens, outputTokens }: TokenCounts) =>
  inputTokens === null || outputTokens === null ? null : inputTokens + 10 * outputTokens;
const meter = (inputTokens: number | null, outputTokens: number | null, more: Partial<Meter> = {}): Meter => ({
  counts: { ...unknownCounts, inputTokens, outputTokens },
  charsIn: 0,
  charsOut: 0,
  beyondTokens: false,
  ...more,
});

describe('what a rollout has spent', () => {
  test('has what is under way in it, and what is not told as unknown', () => {
    const spend = new Spend({ costUsd });
    const end = spend.begin(() => meter(10, 2));
    const other = spend.begin(() => meter(5, null, { charsIn: 400, charsOut: 80 }));
    expect(spend.usage).toEqual({ inputTokens: 15, outputTokens: null, costUsd: null, requests: 2 });
    expect(spend.reckoned).toEqual({ tokens: 12 + 5 + 20, usd: 30 + 5 + 200 });
    end('answered');
    end('answered');
    other('nothing');
    expect(spend.usage).toEqual({ inputTokens: 10, outputTokens: 2, costUsd: 30, requests: 2 });
    expect(spend.reckoned).toEqual({ tokens: 12, usd: 30 });
  });

  test('has nothing of what did not reach the provider', () => {
    const spend = new Spend({ costUsd });
    spend.begin(() => meter(null, null, { charsIn: 400 }))('unreached');
    expect([spend.usage, spend.reckoned]).toEqual([noUsage, { tokens: 0, usd: 0 }]);
  });

  test('reckons a request without a price as nothing, and tells its cost as unknown', () => {
    const spend = new Spend({ costUsd: () => null });
    spend.begin(() => meter(10, 2))('answered');
    expect(spend.usage.costUsd).toBeNull();
    expect(spend.reckoned).toEqual({ tokens: 12, usd: 0 });
  });

  const count = fc.option(fc.nat(1_000));
  const one = fc.record({
    told: fc.tuple(count, count),
    beyondTokens: fc.boolean(),
    ends: fc.constantFrom('answered' as const, 'unknown' as const, 'nothing' as const, 'unreached' as const, null),
  });

  test('is the sum of its requests, each priced by itself', () => {
    fc.assert(
      fc.property(fc.array(one), (requests) => {
        const spend = new Spend({ costUsd });
        for (const { told, beyondTokens, ends } of requests) {
          const end = spend.begin(() => meter(...told, { beyondTokens }));
          if (ends !== null) end(ends);
        }
        const expected = requests
          .filter(({ ends }) => ends !== 'unreached')
          .map(({ told: [inputTokens, outputTokens], beyondTokens, ends }) =>
            ends === 'nothing'
              ? { ...noUsage, requests: 1 }
              : {
                  inputTokens,
                  outputTokens,
                  costUsd: beyondTokens ? null : costUsd({ ...unknownCounts, inputTokens, outputTokens }),
                  requests: 1,
                },
          )
          .reduce(addUsage, noUsage);
        expect(spend.usage).toEqual(expected);
      }),
    );
  });
});
