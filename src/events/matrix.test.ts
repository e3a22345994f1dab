import { describe, expect, test } from 'bun:test';
import { type Play, partial, play } from '../session/session-fixture.ts';
import type { LoggedEvent } from './events.ts';
import { type Cell, type Matrix, selectionMatrix, testMatrix, trainMatrix } from './matrix.ts';
import { cutAndGoOn, eventsOf, goldenLogs, pool, watch } from './played-fixture.ts';
import type { Score } from './shapes.ts';

const cellsOf = (m: Matrix, column: number) => [...m.column(column).cells.values()];
/** Sums of a column: scores, scored, rollouts in all. */
function sums(m: Matrix, column: number): readonly number[] {
  const sum = (of: (c: Cell) => number) => cellsOf(m, column).reduce((a, c) => a + of(c), 0);
  return [rounded(sum((c) => c.sum)), sum((c) => c.scored), sum((c) => c.scored + c.unscored)];
}
/** The log rounds a mean to four places. */
const rounded = (x: number) => Math.round(x * 100) / 100;
const asSums = (s: Score | null | undefined) => (s ? [rounded((s.mean ?? 0) * s.scored), s.scored, s.of] : []);
const labels = (m: Matrix) => Array.from({ length: m.length }, (_, at) => m.column(at).label);
const at = (m: Matrix, label: string) => labels(m).indexOf(label);
const running = (m: Matrix) => labels(m).reduce((n, _, i) => n + cellsOf(m, i).reduce((a, c) => a + c.running, 0), 0);

/** Shape after every line; sums at the end. */
function check(events: readonly LoggedEvent[]) {
  let mostRunning = 0;
  let mostTest = 0;
  const state = watch(events, {
    after: (_event, now) => {
      const all = [selectionMatrix(now), trainMatrix(now), testMatrix(now)];
      for (const [i, m] of all.entries()) {
        const tasks = [now.tasks.selection, now.tasks.train, now.opened === null ? [] : now.tasks.test][i];
        expect([...m.tasks]).toEqual([...(tasks ?? [])]);
        for (const label of labels(m)) expect(label).not.toBe('');
        expect(m.column(m.length).label).toBe('');
        expect(m.best).toBeGreaterThanOrEqual(-1);
        expect(m.best).toBeLessThan(Math.max(1, m.length));
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
  const sweepColumns = labels(train).flatMap((label, i) => (/^(seed|s\d+)$/.test(label) ? [sums(train, i)] : []));
  expect(sweepColumns).toEqual(sweeps.map(asSums) as number[][]);
  const tried = events.filter((e) => e.type === 'screening.decided' && e.task !== null).length;
  const roundSums = labels(train).flatMap((label, i) => (/^r\d+$/.test(label) ? [sums(train, i)[2] ?? 0] : []));
  expect(roundSums.reduce((a, b) => a + b, 0)).toBe(tried);
  const sealed = testMatrix(state);
  for (const [i, arm] of (state.finalized?.arms ?? []).entries()) expect(sums(sealed, i)).toEqual(asSums(arm.score));
  if (state.finalized === null) expect(labels(sealed)).toEqual([]);
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

  test.each(['soft', 'mixed'] as const)('scores under the metric %s', async (metric) => {
    let between = 0;
    for (const seed of [1, 2, 3]) {
      const { log } = await play({
        ...base,
        metric,
        meddle: partial,
        world: { seed, infra: 0.1 },
        ...pool(`s${seed}`),
      });
      const { selection } = check(eventsOf(log));
      for (let i = 0; i < selection.length; i++) between += cellsOf(selection, i).filter((c) => c.sum % 1 !== 0).length;
    }
    expect(between).toBeGreaterThan(10);
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
    expect(labels(selection)).toEqual(['seed', '1', '2', '3', '4', '5', '✓seed', '✓best']);
    expect(selection.column(selection.best).label).toBe('5');
    const notes = Object.fromEntries(
      selection.tasks.flatMap((t) => (selection.note(t) === '' ? [] : [[t, selection.note(t)]])),
    );
    expect(notes).toEqual({
      'pilots-newest-first': 'won in 4',
      'count-reefers': 'won in 1',
      'backup-coal-barge': 'lost in 3',
      'tower-in-utc': 'won in 5',
      'duplicate-ore': 'won in 4',
      'sort-grain': 'lost in 3',
    });
    expect(labels(train).slice(0, 4)).toEqual(['seed', 'r1', 's1', 'r2']);
    expect(labels(sealed)).toEqual(['seed', 'result', 'none']);
  });

  test('the open gate is the last column until it is decided', async () => {
    const { log } = await play({ ...base, ...pool('o') });
    let open = 0;
    watch(eventsOf(log), {
      before: (event, state) => {
        if (event.type !== 'gate.decided' || event.pairs === 0) return;
        open++;
        const m = selectionMatrix(state);
        const last = m.column(m.length - 1);
        expect(last.label).toBe(`${event.step}`);
        const read = new Map<string, number>();
        for (const p of event.tasks) if (p.after === 1) read.set(p.task, (read.get(p.task) ?? 0) + 1);
        for (const t of m.tasks) expect(last.cells.get(t)?.sum ?? 0).toBeGreaterThanOrEqual(read.get(t) ?? 0);
      },
    });
    expect(open).toBeGreaterThan(1);
  });

  test('a result that is not confirmed: the seed is the best', async () => {
    for (let seed = 1; seed < 60; seed++) {
      const { state } = await play({ ...base, world: { seed, pHi: 0.6, pLo: 0.4 }, budget: 80 });
      if (state.confirmation?.result !== 'not-confirmed') continue;
      const m = selectionMatrix(state);
      expect([m.best, m.column(0).label]).toEqual([0, 'seed']);
      return;
    }
    throw new Error('no world was refuted');
  });
});
