import { describe, expect, test } from 'bun:test';
import { readText } from '../journal/journal.ts';
import { TextMemory } from '../journal/journal-fixture.ts';
import { type Failure, fail } from '../ports/failure.ts';
import { unscored } from '../ports/outcome.ts';
import type { Proposals } from '../ports/proposals.ts';
import { noUsage } from '../ports/usage.ts';
import { Interrupted, Paused } from './ends.ts';
import { essence, type Play, play, randomLatency, until } from './session-fixture.ts';

const base: Play = { world: { seed: 3 }, budget: 90, finalize: true, texts: new TextMemory() };
const down: Failure = {
  code: 'environment-down',
  what: 'the daemon is gone',
  where: 'docker',
  fix: 'start it',
  retryable: true,
};
const types = (log: string) => readText(log).lines.map((l) => l.event.type);

describe('a backend that fails', () => {
  test('twice: waits, tries again, and nothing of it reaches a decision', async () => {
    const want = essence(await play(base));
    let failures = 0;
    const got = await play({
      ...base,
      meddle: (report) => (failures++ < 2 ? { kind: 'failed', key: report.key, failure: down } : report),
    });
    expect(failures).toBeGreaterThan(2);
    expect(essence(got)).toEqual(want);
    expect(types(got.log).filter((t) => t === 'rollout.cancelled').length).toBe(2);
  });

  test('three times alike in a row: the session pauses with the fix; the next start goes on', async () => {
    const want = essence(await play(base));
    let n = 0;
    const { log, error } = await until({
      ...base,
      meddle: (report) => (n++ >= 20 ? { kind: 'failed', key: report.key, failure: down } : report),
    });
    expect(error).toBeInstanceOf(Paused);
    expect((error as Paused).failure).toEqual(down);
    const again = await play({ ...base, log });
    expect(essence(again)).toEqual(want);
  });

  test('for a reason that waiting can’t mend: at once', async () => {
    let n = 0;
    const auth: Failure = { ...down, code: 'auth', retryable: false };
    const { error, log } = await until({
      ...base,
      meddle: (report) => (n++ === 5 ? { kind: 'failed', key: report.key, failure: auth } : report),
    });
    expect((error as Paused).failure.code).toBe('auth');
    expect(types(log).filter((t) => t === 'rollout.cancelled').length).toBe(1);
  });

  test('in many ways in turn: it pauses all the same', async () => {
    const codes = ['environment-down', 'disk', 'quota'] as const;
    let n = 0;
    const { error } = await until({
      ...base,
      meddle: (report) => ({ kind: 'failed', key: report.key, failure: { ...down, code: codes[n++ % 3] ?? 'quota' } }),
    });
    expect(error).toBeInstanceOf(Paused);
    expect(n).toBeLessThan(10);
  });

  test('rollouts that fail side by side are one failure, not three', async () => {
    let n = 0;
    const o: Play = { ...base, workers: 8, latency: () => 10 };
    const got = await play({
      ...o,
      meddle: (report) => (n++ < 6 ? { kind: 'failed', key: report.key, failure: down } : report),
    });
    expect(essence(got)).toEqual(essence(await play(o)));
  });

  test('by cancelling what nobody asked it to cancel: a fault, not a wait without end', async () => {
    const { error } = await until({ ...base, meddle: (report) => ({ kind: 'cancelled', key: report.key }) });
    expect(String(error)).toContain('nobody asked for');
  });

  test('a log that can’t be written ends the run at once, from wherever it is written', async () => {
    for (let at = 5; at < 60; at += 7) {
      let n = 0;
      const full = fail('disk', 'the disk is full', 'log', 'free some space', { retryable: true });
      const run = play({
        ...base,
        workers: 8,
        latency: randomLatency('f'),
        beforeWrite: () => {
          if (++n >= at) throw full;
        },
      });
      const error = await run.then(
        () => null,
        (e: unknown) => e,
      );
      expect(error === full || (error instanceof Paused && error.failure.code === 'disk')).toBe(true);
    }
  });

  test('a report that was not asked for, or none at all, is a fault that ends the run', async () => {
    const { error } = await until({ ...base, meddle: (report) => ({ ...report, key: 'other' }) });
    expect(String(error)).toContain('other');
  });
});

describe('a provider that answers nobody', () => {
  const silent = unscored('provider-error', 'the server failed (502)');
  const unanswered = (when: (n: number, task: string) => boolean): NonNullable<Play['meddle']> => {
    let n = 0;
    return (report, { task }) =>
      report.kind === 'finished' && when(n++, task.id)
        ? { ...report, result: { ...report.result, outcome: silent } }
        : report;
  };

  test.each([1, 8])('pauses the session long before the budget is gone (%d workers)', async (workers) => {
    const { error, log } = await until({ ...base, workers, latency: () => 10, meddle: unanswered(() => true) });
    expect(error).toBeInstanceOf(Paused);
    const { what, fix } = (error as Paused).failure;
    expect(what).toMatch(/^no answer in \d+ rollouts in a row, at \d+ tasks; the last one: the server failed \(502\)$/);
    expect(fix).toContain('start it again');
    expect(types(log).filter((t) => t === 'rollout.finished').length).toBeLessThan(workers * 3 + 8);
    expect((await until({ ...base, log })).error).toBeNull();
  });

  test('at one task alone is an outcome of this task', async () => {
    let first = '';
    const meddle = unanswered((_n, task) => {
      first ||= task;
      return task === first;
    });
    expect((await until({ ...base, meddle })).error).toBeNull();
  });

  test.each([1, 2, 8])(
    'in one rollout of five, over a whole session, is no reason to pause (%d workers)',
    async (workers) => {
      const often = (n: number) => (n * 7919) % 5 === 0 || (n * 104_729) % 11 === 0;
      const { error } = await until({ ...base, budget: 600, workers, latency: () => 10, meddle: unanswered(often) });
      expect(error).toBeNull();
    },
  );

  test('now and then is no reason to pause', async () => {
    expect((await until({ ...base, meddle: unanswered((n) => n % 4 !== 0 && n < 40) })).error).toBeNull();
  });
});

describe('an optimizer that fails', () => {
  const failing = (times: number, retryable: boolean): Proposals => {
    let n = 0;
    return {
      preflight: async () => [],
      performProposal: async () =>
        n++ < times
          ? { kind: 'failed', failure: { ...down, code: 'optimizer', retryable } }
          : { kind: 'proposal', proposal: { edits: [], summary: 'nothing' }, usage: noUsage, durationMs: 1 },
    };
  };

  test('twice: asked again; three times: the session pauses', async () => {
    expect((await until({ ...base, proposals: failing(2, true) })).error).toBeNull();
    expect((await until({ ...base, proposals: failing(3, true) })).error).toBeInstanceOf(Paused);
    expect((await until({ ...base, proposals: failing(1, false) })).error).toBeInstanceOf(Paused);
  });

  test('what the verifier said does not reach it', async () => {
    let seen = '';
    await play({
      ...base,
      proposals: {
        preflight: async () => [],
        async performProposal(request) {
          seen += JSON.stringify(request);
          return { kind: 'proposal', proposal: { edits: [], summary: '' }, usage: noUsage, durationMs: 1 };
        },
      },
    });
    expect(seen).toContain('train-');
    expect(seen).not.toMatch(/selection-|test-|"output":"secret"/);
  });
});

describe('stopping', () => {
  test('ends what runs, writes nothing more of it, and the next start gives the same', async () => {
    const o: Play = { ...base, workers: 8, latency: randomLatency('s'), optimizerMs: 5, texts: new TextMemory() };
    const want = essence(await play(o));
    for (const after of [10, 40, 90, 150]) {
      const stop = new AbortController();
      let n = 0;
      const lines: string[] = [];
      const run = play({
        ...o,
        signal: stop.signal,
        beforeWrite: (line) => {
          lines.push(line);
          if (++n === after) setImmediate(() => stop.abort());
        },
      });
      expect(
        await run.then(
          () => null,
          (e) => e,
        ),
      ).toBeInstanceOf(Interrupted);
      const log = lines.map((l) => `${l}\n`).join('');
      const open = new Set<string>();
      for (const { event } of readText(log).lines) {
        if (event.type === 'rollout.started') open.add(event.key);
        if (event.type === 'rollout.finished' || event.type === 'rollout.cancelled') open.delete(event.key);
      }
      expect([...open]).toEqual([]);
      const again = await play({ ...o, log, latency: randomLatency(`t${after}`) });
      expect(essence(again)).toEqual(want);
    }
  });
});

test('a key is never at work twice, and no more rollouts run than there are workers', async () => {
  let running = 0;
  let most = 0;
  const { log } = await play({ ...base, world: { seed: 5, infra: 0.1 }, workers: 4, latency: randomLatency('w') });
  const atWork = new Set<string>();
  for (const { event } of readText(log).lines) {
    if (event.type === 'rollout.started') {
      expect(atWork.has(event.key)).toBe(false);
      atWork.add(event.key);
      most = Math.max(most, ++running);
    }
    if (event.type === 'rollout.finished' || event.type === 'rollout.cancelled') {
      atWork.delete(event.key);
      running--;
    }
  }
  expect(most).toBe(4);
});
