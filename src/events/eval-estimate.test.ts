import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { unit } from '../bench/rulebook-world.ts';
import { readText } from '../journal/journal.ts';
import { type PlayEval, playEval, untilEnd } from '../session/eval-fixture.ts';
import { randomLatency } from '../session/session-fixture.ts';
import { type EvalSize, estimateEval, type Range, type RoleGuess } from './estimate.ts';
import { evalEstimateTexts } from './estimate-words.ts';
import { evalLeft } from './eval-left.ts';
import { EvalFold } from './eval-state.ts';

const size: EvalSize = { attempts: 24, workers: 8, limit: null, rolloutMs: [20, 2_000] };
const target: RoleGuess = {
  role: 'target',
  model: 'a/target',
  price: { kind: 'usd', of: (i, o) => (i + 5 * o) / 1e6 },
  calls: [1, 1],
  inputTokens: [200, 500],
  outputTokens: [30, 800],
  durationMs: [500, 20_000],
};

test.each([
  [size, [24, 24], 72, '24 rollouts; what can’t be scored is tried up to twice more, so at most 72'],
  [{ ...size, limit: 100 }, [24, 24], 72, '24 rollouts; what can’t be scored is tried up to twice more, so at most 72'],
  [{ ...size, limit: 30 }, [24, 24], 30, '24 rollouts; what can’t be scored is tried up to twice more, so at most 30'],
  [{ ...size, limit: 24 }, [24, 24], 24, '24 rollouts'],
  [{ ...size, limit: 7 }, [7, 7], 7, 'at most 7 of 24 rollouts, by its limit'],
  [{ ...size, attempts: 1 }, [1, 1], 3, '1 rollout; what can’t be scored is tried up to twice more, so at most 3'],
] as const)('%j is so many rollouts', (of, rollouts, most, text) => {
  const e = estimateEval(of, [target]);
  expect(e).toMatchObject({ planned: of.attempts, rollouts, most, roles: [{ calls: rollouts }] });
  expect(evalEstimateTexts(e)[0]).toBe(text);
});

test('it is told in sentences, and where no model takes part nothing is said of tokens', () => {
  expect(evalEstimateTexts(estimateEval(size, [target], true))).toEqual([
    expect.stringMatching(/^24 rollouts; /),
    expect.stringMatching(/^about [\d.]+ k to [\d.]+ k tokens · about \d+ s to \d+ (s|min)/),
    expect.stringMatching(/^about \$\d\.\d\d to \$\d\.\d\d$/),
    'if all are scored at the first try; by the sizes of prompts and one short answer of each model',
  ]);
  expect(evalEstimateTexts(estimateEval(size, [])).slice(1)).toEqual([
    expect.stringMatching(/^about \d+ s to \d+ s$/),
    'no model cost',
    'if all are scored at the first try',
  ]);
});

test.each([
  ['free', 'no model cost'],
  ['local', 'no price is known of a/target, on this machine'],
  ['unknown', 'price unknown: a/target'],
  ['subscription', 'a share of a subscription, how much can’t be told: a/target'],
] as const)('%s: %s', (kind, text) => {
  expect(evalEstimateTexts(estimateEval(size, [{ ...target, price: { kind } }]))[2]).toBe(text);
});

test('more attempts never cost less, more workers never take longer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(3_000), fc.integer({ min: 1, max: 16 }), (n, more, w) => {
      const [less, larger] = [n, n + more].map((attempts) => estimateEval({ ...size, attempts }, [target]));
      for (const of of ['tokens', 'usd'] as const)
        for (const at of [0, 1] as const)
          expect(less?.[of]?.[at]).toBeLessThanOrEqual((larger?.[of]?.[at] ?? 0) * (1 + 1e-9));
      const by = (workers: number) => estimateEval({ ...size, attempts: n, workers }, [target]).minutes;
      expect(by(2 * w)[0]).toBeLessThanOrEqual(by(w)[0]);
      expect(by(w)[0]).toBeLessThanOrEqual(by(w)[1]);
    }),
  );
});

describe('beside simulated evals', () => {
  const usage = (key: string) => {
    const [inputTokens, outputTokens] = [250 + 200 * unit('in', key), 40 + 300 * unit('out', key)];
    return { inputTokens, outputTokens, costUsd: (inputTokens + 5 * outputTokens) / 1e6, requests: 1 };
  };
  const base: PlayEval = { tasks: 6, attempts: 2, usage, workers: 4, latency: randomLatency('e') };
  const told = estimateEval({ ...size, attempts: 24, workers: 4 }, [target]);
  const sums = (state: Awaited<ReturnType<typeof playEval>>['state']) => {
    const all = [...state.spend.values()];
    return {
      tokens: all.reduce((n, s) => n + (s.tokens ?? 0), 0),
      usd: all.reduce((n, s) => n + (s.costUsd ?? 0), 0),
    };
  };

  test('it takes what was told', async () => {
    const { state } = await playEval(base);
    expect(state.rollouts.started).toBe(told.planned);
    const within = (x: number, [low, high]: Range) => {
      expect(x).toBeGreaterThanOrEqual(low);
      expect(x).toBeLessThanOrEqual(high);
    };
    within(sums(state).tokens, told.tokens ?? [0, 0]);
    within(sums(state).usd, told.usd ?? [0, 0]);
  });

  test('where nothing is scored it starts as many as were told at most, and no more', async () => {
    for (const infra of [0, 0.3, 1]) {
      const { state } = await playEval({ ...base, infra });
      expect(state.rollouts.started).toBeLessThanOrEqual(told.most);
      if (infra === 1) expect(state.rollouts.started).toBe(told.most);
    }
  });

  test('what is left of one that stopped is what it then takes, by its mean', async () => {
    const { log } = await untilEnd({ ...base, limits: { rollouts: 10, minutes: null } });
    const fold = new EvalFold();
    for (const { event } of readText(log).lines) fold.add(event);
    const cut = fold.state;
    const left = evalLeft(cut, null);
    expect(left).toMatchObject({ rollouts: 14, isMost: false });
    expect(left?.tokens).toBeCloseTo((sums(cut).tokens / 10) * 14);
    expect(left?.costUsd).toBeCloseTo((sums(cut).usd / 10) * 14);
    expect(evalLeft(cut, 12)).toMatchObject({ rollouts: 2 });
    expect(evalLeft(cut, 10)).toBeNull();
    expect(evalLeft((await playEval(base)).state, null)).toBeNull();
  });
});
