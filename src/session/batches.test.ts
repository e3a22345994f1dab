import { describe, expect, test } from 'bun:test';
import { Journal, readText } from '../journal/journal.ts';
import { type Failure, fail } from '../ports/failure.ts';
import { unscored } from '../ports/outcome.ts';
import { noUsage, type Usage } from '../ports/usage.ts';
import { Logged } from './logged.ts';
import { ask, asks, finished, poolBench, settled } from './pool-fixture.ts';
import { Slots } from './slots.ts';

const keysOf = (list: readonly { readonly key: string }[]) => list.map(({ key }) => key);
const guesses = (from: string, count: number) => asks(from, count).map((a) => ({ ask: a, text: 'text' }));
const linesOf = (log: string) => readText(log).lines.map(({ event }) => event);
const again = (log: string) => Logged.read(Journal.memory(log).read()).logged;
const usd = (costUsd: number): Usage => ({ inputTokens: 1, outputTokens: 1, costUsd, requests: 1 });

describe('a backend that batches', () => {
  test.each([
    [8, 5, 5, 5],
    [8, 8, 8, 8],
    [8, 20, 20, 8],
    [8, 32, 32, 8],
    [8, 100, 32, 8],
    [1, 100, 4, 1],
  ])('%d workers, %d planned: one call of %d, %d at a time', async (workers, planned, size, width) => {
    const { pool, calls } = poolBench({ workers });
    pool.plan(asks('a', planned), 'text', 'loop');
    await settled();
    expect(calls.map((c) => [c.keys.length, c.concurrency])).toEqual([[size, width]]);
    expect(calls[0]!.keys).toEqual(keysOf(asks('a', size)));
  });

  test('one that does not gets a call for each, and no more than there are workers', async () => {
    const { pool, calls } = poolBench({ workers: 3, batches: false });
    pool.plan(asks('a', 9), 'text', 'loop');
    await settled();
    expect(calls.map((c) => [c.keys, c.concurrency])).toEqual([
      [['a0'], undefined],
      [['a1'], undefined],
      [['a2'], undefined],
    ]);
  });

  test('what the engine waits for comes first in it', async () => {
    const { pool, calls } = poolBench({ workers: 1 });
    pool.plan([ask('first')], 'text', 'loop');
    await settled();
    pool.plan(asks('a', 3), 'text', 'loop');
    void pool.take(ask('a2'), 'text', 'loop');
    await settled();
    await calls[0]!.finish('first');
    expect(calls[1]!.keys).toEqual(['a2', 'a0', 'a1']);
  });

  test('plans that come one by one are one call, and guesses that come before them have to wait', async () => {
    const { pool, calls } = poolBench({ workers: 4 });
    pool.guess(guesses('g', 4));
    for (const one of asks('a', 5)) pool.plan([one], 'text', 'loop');
    await settled();
    expect(calls.map((c) => c.keys.length)).toEqual([5]);
  });

  test('its workers come back as fewer are left than it is wide, and go to the next call', async () => {
    const { pool, calls } = poolBench({ workers: 4 });
    pool.plan(asks('a', 30), 'text', 'loop');
    await settled();
    const [first] = calls;
    for (const key of first!.keys.slice(0, 12)) await first!.finish(key);
    expect(calls).toHaveLength(1); // four are left, and four workers
    await first!.finish('a12');
    expect(calls.map((c) => [c.keys.length, c.concurrency])).toEqual([
      [16, 4],
      [4, 1],
    ]);
    await first!.finish('a13');
    await first!.finish('a14');
    await first!.finish('a15');
    expect(calls.map((c) => [c.keys.length, c.concurrency])).toEqual([
      [16, 4],
      [4, 1],
      [4, 1],
      [4, 1],
      [2, 1],
    ]);
  });

  test('the next call is made only after the engine has read the answer at hand', async () => {
    const { pool, calls } = poolBench({ workers: 1 });
    const answer = pool.take(ask('a'), 'text', 'loop');
    await settled();
    pool.plan(asks('b', 3), 'text', 'loop');
    const read = answer.then(() => pool.drop(asks('b', 3)));
    await settled();
    await calls[0]!.finish('a');
    await read;
    await settled();
    expect(calls.map((c) => c.keys)).toEqual([['a']]);
  });

  describe('guesses', () => {
    test('have a call of their own, no more than workers are free', async () => {
      const { pool, calls } = poolBench({ workers: 4 });
      pool.plan(asks('a', 2), 'text', 'loop');
      pool.guess(guesses('g', 9));
      await settled();
      expect(calls.map((c) => [c.keys, c.concurrency])).toEqual([
        [['a0', 'a1'], 2],
        [['g0', 'g1'], 2],
      ]);
    });

    test('are not begun while anything else waits', async () => {
      const { pool, calls } = poolBench({ workers: 1 });
      pool.plan(asks('a', 5), 'text', 'loop');
      pool.guess(guesses('g', 2));
      await settled();
      for (const key of calls[0]!.keys) await calls[0]!.finish(key);
      expect(calls.map((c) => c.keys)).toEqual([['a0', 'a1', 'a2', 'a3'], ['a4']]);
      await calls[1]!.finish('a4');
      expect(calls.map((c) => c.keys).slice(2)).toEqual([['g0']]);
    });

    test('that are given up end their call, and a dropped plan ends its own', async () => {
      const { pool, calls } = poolBench({ workers: 4 });
      pool.plan(asks('a', 2), 'text', 'loop');
      pool.guess(guesses('g', 2));
      await settled();
      const given = () => calls.map((c) => c.keys.map((key) => c.request(key).signal.aborted));
      pool.guess([]);
      await settled();
      expect(given()).toEqual([
        [false, false],
        [true, true],
      ]);
      pool.drop(asks('a', 2));
      await settled();
      expect(given()).toEqual([
        [true, true],
        [true, true],
      ]);
    });
  });

  test('pools that share workers never have more of them than there are', async () => {
    const slots = new Slots(3);
    const one = poolBench({ workers: 2, slots });
    const two = poolBench({ workers: 2, slots });
    one.pool.plan(asks('a', 2), 'text', 'loop');
    two.pool.plan(asks('b', 9), 'text', 'loop');
    await settled();
    expect([one, two].map(({ calls }) => calls.map((c) => [c.keys.length, c.concurrency]))).toEqual([
      [[2, 2]],
      [[4, 1]],
    ]);
    await one.calls[0]!.finish('a0');
    expect(two.calls.map((c) => [c.keys.length, c.concurrency])).toEqual([
      [4, 1],
      [4, 1],
    ]);
  });

  test('no more is put into a call than a limit lets start', async () => {
    const { pool, calls, ledger } = poolBench({ workers: 8, limits: { rollouts: 11, minutes: null } });
    pool.plan(asks('a', 30), 'text', 'loop');
    await settled();
    expect(calls.map((c) => c.keys.length)).toEqual([11]);
    expect(ledger.started).toBe(11);
    const next = pool.take(ask('a11'), 'text', 'loop');
    await settled();
    for (const key of calls[0]!.keys) await calls[0]!.finish(key);
    expect(await next).toBe('rollouts');
    expect(calls).toHaveLength(1);
  });

  test('money is reserved for each of a call, those that wait for their turn too', async () => {
    const { pool, calls } = poolBench({ workers: 2, limits: { rollouts: null, minutes: null, usd: 5 } });
    pool.plan(asks('a', 30), 'text', 'loop');
    await settled();
    expect(calls.map((c) => c.keys)).toEqual([['a0']]); // it tells what one costs
    await calls[0]!.finish('a0', { usage: usd(1) });
    expect(calls.map((c) => c.keys).slice(1)).toEqual([['a1', 'a2', 'a3', 'a4']]);
  });

  test('a provider that answers nobody is noticed as soon as without batches: each has its own turn', async () => {
    const { pool, calls } = poolBench({ workers: 4 });
    pool.plan(asks('a', 16), 'text', 'loop');
    await settled();
    let told: unknown = null;
    pool.take(ask('a15'), 'text', 'loop').catch((e: unknown) => {
      told = e;
    });
    const silent = unscored('provider-error', 'the server failed (502)');
    const [call] = calls;
    const running = call!.keys.slice(0, 4);
    for (const key of running) call!.begins(key);
    let count = 0;
    for (const key of call!.keys) {
      if (told !== null) break;
      const report = finished(key);
      if (report.kind !== 'finished') throw new Error();
      await call!.report({ ...report, result: { ...report.result, outcome: silent } });
      count++;
      const next = call!.keys[count + 3];
      if (next !== undefined) call!.begins(next);
    }
    expect(String(told)).toContain('no answer in 9 rollouts in a row');
    expect(count).toBe(9);
  });
});

describe('what never began', () => {
  const down: Failure = fail('environment-down', 'Docker does not answer', 'docker', 'start it', {
    retryable: true,
  }).failure;

  test('is not counted as started and spent nothing, now and after a resume; what had begun is', async () => {
    const { pool, calls, ledger, log } = poolBench({ workers: 1 });
    pool.plan(asks('a', 4), 'text', 'loop');
    await settled();
    expect(ledger.started).toBe(4);
    await calls[0]!.finish('a0', { usage: usd(1) });
    pool.drop(asks('a', 4));
    await settled();
    await calls[0]!.report({ kind: 'cancelled', key: 'a1', usage: usd(0.5) });
    await calls[0]!.report({ kind: 'cancelled', key: 'a2', begun: false });
    await calls[0]!.report({ kind: 'cancelled', key: 'a3', begun: false });
    const read = again(log());
    await settled();
    for (const { started, spending } of [ledger, read])
      expect([started, spending.usd.total, spending.usd.reckoned]).toEqual([2, 1.5, 1.5]);
    expect(linesOf(log()).filter((e) => e.type === 'rollout.cancelled')).toMatchObject([
      { key: 'a1', usage: usd(0.5) },
      { key: 'a2', begun: false },
      { key: 'a3', begun: false },
    ]);
    expect([...read.open]).toEqual([]);
  });

  test('may have failed with its whole batch: tried again, it counts once', async () => {
    const { pool, calls, ledger, log } = poolBench({ workers: 2 });
    const answers = asks('a', 3).map((a) => pool.take(a, 'text', 'loop'));
    await settled();
    const [first] = calls;
    await first!.report({ kind: 'failed', key: 'a0', failure: down, begun: false });
    await first!.report({ kind: 'failed', key: 'a1', failure: down });
    await first!.report({ kind: 'failed', key: 'a2', failure: down, begun: false });
    let isTold = false;
    const all = Promise.all(answers).then(() => {
      isTold = true;
    });
    for (let n = 1; !isTold; await settled())
      for (const call of calls.slice(n)) {
        n++;
        for (const key of call.keys) await call.finish(key);
      }
    await all;
    for (const { started, spending } of [ledger, again(log())]) expect([started, spending.usd.total]).toEqual([4, 0]);
  });
});

describe('what an earlier process had finished', () => {
  const open = async () => {
    const { pool, calls, log } = poolBench({ workers: 4 });
    pool.plan(asks('a', 4), 'text', 'loop');
    await settled();
    await calls[0]!.finish('a3', { usage: usd(1) });
    return log();
  };

  test('is handed over without a second start, and counted once', async () => {
    const { pool, calls, ledger, log } = poolBench({ workers: 4, log: await open() });
    expect([ledger.started, ledger.recovered]).toEqual([4, 3]);
    const answer = pool.take(ask('a1'), 'text', 'loop');
    await settled();
    expect(calls.map((c) => c.keys)).toEqual([['a1']]);
    await calls[0]!.finish('a1', { usage: usd(2) });
    expect(await answer).toMatchObject({ status: 'scored' });
    expect(linesOf(log()).filter((e) => e.type === 'rollout.started' && e.key === 'a1')).toHaveLength(1);
    const read = again(log());
    await settled();
    expect([ledger.started, read.started, ledger.spending.usd.total, read.spending.usd.total]).toEqual([4, 4, 3, 3]);
    expect(ledger.recovered).toBe(2);
    expect([...read.open]).toEqual(['a0', 'a2']); // the next process may still ask for them
  });

  test('keeps its share of a limit until it is told, and needs none of it to be told', async () => {
    const limits = { rollouts: 4, minutes: null, usd: 4.5 };
    const { pool, calls, ledger } = poolBench({ workers: 4, log: await open(), limits });
    expect(ledger.may('loop')).toBe('rollouts');
    ledger.limits = { ...limits, rollouts: null };
    expect(ledger.may('loop')).toBe('usd'); // one told, three not: half a dollar is left
    void pool.take(ask('a0'), 'text', 'loop');
    await settled();
    expect(calls.map((c) => c.keys)).toEqual([['a0']]);
    await calls[0]!.finish('a0', { usage: noUsage });
    expect(ledger.may('loop')).toBe('start');
  });

  test('is lost when the engine comes to its end without it', async () => {
    const { pool, ledger, log } = poolBench({ workers: 4, log: await open() });
    pool.forgo();
    expect(linesOf(log()).flatMap((e) => (e.type === 'rollout.lost' ? [e.key] : []))).toEqual(['a0', 'a1', 'a2']);
    for (const { spending } of [ledger, again(log())]) expect(spending.usd.reckoned).toBe(4);
    expect([ledger.started, ledger.recovered]).toEqual([4, 0]);
  });
});

describe('the log at the next start', () => {
  test('tells as lost only what nobody knows of', async () => {
    const { pool, log } = poolBench({ workers: 2 });
    pool.plan(asks('a', 5), 'text', 'loop');
    await settled();
    const read = again(log());
    const told: unknown[] = [];
    read.lose((e) => told.push(e), { finished: ['a0', 'other'], notBegun: ['a3', 'a4'] });
    expect(told).toEqual([
      { type: 'rollout.lost', key: 'a1' },
      { type: 'rollout.lost', key: 'a2' },
      ...['a3', 'a4'].map((key) => ({
        type: 'rollout.cancelled',
        key,
        why: 'the process ended before its turn',
        begun: false,
      })),
    ]);
    expect([...read.open]).toEqual(['a0']);
    expect(read.started).toBe(3);
  });

  test('asks the backend only where something is open', async () => {
    const { pool, calls, log } = poolBench({ workers: 2 });
    let asked: readonly string[] | null = null;
    const rollouts = {
      recover: async (keys: readonly string[]) => {
        asked = keys;
        return { finished: keys, notBegun: [] };
      },
    };
    pool.plan([ask('a')], 'text', 'loop');
    await settled();
    expect(await again(log()).recovered({})).toEqual({ finished: [], notBegun: [] });
    expect(await again(log()).recovered(rollouts)).toEqual({ finished: ['a'], notBegun: [] });
    await calls[0]!.finish('a');
    asked = null;
    await again(log()).recovered(rollouts);
    expect(asked).toBeNull();
  });
});
