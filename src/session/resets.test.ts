import { describe, expect, test } from 'bun:test';
import { readText } from '../journal/journal.ts';
import { TextMemory } from '../journal/journal-fixture.ts';
import type { Failure } from '../ports/failure.ts';
import type { Proposals } from '../ports/proposals.ts';
import { noUsage } from '../ports/usage.ts';
import { Interrupted, type Paused } from './ends.ts';
import { Hold } from './hold.ts';
import { isFar, Resets, untilRetryMs } from './resets.ts';
import { essence, type Play, play, until } from './session-fixture.ts';

const HOUR_MS = 3_600_000;
const base: Play = { world: { seed: 3 }, budget: 90, finalize: true, texts: new TextMemory() };

/** The window is used up until so long from now. */
function usedUp(ms: number, nowMs = Date.now()): Failure {
  return {
    code: 'quota',
    what: 'the login of codex is used up',
    where: 'login',
    fix: 'start it again then',
    retryable: true,
    retryAt: new Date(nowMs + ms).toISOString(),
  };
}

/** Resets over a clock of its own, which moves on from now only when it is told to. */
function bench(o: { readonly hold?: Hold } = {}) {
  const hold = o.hold ?? new Hold();
  const stop = new AbortController();
  const log: string[] = [];
  let nowMs = Date.now();
  let timers: { readonly at: number; readonly go: () => void }[] = [];
  const resets = new Resets({
    hold,
    signal: stop.signal,
    markPaused: (why, fix) => log.push(`paused: ${why}; ${fix}`),
    markResumed: () => log.push('resumed'),
    nowMs: () => nowMs,
    later: (go, ms) => {
      const timer = { at: nowMs + ms, go };
      timers.push(timer);
      return () => {
        timers = timers.filter((t) => t !== timer);
      };
    },
  });
  return {
    hold,
    stop,
    log,
    resets,
    get timers() {
      return timers.length;
    },
    get nowMs() {
      return nowMs;
    },
    wait: (ms: number) => resets.wait(usedUp(ms, nowMs)),
    pass(ms: number): void {
      const end = nowMs + ms;
      for (;;) {
        const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((t) => t !== next);
        nowMs = next.at;
        next.go();
      }
      nowMs = end;
    },
  };
}

describe('a window that is used up', () => {
  test('says how long', () => {
    const now = Date.parse('2026-12-01T12:00:00Z');
    expect(untilRetryMs(usedUp(HOUR_MS, now), now)).toBe(HOUR_MS);
    expect(untilRetryMs(usedUp(-HOUR_MS, now), now)).toBe(0);
    expect(untilRetryMs({ ...usedUp(0, now), retryAt: undefined }, now)).toBeNull();
    expect(untilRetryMs({ ...usedUp(0, now), retryAt: 'soon' }, now)).toBeNull();
    expect([isFar(usedUp(HOUR_MS)), isFar(usedUp(60_000)), isFar(usedUp(-1))]).toEqual([true, false, false]);
  });

  test('is waited for, and not a moment less', () => {
    const b = bench();
    expect(b.wait(HOUR_MS)).toBe(true);
    expect(b.hold.isHeld).toBe(true);
    expect(b.log).toEqual([
      'paused: the login of codex is used up; it goes on by itself then; on its screen it can be resumed sooner',
    ]);
    b.pass(HOUR_MS);
    expect(b.hold.isHeld).toBe(true);
    b.pass(5_000);
    expect(b.hold.isHeld).toBe(false);
    expect(b.log.slice(1)).toEqual(['resumed']);
    expect([b.resets.untilMs, b.timers]).toEqual([null, 0]);
  });

  test('that is told by several at once is one wait, for the longest', () => {
    const b = bench();
    for (const hours of [1, 3, 2]) expect(b.wait(hours * HOUR_MS)).toBe(true);
    expect(b.log.length).toBe(1);
    b.pass(2 * HOUR_MS + 60_000);
    expect(b.hold.isHeld).toBe(true);
    b.pass(HOUR_MS);
    expect(b.hold.isHeld).toBe(false);
  });

  test('that is not reset when it said is looked at again after a minute, three times, and then it is something else', () => {
    const b = bench();
    for (let n = 0; n < 3; n++) {
      expect(b.wait(-HOUR_MS)).toBe(true);
      b.pass(59_000);
      expect(b.hold.isHeld).toBe(true);
      b.pass(1_000);
      expect(b.hold.isHeld).toBe(false);
    }
    expect(b.wait(-HOUR_MS)).toBe(false);
    expect(b.hold.isHeld).toBe(false);
    b.resets.answered();
    expect(b.wait(HOUR_MS)).toBe(true);
  });

  test('for longer than a week, without a time, or when the process ends, is no wait', () => {
    const b = bench();
    expect(b.wait(30 * 24 * HOUR_MS)).toBe(false);
    expect(b.resets.wait({ ...usedUp(0), retryAt: undefined })).toBe(false);
    expect(b.wait(7 * 24 * HOUR_MS)).toBe(true);
    b.stop.abort();
    expect([b.resets.untilMs, b.timers]).toEqual([null, 0]);
    expect(b.wait(HOUR_MS)).toBe(false);
  });

  test('goes on sooner when its user wants, and leaves their own pause alone', () => {
    const b = bench();
    b.wait(HOUR_MS);
    b.resets.goOn();
    expect([b.hold.isHeld, b.timers, b.log.at(-1)]).toEqual([false, 0, 'resumed']);
    b.hold.hold();
    expect(b.wait(HOUR_MS)).toBe(true);
    expect([b.resets.untilMs, b.log.length]).toEqual([null, 2]);
    b.pass(2 * HOUR_MS);
    expect(b.hold.isHeld).toBe(true);
  });
});

describe('a session whose login is used up', () => {
  const atRollout = (n: number, failure: () => Failure): NonNullable<Play['meddle']> => {
    let at = 0;
    return (report) => (at++ === n ? { kind: 'failed', key: report.key, failure: failure() } : report);
  };
  const types = (log: string) => readText(log).lines.map((l) => l.event.type);

  test('pauses at once, with nothing tried again, and goes on at the next start', async () => {
    const want = essence(await play(base));
    const { log, error } = await until({ ...base, meddle: atRollout(20, () => usedUp(HOUR_MS)) });
    expect((error as Paused).failure).toMatchObject({ code: 'quota', fix: 'start it again then' });
    expect(types(log).filter((t) => t === 'rollout.cancelled').length).toBe(1);
    expect(essence(await play({ ...base, log }))).toEqual(want);
  });

  test('for a moment is waited for like any other failure', async () => {
    const want = essence(await play(base));
    const got = await play({ ...base, meddle: atRollout(20, () => usedUp(30)) });
    expect(essence(got)).toEqual(want);
  });

  test.each([1, 6])('waits when it shall, and comes to the same result (%d workers)', async (workers) => {
    const o: Play = { ...base, workers, latency: () => 10, optimizerMs: 5 };
    const want = essence(await play(o));
    const b = bench();
    let startedHeld = 0;
    let running = 0;
    let n = 0;
    const passWhenIdle = () => (running === 0 ? b.pass(2 * HOUR_MS) : setImmediate(passWhenIdle));
    const got = await play({
      ...o,
      hold: b.hold,
      resets: b.resets,
      beforeWrite: (line) => {
        if (line.includes('"type":"rollout.started"')) running++;
        if (/"type":"rollout\.(finished|cancelled)"/.test(line)) running--;
        if (b.hold.isHeld && /"type":"(rollout|reflection)\.started"/.test(line)) startedHeld++;
      },
      meddle: (report) => {
        if (++n !== 20 && !b.hold.isHeld) return report;
        if (n === 20) setImmediate(passWhenIdle);
        return { kind: 'failed', key: report.key, failure: usedUp(HOUR_MS, b.nowMs) };
      },
    });
    expect(startedHeld).toBe(0);
    expect(essence(got)).toEqual(want);
    expect(b.log.length).toBe(2);
    expect(b.log.at(-1)).toBe('resumed');
  });

  test('waits for its optimizer, too', async () => {
    const b = bench();
    let asked = 0;
    const proposals: Proposals = {
      preflight: async () => [],
      performProposal: async () => {
        if (asked++ > 0)
          return { kind: 'proposal', proposal: { edits: [], summary: '' }, usage: noUsage, durationMs: 1 };
        setImmediate(() => b.pass(2 * HOUR_MS));
        return { kind: 'failed', failure: usedUp(HOUR_MS, b.nowMs) };
      },
    };
    await play({ ...base, hold: b.hold, resets: b.resets, proposals });
    expect(asked).toBeGreaterThan(1);
    expect(b.log.length).toBe(2);
  });

  test('is stopped in order while it waits', async () => {
    const b = bench();
    const { error } = await until({
      ...base,
      hold: b.hold,
      resets: b.resets,
      signal: b.stop.signal,
      meddle: atRollout(20, () => {
        setImmediate(() => b.stop.abort());
        return usedUp(HOUR_MS, b.nowMs);
      }),
    });
    expect(error).toBeInstanceOf(Interrupted);
    expect([b.log.length, b.timers]).toEqual([1, 0]);
  });
});
