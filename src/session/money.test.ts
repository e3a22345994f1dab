import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Fold } from '../events/fold.ts';
import { readText } from '../journal/journal.ts';
import { noUsage, type Usage, unknownUsage } from '../ports/usage.ts';
import { ActualLedger, Spending } from './actual-ledger.ts';
import { essence, firstLines, type Play, play, randomLatency, until } from './session-fixture.ts';

const used = (tokens: number, costUsd: number | null): Usage => ({
  inputTokens: tokens - 1,
  outputTokens: 1,
  costUsd,
  requests: 1,
});
const base: Play = {
  world: { seed: 9, infra: 0.1 },
  budget: 400,
  finalize: true,
  workers: 8,
  latency: randomLatency('m'),
  optimizerMs: 40,
  spends: { rollout: () => used(1000, 0.01), call: used(3000, 0.05) },
};
const events = (log: string) => readText(log).lines.map((l) => l.event);

/** All that a log says was spent; what was cancelled or lost is taken to be as dear as a rollout. */
function spentIn(log: string): { usd: number; tokens: number } {
  let [usd, tokens] = [0, 0];
  const add = (u: Usage) => {
    usd += u.costUsd ?? 0;
    tokens += (u.inputTokens ?? 0) + (u.outputTokens ?? 0);
  };
  for (const e of events(log)) {
    if (e.type === 'rollout.finished' || e.type === 'model.called') add(e.usage);
    if (e.type === 'rollout.cancelled' || e.type === 'rollout.lost') add(used(1000, 0.01));
  }
  return { usd, tokens };
}

describe('a limit on money or tokens', () => {
  test.each([
    ['usd', 1.5],
    ['usd', 1.8],
    ['tokens', 110_000],
    ['tokens', 130_000],
  ] as const)('%s %p bounds all roles, with eight workers that run ahead, and over a resume', async (kind, limit) => {
    const o: Play = { ...base, limits: { rollouts: null, minutes: null, [kind]: limit } };
    const full = await play(o);
    expect(full.loop.cause).toBe('limit');
    expect(spentIn(full.log)[kind]).toBeLessThanOrEqual(limit + 1e-9);
    const told = events(full.log).flatMap((e) =>
      e.type === 'input.received' && e.input.kind === 'limit.reached' ? [e.input.limit] : [],
    );
    expect(told).toEqual([kind]);
    const at = events(full.log).findIndex((e) => e.type === 'input.received') + 1;
    for (let cut = at; cut < full.log.split('\n').length; cut += 17) {
      const again = await play({ ...o, log: firstLines(full.log, cut), texts: full.texts });
      expect(essence(again)).toEqual(essence(full));
      expect(spentIn(again.log)[kind]).toBeLessThanOrEqual(limit + 1e-9);
    }
  });

  test('lets one rollout feel the way before others start beside it', async () => {
    const { log } = await play({ ...base, limits: { rollouts: null, minutes: null, usd: 2.5 } });
    const kinds = events(log).flatMap((e) =>
      e.type === 'rollout.started' || e.type === 'rollout.finished' ? [e.type] : [],
    );
    expect(kinds.slice(0, 2)).toEqual(['rollout.started', 'rollout.finished']);
    expect(kinds.slice(2, 7)).toEqual(Array(5).fill('rollout.started'));
  });

  test('that nobody can hold stops the session at the first rollout, with what helps', async () => {
    for (const [kind, rollout] of [
      ['usd', used(1000, null)],
      ['tokens', unknownUsage],
    ] as const) {
      const { error, log } = await until({
        ...base,
        limits: { rollouts: null, minutes: null, [kind]: 5 },
        spends: { rollout: () => rollout, call: noUsage },
      });
      expect((error as { failure?: { where: string } }).failure?.where).toBe(`limits.${kind}`);
      expect(events(log).filter((e) => e.type === 'rollout.finished').length).toBe(1);
    }
  });

  test('without one nothing waits and nothing stops for what is unknown', async () => {
    const { loop } = await play({ ...base, budget: 90, spends: { rollout: () => unknownUsage, call: unknownUsage } });
    expect(loop.cause).toBe('budget');
  });
});

describe('the ledger', () => {
  test('never starts what may pass the limit, whatever rollouts cost up to the dearest so far', () => {
    const costs = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(costs, fc.integer({ min: 60, max: 900 }), fc.integer({ min: 1, max: 8 }), (drawn, limit, workers) => {
        const list = [50, ...drawn]; // the dearest comes first
        const limits = { rollouts: null, minutes: null, tokens: limit };
        const ledger = new ActualLedger(limits, { confirmation: 0, finalize: 0 }, 0, 0, () => 0);
        const running: number[] = [];
        let spent = 0;
        for (const cost of list) {
          while (running.length < workers && ledger.may('loop') === 'start') {
            running.push(cost);
            ledger.running++;
          }
          const done = running.shift();
          if (done === undefined) break;
          ledger.running--;
          spent += done;
          ledger.spending.add({ ...noUsage, inputTokens: done, outputTokens: 0 }, 'rollout');
        }
        for (const cost of running) spent += cost;
        expect(spent).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test('keeps what confirmation and sealed test will probably cost', () => {
    const limits = { rollouts: null, minutes: null, usd: 10 };
    const ledger = new ActualLedger(limits, { confirmation: 20, finalize: 30 }, 0, 0, () => 0);
    ledger.spending.add(used(1, 0.1), 'rollout');
    expect(ledger.may('loop')).toBe('start');
    for (let i = 0; i < 50; i++) ledger.spending.add(used(1, 0.1), 'rollout');
    expect(ledger.spending.usd.total).toBeCloseTo(5.1);
    expect(ledger.may('loop')).toBe('usd');
    expect(ledger.spent('loop')).toBe('usd');
    expect(ledger.may('confirmation')).toBe('start');
  });

  test('a call outside rollouts starts only where one as dear as the dearest would fit', () => {
    const limits = { rollouts: null, minutes: null, usd: 3 };
    const ledger = new ActualLedger(limits, { confirmation: 0, finalize: 0 }, 0, 0, () => 0);
    expect(ledger.spentForCall()).toBeNull(); // nothing is known of any
    ledger.spending.add(used(1, 0.01), 'rollout');
    ledger.spending.add(used(1, 1.2), 'call');
    expect(ledger.spentForCall()).toBeNull();
    ledger.spending.add(used(1, 0.6), 'call');
    expect(ledger.spentForCall()).toBe('usd');
    expect(ledger.may('loop')).toBe('start'); // a rollout is cheaper
  });

  test('reckons what is unknown as dear as the dearest', () => {
    const spending = new Spending();
    spending.add(used(10, 0.2), 'rollout');
    spending.add(used(10, 0.5), 'rollout');
    spending.add(unknownUsage, 'other');
    spending.add(unknownUsage, 'rollout');
    expect(spending.usd.total).toBeCloseTo(0.7);
    expect(spending.usd.reckoned).toBeCloseTo(1.7);
  });
});

test('what a model call cost is told by role, also of one that failed', () => {
  const fold = new Fold();
  const line = { v: 1 as const, seq: 1, at: '2026-01-01T00:00:00.000Z', prev: '' };
  const call = { type: 'model.called', role: 'optimizer', model: 'command/x', durationMs: 5 } as const;
  fold.add({ ...line, ...call, usage: { ...unknownUsage, costUsd: 0.42 }, problem: 'it left with code 1' });
  fold.add({ ...line, seq: 2, ...call, usage: { ...unknownUsage, costUsd: 0.08 }, problem: null });
  expect(fold.state.spend).toEqual({
    tokens: null,
    costUsd: 0.5,
    optimizer: { tokens: null, costUsd: 0.5 },
    requests: 2,
  });
});
