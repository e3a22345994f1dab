import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { unit, worldPresets } from '../bench/rulebook-world.ts';
import { mostEdits } from '../engine/rules.ts';
import { play, randomLatency } from '../session/session-fixture.ts';
import { counts, estimate, type JobSize, product, type Range, type RoleGuess } from './estimate.ts';
import { costText, estimateTexts, roleText } from './estimate-words.ts';

const size: JobSize = { rollouts: 400, test: 0, mostEdits: 3, workers: 8, limit: null, rolloutMs: [10, 1_000] };
const usd = (input: number, output: number) => ({
  kind: 'usd' as const,
  of: (i: number, o: number) => (i * input + o * output) / 1e6,
});
const target: RoleGuess = {
  role: 'target',
  model: 'a/target',
  price: usd(1, 5),
  calls: [1, 1],
  inputTokens: [200, 500],
  outputTokens: [30, 800],
  durationMs: [500, 20_000],
};
const optimizer: RoleGuess = {
  ...target,
  role: 'optimizer',
  model: 'b/optimizer',
  price: usd(5, 25),
  calls: [2, 8],
  inputTokens: [1_000, 9_000],
};

test.each([
  [size, [360, 500], [40, 200]],
  [{ ...size, workers: 1 }, [360, 400], [40, 200]],
  [{ ...size, test: 36, mostEdits: 8 }, [396, 536], [15, 75]],
  [{ ...size, limit: 300 }, [300, 300], [40, 200]],
  [{ ...size, rollouts: 0 }, [0, 0], [0, 0]],
] as const)('%j takes so many rollouts and reflections', (job, rollouts, reflections) => {
  expect(counts(job)).toMatchObject({ rollouts, reflections });
});

describe('what is told', () => {
  test('in sentences', () => {
    expect(estimateTexts(estimate({ ...size, test: 36 }, [target, optimizer]))).toEqual([
      'at most 536 rollouts: 400 of the budget, 36 of the sealed test, 100 run ahead',
      'about 40 to 200 reflections, in 120 to 1000 calls of b/optimizer',
      expect.stringMatching(
        /^about [\d.]+ (k|million) to [\d.]+ million tokens · about \d+ min to \d+ (min|h \d\d min)$/,
      ),
      expect.stringMatching(/^about \$\d+(\.\d\d)? to \$\d+$/),
      'if the whole budget is used; tokens are estimated from characters, about 4 a token, and answers are guessed',
    ]);
  });

  test('of an agent as runs, guessed or measured', () => {
    const agent: RoleGuess = { ...optimizer, model: 'my-agent', isAgent: true, calls: [1, 1.5] };
    const measured = { ...agent, count: 4, calls: 5, tokens: 90_000, costUsd: null, durationMs: 60_000 };
    for (const e of [estimate(size, [agent]), estimate(size, [measured])]) {
      expect(estimateTexts(e)[1]).toMatch(/^about 40 to 200 reflections, in \d+ to \d+ runs of my-agent$/);
      expect(e.roles.map(roleText)).toEqual([expect.stringMatching(/^my-agent: \d+ to \d+ runs, about /)]);
    }
  });

  test.each([
    [[{ kind: 'free' }, { kind: 'free' }], 'no model cost'],
    [[{ kind: 'local' }, { kind: 'free' }], 'no price is known of a/target, on this machine'],
    [[{ kind: 'unknown' }, { kind: 'free' }], 'price unknown: a/target'],
    [[{ kind: 'free' }, { kind: 'subscription' }], 'a share of a subscription, how much can’t be told: b/optimizer'],
    [[{ kind: 'unknown' }, usd(0, 0)], 'about $0.00 · price unknown: a/target'],
    [[usd(1e-9, 0), { kind: 'free' }], 'about less than $0.01'],
  ] as const)('%j: %s', (prices, text) => {
    const roles = [target, optimizer].map((r, i) => ({ ...r, price: prices[i] as RoleGuess['price'] }));
    expect(costText(estimate(size, roles))).toBe(text);
  });

  test('a price that one request has none of is unknown, and no part of a sum', () => {
    const none = { ...optimizer, price: { kind: 'usd', of: () => null } } as const;
    const e = estimate(size, [target, none]);
    expect(e.roles[1]?.cost).toEqual({ kind: 'unknown' });
    expect(e.usd).toEqual(estimate(size, [target]).usd);
    expect(estimate(size, [none]).usd).toBeNull();
  });

  test('what was measured has unknown tokens and cost where the log has none', () => {
    const e = estimate(size, [
      {
        role: 'target',
        model: 'a/t',
        price: usd(1, 1),
        count: 12,
        calls: 12,
        tokens: null,
        costUsd: null,
        durationMs: 9,
      },
    ]);
    expect([e.tokens, e.usd, e.roles[0]?.tokens, e.roles[0]?.cost.kind]).toEqual([null, null, null, 'unknown']);
  });
});

describe('ranges', () => {
  const positive = fc.tuple(
    fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
    fc.double({ min: 1, max: 100, noNaN: true }),
  );
  const range = positive.map(([low, factor]): Range => [low, low * factor]);

  test('a product lies within that of the ends, and is as wide as its widest part at least', () => {
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 5 }), (ranges) => {
        const [low, high] = product(...ranges);
        const ends = [0, 1].map((at) => ranges.reduce((m, r) => m * (r[at] ?? 1), 1)) as [number, number];
        expect(low).toBeGreaterThanOrEqual(ends[0] * (1 - 1e-9));
        expect(high).toBeLessThanOrEqual(ends[1] * (1 + 1e-9));
        expect(high / low).toBeGreaterThanOrEqual(Math.max(...ranges.map(([a, b]) => b / a)) * (1 - 1e-9));
      }),
    );
  });

  test('of two jobs the larger one never costs less, and every range has its ends in order', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(3_000), fc.integer({ min: 1, max: 8 }), (a, b, mostEdits) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((rollouts) =>
          estimate({ ...size, rollouts, mostEdits }, [target, optimizer]),
        );
        for (const of of ['rollouts', 'reflections', 'tokens', 'usd', 'minutes'] as const) {
          const [l, m] = [less?.[of], more?.[of]] as [Range, Range];
          expect(l[0]).toBeLessThanOrEqual(l[1]);
          expect(l[1]).toBeLessThanOrEqual(m[1] * (1 + 1e-9));
        }
      }),
    );
  });
});

describe('beside simulated sessions', () => {
  const usage = (key: string) => {
    const [inputTokens, outputTokens] = [250 + 200 * unit('in', key), 40 + 300 * unit('out', key)];
    return { inputTokens, outputTokens, costUsd: (inputTokens + 5 * outputTokens) / 1e6, requests: 1 };
  };
  const call = { inputTokens: 4_000, outputTokens: 400, costUsd: (5 * 4_000 + 25 * 400) / 1e6, requests: 1 };
  const one: RoleGuess = { ...optimizer, calls: [1, 1.5] };

  test.each(
    (['large-low', 'large-high', 'small-low', 'small-high'] as const).flatMap((world) =>
      [5, 6, 7].map((seed) => [world, seed] as const),
    ),
  )(
    '%s, seed %i: what it really took is no more than told, and no less where the budget was used',
    async (world, seed) => {
      const config = { ...worldPresets[world], infra: 0, seed };
      const budget = world.startsWith('large') ? 500 : 200;
      const { state, loop, started } = await play({
        world: config,
        budget,
        workers: 8,
        latency: randomLatency(String(seed)),
        optimizerMs: 300,
        search: { draftSize: 8, dryRounds: 12, memory: true },
        spends: { rollout: usage, call },
      });
      const most = mostEdits(config.train, null, { consumed: 0, hits: [] });
      const e = estimate({ ...size, rollouts: budget, mostEdits: most }, [target, one]);
      const whole = loop.cause === 'budget';
      const within = (what: number | null, [low, high]: Range) => {
        expect(what).toBeLessThanOrEqual(high);
        if (whole) expect(what).toBeGreaterThanOrEqual(low);
      };
      within(started, e.rollouts);
      within(state.calls, e.reflections);
      within(state.spend.tokens, e.tokens ?? [0, 0]);
      within(state.spend.costUsd, e.usd ?? [0, 0]);
    },
  );
});
