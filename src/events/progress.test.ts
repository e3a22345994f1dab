import { describe, expect, test } from 'bun:test';
import { type Play, play } from '../session/session-fixture.ts';
import type { LoggedEvent } from './events.ts';
import { cutAndGoOn, eventsOf, goldenLogs, pool, watch } from './played-fixture.ts';
import { counted, leftText, progress, type Standing, standing, standingTexts } from './progress.ts';
import type { RunState } from './run-state.ts';

const start = Date.parse('2030-01-01T10:00:00.000Z');
const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

/** The same events at other times: `minutes` of each line. */
function timed(events: readonly LoggedEvent[], minutes: (index: number, event: LoggedEvent) => number) {
  return events.map((e, i): LoggedEvent => ({ ...e, at: at(minutes(i, e)) }));
}

/** The state after the first line for which this holds. */
function stateAt(events: readonly LoggedEvent[], wanted: (e: LoggedEvent, s: RunState) => boolean): RunState {
  const upTo = events.length;
  let found = -1;
  watch(events, {
    after: (e, s) => {
      if (found < 0 && wanted(e, s)) found = e.seq;
    },
  });
  expect(found).toBeGreaterThan(0);
  return watch(events.slice(0, Math.min(found, upTo)), {});
}

const demo = () => goldenLogs().find(([name]) => name.includes('demo'))?.[1] ?? [];
const base: Play = { world: { seed: 1 }, budget: 120, finalize: true };

describe('rollouts', () => {
  test('what waits is read by a decision or dropped; what is consumed is what the end says', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const o: Play = { ...base, world: { seed, infra: 0.1 }, ...pool(`p${seed}`) };
      for (const log of [(await play(o)).log, await cutAndGoOn(o, [0.3, 0.6, 0.95])]) {
        const state = watch(eventsOf(log), {
          after: (_e, s) => {
            const p = progress(s, start);
            if (s.plan === null) return;
            expect(p.waiting).toBeLessThanOrEqual(Math.max(0, p.budget - p.consumed)); // retries of the confirmation may overdraw it
            expect(p.consumed + p.waiting).toBeLessThanOrEqual(s.rollouts.finished);
          },
        });
        expect(state.ended?.planned).toBe(state.planned);
        expect(progress(state, start).waiting).toBe(0);
        expect(state.pending.size).toBe(0);
      }
    }
  });

  test('the sealed test counts by itself', () => {
    const events = demo();
    let most = 0;
    watch(events, {
      after: (_e, s) => {
        if (!s.finalizeStarted) return;
        const { done, of, ofTest } = counted(s);
        expect([of, ofTest]).toEqual([24, true]);
        expect(done).toBeGreaterThanOrEqual(most);
        most = done;
      },
    });
    expect(most).toBe(24);
  });
});

describe('minutes', () => {
  test('run from line to line and never backwards, whatever the clock does', () => {
    const jumpy = timed(demo(), (i) => (i % 50 === 49 ? -100 : i / 10));
    let before = 0;
    watch(jumpy, {
      after: (_e, s) => {
        expect(s.minutes).toBeGreaterThanOrEqual(before);
        expect(progress(s, start - 1e9).minutes).toBe(s.minutes);
        before = s.minutes;
      },
    });
  });

  test('stand still in a pause and between two processes, and go on afterwards', () => {
    const [first, second, third] = demo();
    const of = (type: string, minutes: number, more: object) =>
      ({ ...first, ...more, type, seq: 4, at: at(minutes) }) as unknown as LoggedEvent;
    const lines = [
      { ...first, at: at(0) },
      { ...second, at: at(2) },
      { ...third, at: at(3) },
      of('session.paused', 5, { why: 'paused by you', fix: '' }),
      of('rollout.cancelled', 9, { key: 'a/b/c/0.0', why: '' }),
      of('session.resumed', 60, { program: '1' }),
      of('concurrency.changed', 64, { workers: 2 }),
      // the process died here and another one took over
      of('session.resumed', 200, { program: '1' }),
    ] as LoggedEvent[];
    const minutes = lines.map((_, n) => watch(lines.slice(0, n + 1), {}).minutes);
    expect(minutes).toEqual([0, 2, 3, 5, 5, 5, 9, 9]);
    const now = (n: number, m: number) => progress(watch(lines.slice(0, n), {}), start + m * 60_000).minutes;
    expect([now(3, 4), now(4, 30), now(5, 30), now(6, 61), now(7, 65)]).toEqual([4, 5, 5, 6, 10]);
  });

  test('stand still when all is over', () => {
    const end = watch(
      timed(demo(), (i) => i / 10),
      {},
    );
    expect(progress(end, start + 1e9).minutes).toBe(end.minutes);
  });
});

describe('what is left', () => {
  test('in the search, at most the rest of the budget at the pace so far', () => {
    const events = timed(demo(), (i) => i / 10);
    const state = stateAt(events, (e) => e.type === 'gate.decided');
    const p = progress(state, Date.parse(state.lastAt ?? ''));
    const done = p.consumed + p.waiting;
    expect(p.leftMinutes).toBeCloseTo(((p.budget - done) * p.minutes) / done);
    expect(leftText(p)).toMatch(/^at most \d+ min left$/);
  });

  test('never beyond what a limit allows', () => {
    const limited = (limits: { rollouts: number | null; minutes: number | null }) => {
      const events = timed(demo(), (i) => i / 10).map((e) => (e.type === 'plan.fixed' ? { ...e, limits } : e));
      const state = stateAt(events, (e) => e.type === 'gate.decided');
      return { state, p: progress(state, Date.parse(state.lastAt ?? '')) };
    };
    const free = limited({ rollouts: null, minutes: null });
    const { started } = free.state.rollouts;
    const few = limited({ rollouts: started + 10, minutes: null });
    expect(few.p.leftMinutes).toBeCloseTo((10 * few.p.minutes) / (few.p.consumed + few.p.waiting));
    expect(standing(few.state).left?.rollouts).toBe(10);
    const short = limited({ rollouts: null, minutes: free.p.minutes + 1 });
    expect(short.p.leftMinutes).toBeLessThan(free.p.leftMinutes ?? 0);
    expect(short.p.leftMinutes).toBeGreaterThan(1);
  });

  test('in confirmation and sealed test, an estimate that comes down to nothing', () => {
    const events = timed(demo(), (i) => i / 10);
    const seen = { confirming: [] as number[], finalizing: [] as number[] };
    const end = watch(events, {
      after: (_e, s) => {
        if (s.phase !== 'confirming' && s.phase !== 'finalizing') return;
        expect(progress(s, start).leftIsMost).toBe(false);
        seen[s.phase].push(standing(s).left?.rollouts ?? 0);
      },
    });
    for (const [phase, all] of [
      ['confirming', 16],
      ['finalizing', 24],
    ] as const) {
      expect(seen[phase][0]).toBe(all);
      expect(seen[phase].at(-1)).toBe(0);
      expect(seen[phase]).toEqual([...seen[phase]].sort((a, b) => b - a));
    }
    expect(progress(end, start).leftMinutes).toBe(0);
  });

  test('nothing is said before there is something to go by', () => {
    const [first, second, third] = demo();
    for (const lines of [[], [first], [first, second, third]])
      expect(
        progress(
          watch(
            lines.filter((l) => l !== undefined),
            {},
          ),
          start,
        ).leftMinutes,
      ).toBeNull();
    expect(leftText({ leftMinutes: null, leftIsMost: true })).toBe('');
  });
});

describe('where a session stands', () => {
  test('as it goes on', () => {
    const said: string[] = [];
    watch(
      timed(demo(), (i) => i / 10),
      {
        after: (e, s) => {
          if (/^(plan|evaluation|gate|confirmation|session)\.(fixed|finished|decided|ended)$|^finalize/.test(e.type))
            said.push(standingTexts(standing(s)).join('; '));
        },
      },
    );
    const without = said.map((t) => t.replace(/\d+/g, 'N'));
    expect(without[0]).toBe(
      'stopped in the baseline after N rollouts; continuing costs at most about N rollouts, cost unknown',
    );
    expect(without).toContain(
      'stopped at step N after N rollouts; continuing costs at most about N min, N rollouts, no model cost',
    );
    expect(without).toContain('the search ended after N rollouts');
    expect(without).toContain(
      'stopped in the sealed test after N rollouts; continuing costs about N min, N rollouts, no model cost',
    );
    expect(without.at(-1)).toBe('all is done, after N rollouts');
  });

  test.each([
    [
      { minutes: 12.4, rollouts: 130, tokens: 0, costUsd: 0, isMost: true },
      'at most about 12 min, 130 rollouts, no model cost',
    ],
    [
      { minutes: 0.5, rollouts: 1, tokens: 41_300, costUsd: 3.1, isMost: false },
      'about 30 s, 1 rollout, 41 k tokens, $3.10',
    ],
    [
      { minutes: 125, rollouts: 9, tokens: null, costUsd: null, isMost: true },
      'at most about 2 h 05 min, 9 rollouts, cost unknown',
    ],
    [{ minutes: null, rollouts: 9, tokens: 0, costUsd: 0, isMost: false }, 'about 9 rollouts, no model cost'],
  ] as const)('%j', (left, costs) => {
    const s: Standing = { at: 'step', step: 4, finished: 61, left };
    expect(standingTexts(s)).toEqual(['stopped at step 4 after 61 rollouts', `continuing costs ${costs}`]);
  });
});
