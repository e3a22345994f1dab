import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Fold } from '../events/fold.ts';
import { Journal, readText } from '../journal/journal.ts';
import type { Proposals } from '../ports/proposals.ts';
import { noUsage, type Usage, unknownUsage } from '../ports/usage.ts';
import { ActualLedger, Spending } from './actual-ledger.ts';
import { limitTooLow } from './limit-failures.ts';
import { Logged } from './logged.ts';
import { replayLog } from './replay.ts';
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

/** The first place of a log that does not follow from the rules; null = all follows. */
async function replayed(log: string): Promise<unknown> {
  const { logged } = Logged.read(Journal.memory(log).read());
  const { created, splits, plan } = logged;
  if (!created || !splits || !plan) throw new Error('first lines are missing');
  return (await replayLog(logged, { created, splits, plan }, 'nowhere')).difference;
}

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

  test('that nobody can hold stops the session at the second rollout, with what helps', async () => {
    for (const [kind, rollout] of [
      ['usd', used(1000, null)],
      ['tokens', unknownUsage],
    ] as const) {
      const { error, log } = await until({
        ...base,
        world: { seed: 9 },
        limits: { rollouts: null, minutes: null, [kind]: 5 },
        spends: { rollout: () => rollout, call: noUsage },
      });
      expect((error as { failure?: { where: string } }).failure?.where).toBe(`limits.${kind}`);
      expect(events(log).filter((e) => e.type === 'rollout.finished').length).toBe(2);
    }
  });

  test.each([
    ['it was tried again after it broke off', { usage: unknownUsage }],
    ['the time is up', { exit: 'timeout', usage: unknownUsage }],
    ['a server refuses it', { exit: 'crashed', usage: noUsage }],
  ] as const)('is no worse held when the first rollout is a broken one: %s', async (_, broken) => {
    let first = true;
    const { loop, log } = await play({
      ...base,
      limits: { rollouts: null, minutes: null, usd: 1.5 },
      meddle: (report) => {
        if (!first || report.kind !== 'finished') return report;
        first = false;
        const outcome = { status: 'unscored', reason: 'provider-error', detail: 'broken' } as const;
        return { ...report, result: { ...report.result, ...broken, outcome } };
      },
    });
    expect(loop.cause).toBe('limit');
    const kinds = events(log).flatMap((e) =>
      e.type === 'rollout.started' || e.type === 'rollout.finished' ? [e.type] : [],
    );
    expect(kinds.slice(0, 4)).toEqual(['rollout.started', 'rollout.finished', 'rollout.started', 'rollout.finished']);
  });

  test('that leaves too little to try one edit lets the session wait for a higher one, and ends nothing', async () => {
    const o: Play = { ...base, limits: { rollouts: null, minutes: null, usd: 0.2 } };
    const { error, log } = await until(o);
    const { failure } = error as { failure: { what: string; where: string; fix: string } };
    expect(failure.where).toBe('limits.usd');
    expect(failure.what).toBe('the limit of $0.2 leaves too little for the search: no edit could be tried yet');
    expect(failure.fix).toMatch(/^raise it to about \$0\.\d\d or more and start again/);
    expect(events(log).filter((e) => e.type === 'rollout.finished').length).toBe(1);
    expect(events(log).map((e) => e.type)).not.toContain('session.ended');
    const again = await until({ ...o, log });
    expect((again.error as typeof error & { failure: unknown }).failure).toEqual(failure);
    expect(events(again.log).filter((e) => e.type === 'rollout.finished').length).toBe(1);
    const limits = { rollouts: null, minutes: null, usd: 2.5 };
    let told = false;
    const raised = await play({
      ...o,
      limits,
      log,
      inputs: () => {
        if (told) return [];
        told = true;
        return [{ kind: 'limits.changed', limits }];
      },
    });
    expect(raised.loop.steps).toBeGreaterThan(0);
    for (const text of [log, raised.log]) expect(await replayed(text)).toBeNull();
    expect(spentIn(raised.log).usd).toBeLessThanOrEqual(2.5);
  });

  test('waits too where it cuts the first reflection short, so that no edit could be tried', async () => {
    const spends = { rollout: () => used(1000, 0.01), call: used(3000, 0.3) };
    const proposals: Proposals = {
      preflight: async () => [],
      async performProposal(_request, { onCall, mayCall }) {
        do onCall({ model: 'simulated', usage: spends.call, durationMs: 0, problem: null });
        while (mayCall());
        return { kind: 'unusable', detail: 'a limit is spent', usage: noUsage, durationMs: 0 };
      },
    };
    const { error, log } = await until({
      ...base,
      spends,
      proposals,
      limits: { rollouts: null, minutes: null, usd: 1.5 },
    });
    expect((error as { failure?: { where: string } } | null)?.failure?.where).toBe('limits.usd');
    expect(events(log).map((e) => e.type)).toContain('edit.rejected');
    expect(spentIn(log).usd).toBeLessThanOrEqual(1.5);
  });

  test('is not passed by calls of the optimizer’s model that cost far more than a rollout', async () => {
    const spends = { rollout: () => used(1000, 0.01), call: used(3000, 1) };
    const { loop, log } = await play({ ...base, spends, limits: { rollouts: null, minutes: null, usd: 2.9 } });
    expect(loop.cause).toBe('limit');
    expect(events(log).filter((e) => e.type === 'model.called').length).toBe(2);
    expect(spentIn(log).usd).toBeLessThanOrEqual(2.9);
  });

  test('reckons with rollouts that were lost from the first start after it on', async () => {
    const { log } = await play({ ...base, finalize: false });
    const lines = log.split('\n');
    const cut = lines.findIndex((l, i) => i > 60 && l.includes('rollout.started')) + 1;
    const { logged } = Logged.read(Journal.memory(firstLines(log, cut)).read());
    const open = logged.open.size;
    expect(open).toBeGreaterThan(0);
    const before = logged.spending.usd.reckoned;
    const told: string[] = [];
    logged.lose((event) => event.type === 'rollout.lost' && told.push(event.key));
    expect(told.length).toBe(open);
    expect(logged.open.size).toBe(0);
    expect(logged.spending.usd.reckoned).toBeCloseTo(before + 0.01 * open);
  });

  test('reckons with a call of the optimizer’s model that a kill cut off, and tells it once', async () => {
    const o: Play = { ...base, finalize: false };
    const full = await play(o);
    const at = full.log.split('\n').findIndex((l) => l.includes('"reflection.started"')) + 1;
    const again = await play({ ...o, log: firstLines(full.log, at), texts: full.texts });
    const calls = events(again.log).flatMap((e) => (e.type === 'model.called' ? [e.problem] : []));
    expect(calls.filter((problem) => problem !== null)).toEqual(['lost: the process ended before it answered']);
    expect(calls[0]).toMatch(/^lost/);
    expect(again.state.spend.uncounted).toBe(1);
    expect(essence(again)).toEqual(essence(full));
    const { logged } = Logged.read(Journal.memory(again.log).read());
    expect(logged.spending.usd.reckoned).toBeCloseTo(
      logged.spending.usd.total + 0.05 + 0.01 * again.state.rollouts.cancelled + 0.01 * again.state.rollouts.lost,
    );
    // a stop by the user has told it already
    const stopped = `${firstLines(full.log, at)}`;
    const journal = Journal.memory(stopped);
    Logged.read(journal.read());
    journal.append({ type: 'session.paused', why: 'stopped by the user', fix: '' });
    const after = Logged.read(Journal.memory(journal.text()).read()).logged;
    const told: string[] = [];
    after.lose((event) => told.push(event.type));
    expect(told).not.toContain('model.called');
    // a pause within the process lets it run on
    for (const resumed of [false, true]) {
      const held = Journal.memory(stopped);
      Logged.read(held.read());
      held.append({ type: 'session.paused', why: 'paused by you', fix: '', within: true });
      const bounds = { budget: 1, limits: { rollouts: null, minutes: null } };
      if (resumed)
        held.append({ type: 'session.resumed', program: 'test', file: bounds, wanted: bounds, within: true });
      const lost: string[] = [];
      Logged.read(Journal.memory(held.text()).read()).logged.lose((event) => lost.push(event.type));
      expect(lost.filter((type) => type === 'model.called')).toHaveLength(1);
    }
  });

  test('reckons with one such call of each reader that there was something to read for', async () => {
    for (const [reflection, most] of [
      [{ readers: 3 }, () => 3],
      [{ readers: 16 }, (failing: number) => failing],
      [{ readers: 4, minibatchSize: 2 }, (failing: number) => Math.min(4, Math.ceil(failing / 2))],
    ] as const) {
      const o: Play = { ...base, finalize: false, config: { reflection } };
      const full = await play(o);
      const at = full.log.split('\n').findIndex((l) => l.includes('"reflection.started"')) + 1;
      const cut = firstLines(full.log, at);
      const started = events(cut).at(-1);
      const failing = started?.type === 'reflection.started' ? started.failing : 0;
      expect(failing).toBeGreaterThanOrEqual(3);
      const { logged } = Logged.read(Journal.memory(cut).read());
      const told: string[] = [];
      logged.lose((event) => event.type === 'model.called' && told.push(event.problem ?? ''));
      expect(told).toEqual(Array(most(failing)).fill('lost: it may have been at work when the process ended'));
      expect(logged.spending.usd.reckoned).toBeCloseTo(
        logged.spending.usd.total + 0.01 * (logged.started - logged.outcomes.size + told.length),
      );
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

  test('names the limit that was reached, and what would be enough, also where there is now room again', () => {
    const ledger = new ActualLedger(
      { rollouts: null, minutes: null, usd: 4 },
      { confirmation: 20, finalize: 30 },
      9,
      0,
      () => 0,
    );
    ledger.spending.add(used(1, 0.1), 'rollout');
    const failure = limitTooLow(ledger, 'confirmation', 'usd', 13);
    expect(failure.where).toBe('limits.usd');
    expect(failure.fix).toContain('$5.10');
    const ofTest = limitTooLow(ledger, 'finalize', 'rollouts', 13);
    expect(ofTest.fix).toContain('39');
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

  test('calls run side by side only where all of them would fit, and while nothing is known of any, one at a time', () => {
    const ledgerOf = (usd: number) =>
      new ActualLedger({ rollouts: null, minutes: null, usd }, { confirmation: 0, finalize: 0 }, 0, 0, () => 0);
    const ledger = ledgerOf(3);
    expect([0, 1].map((running) => ledger.spentForCall(running))).toEqual([null, 'usd']);
    ledger.spending.add(used(1, 0.9), 'call');
    expect([0, 1, 2].map((running) => ledger.spentForCall(running))).toEqual([null, null, 'usd']);
    const free = ledgerOf(1);
    free.spending.add(used(1, 0), 'call');
    expect(free.spentForCall(15)).toBeNull();
  });

  test('a round trip before the work is spent, and says nothing of what a call will cost', async () => {
    const ledger = new ActualLedger(
      { rollouts: null, minutes: null, usd: 3 },
      { confirmation: 0, finalize: 0 },
      0,
      0,
      () => 0,
    );
    ledger.spending.add(used(5, 0.0001), 'round trip');
    expect(ledger.spending.usd.reckoned).toBe(0.0001);
    expect([0, 1].map((running) => ledger.spentForCall(running))).toEqual([null, 'usd']);
    expect(ledger.may('loop')).toBe('start');

    const journal = Journal.memory(firstLines((await play({ ...base, finalize: false })).log, 3));
    Logged.read(journal.read());
    const call = { type: 'model.called', model: 'm', problem: null, usage: used(5, 0.0001), durationMs: 1 } as const;
    for (const role of ['target', 'optimizer'] as const) journal.append({ ...call, role, preflight: true });
    const { usd } = Logged.read(Journal.memory(journal.text()).read()).logged.spending;
    expect([usd.total, usd.isCallKnown]).toEqual([0.0002, false]);
    journal.append({ ...call, role: 'optimizer' });
    expect(Logged.read(Journal.memory(journal.text()).read()).logged.spending.usd.isCallKnown).toBe(true);
  });

  test('reckons what is unknown as dear as the dearest', () => {
    const spending = new Spending();
    spending.add(used(10, 0.2), 'rollout');
    spending.add(used(10, 0.5), 'rollout');
    spending.add(unknownUsage, 'cut-off');
    spending.add(unknownUsage, 'rollout');
    expect(spending.usd.total).toBeCloseTo(0.7);
    expect(spending.usd.reckoned).toBeCloseTo(1.7);
    spending.add(used(10, 0.8), 'call');
    spending.add(unknownUsage, 'call');
    expect(spending.usd.total).toBeCloseTo(1.5);
    expect(spending.usd.reckoned).toBeCloseTo(3.3);
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
    roundTrips: 0,
    uncounted: 0,
  });
  const stopped = { ...call, usage: unknownUsage, problem: 'stopped before it answered' };
  fold.add({ ...line, seq: 3, ...stopped });
  expect(fold.state.spend).toMatchObject({ costUsd: 0.5, optimizer: { costUsd: 0.5 }, requests: 3, uncounted: 1 });
  fold.add({ ...line, seq: 4, ...call, usage: used(10, null), problem: null });
  expect(fold.state.spend.costUsd).toBeNull();
});
