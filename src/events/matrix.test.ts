import { describe, expect, test } from 'bun:test';
import { type Play, play } from '../session/session-fixture.ts';
import type { LoggedEvent } from './events.ts';
import { type Matrix, selectionMatrix, testMatrix, trainMatrix } from './matrix.ts';
import { cutAndGoOn, eventsOf, goldenLogs, pool, watch } from './played-fixture.ts';
import type { Score } from './shapes.ts';

/** Sums of a column: passed, scored, rollouts in all. */
function sums(m: Matrix, column: number): readonly number[] {
  const cells = m.rows.flatMap((r) => r.cells[column] ?? []);
  const sum = (of: (c: (typeof cells)[number]) => number) => cells.reduce((a, c) => a + of(c), 0);
  return [sum((c) => c.passed), sum((c) => c.scored), sum((c) => c.scored + c.unscored)];
}
const asSums = (s: Score | null | undefined) => (s ? [s.passed, s.scored, s.of] : []);
const at = (m: Matrix, label: string) => m.columns.findIndex((c) => c.label === label);
const running = (m: Matrix) => m.rows.flatMap((r) => r.cells).reduce((a, c) => a + (c?.running ?? 0), 0);

/** Shape after every line; sums at the end. */
function check(events: readonly LoggedEvent[]) {
  let mostRunning = 0;
  let mostTest = 0;
  const state = watch(events, {
    after: (_event, now) => {
      const all = [selectionMatrix(now), trainMatrix(now), testMatrix(now)];
      for (const [i, m] of all.entries()) {
        const tasks = [now.tasks.selection, now.tasks.train, now.opened === null ? [] : now.tasks.test][i];
        expect(m.rows.map((r) => r.task)).toEqual([...(tasks ?? [])]);
        for (const r of m.rows) expect(r.cells.length).toBe(m.columns.length);
        expect(m.best).toBeGreaterThanOrEqual(-1);
        expect(m.best).toBeLessThan(Math.max(1, m.columns.length));
      }
      const atWork = all.reduce((a, m) => a + running(m), 0);
      expect(atWork).toBeLessThanOrEqual(now.running.size);
      mostRunning = Math.max(mostRunning, atWork);
      const test = testMatrix(now);
      mostTest = Math.max(mostTest, running(test));
    },
  });
  const selection = selectionMatrix(state);
  expect(running(selection)).toBe(0);
  for (const step of state.steps)
    expect(sums(selection, at(selection, `${step.step}`))).toEqual(asSums(step.selection.candidate));
  if (state.confirmation) {
    expect(sums(selection, at(selection, '✓seed'))).toEqual(asSums(state.confirmation.seed));
    expect(sums(selection, at(selection, '✓best'))).toEqual(asSums(state.confirmation.final));
  }
  const train = trainMatrix(state);
  const sweeps = events.flatMap((e) => (e.type === 'evaluation.finished' && e.split === 'train' ? [e.score] : []));
  const sweepColumns = train.columns.flatMap((c, i) => (/^(seed|s\d+)$/.test(c.label) ? [sums(train, i)] : []));
  expect(sweepColumns).toEqual(sweeps.map(asSums) as number[][]);
  const tried = events.filter((e) => e.type === 'screening.decided' && e.task !== null).length;
  const roundSums = train.columns.flatMap((c, i) => (/^r\d+$/.test(c.label) ? [sums(train, i)[2] ?? 0] : []));
  expect(roundSums.reduce((a, b) => a + b, 0)).toBe(tried);
  const sealed = testMatrix(state);
  for (const arm of state.finalized?.arms ?? []) expect(sums(sealed, at(sealed, arm.arm))).toEqual(asSums(arm.score));
  if (state.finalized === null) expect(sealed.columns).toEqual([]);
  return { state, selection, train, sealed, mostRunning, mostTest };
}

describe('task × step', () => {
  const base: Play = { world: { seed: 1 }, budget: 140, finalize: true };

  test.each([1, 8])('sums agree with the decisions, %d workers', async (workers) => {
    let [most, mostTest] = [0, 0];
    for (const seed of [1, 2, 3, 5, 8]) {
      const more = workers === 1 ? {} : pool(`m${seed}`);
      const seen = check(eventsOf((await play({ ...base, world: { seed, infra: 0.1 }, ...more })).log));
      most = Math.max(most, seen.mostRunning);
      mostTest = Math.max(mostTest, seen.mostTest);
    }
    expect(most).toBeGreaterThan(workers === 1 ? 0 : 4);
    expect(mostTest).toBeGreaterThan(workers === 1 ? 0 : 4);
  });

  test('a session that was ended and went on', async () => {
    for (const seed of [1, 2])
      check(eventsOf(await cutAndGoOn({ ...base, world: { seed, infra: 0.1 }, ...pool('n') }, [0.2, 0.5, 0.9, 0.97])));
  });

  test.each(goldenLogs())('%s', (_name, events) => {
    check(events);
  });

  test('columns, the best one and the last flips of the demo', () => {
    const [, events] = goldenLogs().find(([name]) => name.includes('demo')) ?? ['', []];
    const { selection, train, sealed } = check(events);
    expect(selection.columns.map((c) => c.label)).toEqual(['seed', '1', '2', '3', '4', '5', '✓seed', '✓best']);
    expect(selection.columns[selection.best]?.label).toBe('5');
    const notes = Object.fromEntries(selection.rows.filter((r) => r.note !== '').map((r) => [r.task, r.note]));
    expect(notes).toEqual({
      'pilots-newest-first': 'won in 4',
      'count-reefers': 'won in 1',
      'backup-coal-barge': 'lost in 3',
      'tower-in-utc': 'won in 5',
      'duplicate-ore': 'won in 4',
      'sort-grain': 'lost in 3',
    });
    expect(train.columns.map((c) => c.label).slice(0, 4)).toEqual(['seed', 'r1', 's1', 'r2']);
    expect(sealed.columns.map((c) => c.label)).toEqual(['seed', 'result', 'no-skill']);
  });

  test('the open gate is the last column until it is decided', async () => {
    const { log } = await play({ ...base, ...pool('o') });
    let open = 0;
    watch(eventsOf(log), {
      before: (event, state) => {
        if (event.type !== 'gate.decided' || event.pairs === 0) return;
        open++;
        const m = selectionMatrix(state);
        expect(m.columns.at(-1)?.label).toBe(`${event.step}`);
        const read = new Map<string, number>();
        for (const p of event.tasks) if (p.after === 1) read.set(p.task, (read.get(p.task) ?? 0) + 1);
        for (const r of m.rows) expect(r.cells.at(-1)?.passed ?? 0).toBeGreaterThanOrEqual(read.get(r.task) ?? 0);
      },
    });
    expect(open).toBeGreaterThan(1);
  });

  test('a result that is not confirmed: the seed is the best', async () => {
    for (let seed = 1; seed < 60; seed++) {
      const { state } = await play({ ...base, world: { seed, pHi: 0.6, pLo: 0.4 }, budget: 80 });
      if (state.confirmation?.result !== 'not-confirmed') continue;
      const m = selectionMatrix(state);
      expect([m.best, m.columns[0]?.label]).toEqual([0, 'seed']);
      return;
    }
    throw new Error('no world was refuted');
  });
});
