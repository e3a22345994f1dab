import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { unit } from '../bench/rulebook-world.ts';
import { Journal, readText } from '../journal/journal.ts';
import { TextMemory } from '../journal/journal-fixture.ts';
import type { Recovered, RolloutRequest } from '../ports/rollouts.ts';
import type { Usage } from '../ports/usage.ts';
import { DEPTH } from './batches.ts';
import { type PlayEval, playEval } from './eval-fixture.ts';
import { Logged } from './logged.ts';
import { essence, firstLines, type Play, play, randomLatency } from './session-fixture.ts';
import { verified } from './verify-fixture.ts';

const session: Play = { world: { seed: 9, infra: 0.1 }, budget: 90, finalize: true, texts: new TextMemory() };
const measured: PlayEval = { tasks: 7, attempts: 2, infra: 0.1 };
const evalDecisions = (log: string) =>
  readText(log).lines.flatMap(({ event, body }) => ('consumed' in event ? [body] : []));

/** Hears the calls of a backend, and refuses those that are not as they should be. */
function watched(workers: number) {
  const sizes: number[] = [];
  let running = 0;
  let most = 0;
  return {
    sizes,
    most: () => most,
    onBatch(requests: readonly RolloutRequest[], concurrency = 0) {
      sizes.push(requests.length);
      expect(concurrency).toBeGreaterThan(0);
      expect(concurrency).toBeLessThanOrEqual(Math.min(workers, requests.length));
      expect(requests.length).toBeLessThanOrEqual(DEPTH * concurrency);
    },
    onWork(more: 1 | -1) {
      running += more;
      most = Math.max(most, running);
    },
  };
}

describe('in batches', () => {
  test('a session decides as it does without them, in whatever order answers come', async () => {
    const want = essence(await play(session));
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.integer({ min: 1, max: 12 }), fc.nat(60), async (seed, workers, optimizerMs) => {
        const { onBatch, onWork, most } = watched(workers);
        const latency = randomLatency(seed);
        const got = await play({ ...session, workers, latency, optimizerMs, batches: true, onBatch, onWork });
        expect(essence(got)).toEqual(want);
        expect(most()).toBeLessThanOrEqual(workers);
        expect(got.started).toBe(got.state.rollouts.started);
      }),
      { numRuns: 20 },
    );
  }, 120_000);

  test('an eval decides as it does without them, in whatever order answers come', async () => {
    const want = evalDecisions((await playEval(measured)).log);
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.integer({ min: 1, max: 12 }), async (seed, workers) => {
        const { onBatch } = watched(workers);
        const got = await playEval({ ...measured, workers, batches: true, latency: randomLatency(seed), onBatch });
        expect(evalDecisions(got.log)).toEqual(want);
        expect(got.started).toBe(got.state.rollouts.started);
      }),
      { numRuns: 25 },
    );
  });

  test('what is planned together is one call: a pass over selection and train, an eval', async () => {
    const heard = watched(4);
    await play({ ...session, world: { seed: 9, infra: 0 }, workers: 4, batches: true, onBatch: heard.onBatch });
    expect(heard.sizes.slice(0, 2)).toEqual([6, 6]);
    const other = watched(4);
    await playEval({ tasks: 8, workers: 4, batches: true, latency: () => 5, onBatch: other.onBatch });
    expect(other.sizes).toEqual([16]);
  });

  test('with a limit on money it is held, run-ahead and queues included', async () => {
    const used: Usage = { inputTokens: 10, outputTokens: 1, costUsd: 0.01, requests: 1 };
    const o: Play = {
      ...session,
      limits: { rollouts: null, minutes: null, usd: 1.2 },
      spends: { rollout: () => used, call: used },
      workers: 8,
      latency: randomLatency('l'),
      batches: true,
    };
    const { log, loop } = await play(o);
    expect(loop.cause).toBe('limit');
    const spent = readText(log).lines.flatMap(({ event: e }) =>
      e.type === 'rollout.finished' || e.type === 'model.called' || (e.type === 'rollout.cancelled' && !('begun' in e))
        ? [0.01]
        : [],
    );
    expect(spent.length * 0.01).toBeLessThanOrEqual(1.2);
  });
});

/** What a backend knows after a kill: of each rollout by its key. */
const knows =
  (seed: string) =>
  async (keys: readonly string[]): Promise<Recovered> => ({
    finished: keys.filter((key) => unit('left', seed, key) < 0.4),
    notBegun: keys.filter((key) => unit('left', seed, key) > 0.7),
  });

/** Each start, with what became of it; a second start while the first is open is refused. */
function starts(log: string): { readonly started: number; readonly open: readonly string[] } {
  const open = new Set<string>();
  let started = 0;
  for (const { event } of readText(log).lines) {
    if (event.type === 'rollout.started') {
      expect(open.has(event.key)).toBe(false);
      open.add(event.key);
      started++;
    }
    if (event.type === 'rollout.finished' || event.type === 'rollout.lost' || event.type === 'rollout.cancelled') {
      if (event.type === 'rollout.cancelled' && event.begun === false) started--;
      open.delete(event.key);
    }
  }
  return { started, open: [...open] };
}

describe('killed after any line, and gone on from what the backend knows', () => {
  test('a session comes to the same end, performs nothing twice, and counts each rollout once', async () => {
    const o: Play = { ...session, workers: 3, latency: randomLatency('k'), optimizerMs: 20, batches: true };
    const full = await play(o);
    const want = essence(full);
    const lines = full.log.split('\n').length - 1;
    for (let at = 4; at <= lines; at += 3) {
      const log = firstLines(full.log, at);
      const left = Logged.read(Journal.memory(log).read()).logged.open;
      const recover = knows(`${at}`);
      const { finished } = await recover([...left]);
      const again = await play({ ...o, log, recover, latency: randomLatency(`k${at}`) });
      expect(essence(again)).toEqual(want);
      const { started, open } = starts(again.log);
      expect(open).toEqual([]);
      expect([again.started, again.state.rollouts.started]).toEqual([started, started]);
      const after = readText(again.log).lines.slice(at);
      for (const { event } of after) if (event.type === 'rollout.started') expect(finished).not.toContain(event.key);
      expect(Logged.read(Journal.memory(again.log).read()).logged.started).toBe(started);
      if (at % 10 === 0) expect((await verified(again.log)).problems).toEqual([]);
    }
  }, 240_000);

  test('an eval comes to the same end, performs nothing twice, and counts each rollout once', async () => {
    const o: PlayEval = { ...measured, workers: 3, latency: randomLatency('e'), batches: true };
    const full = await playEval(o);
    const lines = full.log.split('\n').length - 1;
    for (let at = 1; at <= lines; at++) {
      const log = firstLines(full.log, at);
      const left = Logged.read(Journal.memory(log).read()).logged.open;
      const recover = knows(`${at}`);
      const { finished } = await recover([...left]);
      const again = await playEval({ ...o, log, recover, latency: randomLatency(`e${at}`) });
      expect(evalDecisions(again.log)).toEqual(evalDecisions(full.log));
      const { started, open } = starts(again.log);
      expect(open).toEqual([]);
      expect([again.started, again.state.rollouts.started]).toEqual([started, started]);
      for (const { event } of readText(again.log).lines.slice(at))
        if (event.type === 'rollout.started') expect(finished).not.toContain(event.key);
    }
  }, 120_000);

  test('twice in a row: what was finished waits for the process that asks for it', async () => {
    const o: PlayEval = { ...measured, workers: 3, latency: randomLatency('t'), batches: true };
    const full = await playEval(o);
    const all = async (keys: readonly string[]): Promise<Recovered> => ({ finished: keys, notBegun: [] });
    const log = firstLines(full.log, 12);
    const { open } = starts(log);
    expect(open.length).toBeGreaterThan(2);
    const lines: string[] = [];
    const second = playEval({
      ...o,
      log,
      recover: all,
      beforeWrite: (line) => {
        if (lines.push(line) > 2) throw new Error('killed');
      },
    });
    await second.then(
      () => expect.unreachable(),
      () => {},
    );
    const cut =
      log +
      lines
        .slice(0, 2)
        .map((line) => `${line}\n`)
        .join('');
    const third = await playEval({ ...o, log: cut, recover: all });
    expect(evalDecisions(third.log)).toEqual(evalDecisions(full.log));
    expect(starts(third.log).open).toEqual([]);
    expect(third.state.rollouts.lost).toBe(0);
    const anew = readText(third.log).lines.slice(12);
    for (const { event } of anew) if (event.type === 'rollout.started') expect(open).not.toContain(event.key);
  });
});
