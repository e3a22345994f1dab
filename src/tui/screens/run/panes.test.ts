import { beforeAll, describe, expect, test } from 'bun:test';
import type { LoggedEvent } from '../../../events/events.ts';
import { openGate } from '../../../events/gate-view.ts';
import { eventsOf, goldenLogs, pool, watch } from '../../../events/played-fixture.ts';
import type { Power } from '../../../events/power.ts';
import type { RunState, StepState } from '../../../events/run-state.ts';
import { type Play, partial, play } from '../../../session/session-fixture.ts';
import { bodyOf, factsOf, stateBefore, textOf } from './frame-fixture.ts';
import { frame, type Size } from './layout.ts';
import { matrixLines, shapeOf } from './matrix-pane.ts';
import { scoreTable } from './score-table.ts';

const [, demo] = goldenLogs().find(([name]) => name.includes('demo')) ?? ['', []];
const base: Play = { world: { seed: 1 }, budget: 160 };
const small: Size = { columns: 80, rows: 24 };
const widths = [50, 80, 100, 120, 160];

/** Plays worlds until one has led to what is wanted. */
async function played(of: (seed: number) => Play, wanted: (state: RunState) => boolean) {
  for (let seed = 1; seed < 80; seed++) {
    const { log, state } = await play(of(seed));
    if (wanted(state)) return { events: eventsOf(log), state };
  }
  throw new Error('no world led there');
}

const tableOf = (state: RunState, width: number): string => textOf(scoreTable(factsOf(state), width, 40));
const rowOf = (state: RunState, width: number, step: string): string =>
  tableOf(state, width)
    .split('\n')
    .find((l) => l.trim().startsWith(`${step} `)) ?? '';

/** The golden demo with the whole sealed test open but for its last lines. */
const testOpen = () =>
  stateBefore(demo, (e, at) => e.type === 'rollout.finished' && demo[at + 4]?.type === 'finalize.finished');

describe('the sealed test and the confirmation at 80×24', () => {
  test('all arms are shown while the test is open', () => {
    const body = bodyOf(factsOf(testOpen()), small);
    expect(body).toMatch(/seed +result +none/);
    expect(body).not.toContain('hidden');
    expect(body).toMatchSnapshot();
  });

  test.each([76, 80, 90])('both sides of the confirmation, %d columns', (columns) => {
    const state = stateBefore(demo, (e) => e.type === 'confirmation.finished');
    for (const s of [state, watch(demo.slice(0, state.lines + 1), {})])
      expect(bodyOf(factsOf(s), { ...small, columns })).toContain('✓seed ✓best');
  });

  test('names give way to the last columns, not to all of them', () => {
    const state = watch(demo, {});
    const f = factsOf(state, { matrixTab: 0 });
    for (let width = 34; width <= 120; width++) {
      const [head = '', ...rows] = textOf(matrixLines(f, width)).split('\n');
      expect(head).toContain('✓seed ✓best');
      for (const [i, r] of rows.entries()) expect(r).toContain(` ${state.tasks.selection[i]?.slice(0, 8)}`);
    }
  });
});

describe('a result that is not confirmed', () => {
  let state: RunState;
  beforeAll(async () => {
    const of = (seed: number): Play => ({ world: { seed, pHi: 0.6, pLo: 0.4 }, budget: 80 });
    state = (await played(of, (s) => s.confirmation?.result === 'not-confirmed')).state;
  });

  test.each(widths)('the seed is best, and the row of the result says what came of it: %d columns', (width) => {
    const last = String(state.steps.findLast((s) => s.gateAction === 'accept')?.step);
    expect(rowOf(state, width, '–')).toEndWith('★ best');
    expect(rowOf(state, width, last)).toEndWith('not confirmed');
    expect(tableOf(state, width).match(/★/g)?.length).toBe(1);
  });

  test('at 80×24', () => expect(bodyOf(factsOf(state), small)).toMatchSnapshot());
});

describe('a step', () => {
  test('without enough scored rollouts says so in words', async () => {
    const of = (seed: number): Play => ({ ...base, world: { seed, infra: 0.45 } });
    const { state } = await played(of, (s) => s.steps.some((t) => t.why === 'coverage'));
    const step = String(state.steps.find((s) => s.why === 'coverage')?.step);
    for (const width of widths) {
      expect(tableOf(state, width)).not.toMatch(/coverage|environment-changed/);
      expect(rowOf(state, width, step)).toMatch(/too few (of its rollouts could be )?scored$/);
    }
    expect(rowOf(state, 120, step)).toEndWith('? indecisive: too few of its rollouts could be scored');
    expect(bodyOf(factsOf(state), small)).toMatchSnapshot();
  });

  test('tells what was tried and kept in it, and the draft where that is larger', async () => {
    let larger = 0;
    for (let seed = 1; seed < 9; seed++) {
      const { log, state } = await play({ ...base, world: { seed } });
      let [tried, kept] = [0, 0];
      const told: string[] = [];
      for (const e of eventsOf(log)) {
        if (e.type === 'screening.decided') [tried, kept] = [tried + 1, kept + (e.kept ? 1 : 0)];
        if (e.type === 'edit.rejected' && e.index !== null) tried++;
        if (e.type !== 'gate.decided') continue;
        const more = e.edits.length > kept;
        if (more) larger++;
        told.push(`${e.tried} → ${kept}${more ? `, draft of ${e.edits.length}` : ''}  `);
        expect(kept).toBeLessThanOrEqual(tried);
        [tried, kept] = [0, 0];
      }
      for (const [i, text] of told.entries()) expect(rowOf(state, 120, `${i + 1}`)).toContain(` ${text}`);
    }
    expect(larger).toBeGreaterThan(3);
  });

  test.each(widths.filter((w) => w >= 80))(
    'its reason is whole, and so is what the open one does: %d columns',
    (width) => {
      for (let n = 1; n <= demo.length; n += 7)
        expect(tableOf(watch(demo.slice(0, n), {}), width)).not.toContain('…\n');
      for (const step of watch(demo, {}).steps)
        for (const why of ['it lost more tasks than it won', 'too few wins to tell', 'optimizer-failed', 'coverage']) {
          const told = { ...step, gateAction: 'reject', why, draftDropped: true } as StepState;
          const state = { ...watch(demo, {}), steps: [told], timeline: { ...watch([], {}).timeline } };
          expect(rowOf(state, width, `${step.step}`)).toMatch(/[a-z]$/);
        }
    },
  );

  test('its change is told beside what it is a change from', () => {
    expect(rowOf(watch(demo, {}), 120, '5')).toContain('14/16 88 % ▲2 (from 12/16)');
    expect(rowOf(watch(demo, {}), 80, '5')).toContain('14/16 88 % ▲2 (from 12/16) ★ best');
    expect(rowOf(watch(demo, {}), 50, '5')).toEndWith('✓ 14/16 ▲2 ★ best');
  });
});

describe('scores between 0 and 1', () => {
  let events: readonly LoggedEvent[];
  let state: RunState;
  beforeAll(async () => {
    const of = (seed: number): Play => ({ ...base, metric: 'soft', meddle: partial, finalize: true, world: { seed } });
    ({ events, state } = await played(of, (s) => s.steps.some((t) => t.gateAction === 'accept')));
  });

  test('every row of the score table has the mean that decides', () => {
    const step = state.steps.find((s) => s.gateAction === 'accept') as StepState;
    const mean = (x: number | null | undefined) => (x ?? 0).toFixed(2);
    for (const width of [80, 120]) {
      expect(rowOf(state, width, '–')).toContain(`mean ${mean(state.seed.selection?.mean)}`);
      const { candidate, incumbent } = step.selection;
      const by = ((candidate.mean ?? 0) - (incumbent.mean ?? 0)).toFixed(2);
      expect(rowOf(state, width, `${step.step}`)).toContain(
        `mean ${mean(candidate.mean)} ▲${by} (from ${mean(incumbent.mean)})`,
      );
    }
    for (const width of [96, 100, 104]) expect(rowOf(state, width, `${step.step}`)).toMatch(/▲0\.\d\d /);
    expect(tableOf(state, 120)).not.toMatch(/\d %/);
  });

  test('the matrix marks them as partial', () => {
    for (const matrixTab of [0, 1, 2]) {
      const text = textOf(matrixLines(factsOf(state, { matrixTab }), 120));
      expect(text).toMatch(/◑\.\d/);
      expect(text).not.toMatch(/○[^0]/);
    }
  });

  test('at 80×24', () => {
    const open = stateBefore(events, (e) => e.type === 'gate.decided' && e.step === 2);
    for (const f of [factsOf(open), factsOf(open, { pane: 'matrix', scroll: 0 }), factsOf(state)])
      expect(bodyOf(f, small)).toMatchSnapshot();
  });
});

test.each([
  ['hard', { sum: 2, scored: 2 }, '●2'],
  ['hard', { sum: 1, scored: 2 }, '◑1'],
  ['hard', { sum: 0, scored: 2 }, '○0'],
  ['hard', { sum: 0, scored: 0, unscored: 1 }, '!–'],
  ['hard', { sum: 1, scored: 1, running: 1 }, '◌1'],
  ['soft', { sum: 0.4, scored: 1 }, '◑.4'],
  ['soft', { sum: 0.9, scored: 1 }, '◑.9'],
  ['soft', { sum: 0.7, scored: 1 }, '◑.7'],
  ['soft', { sum: 1.999, scored: 2 }, '◑.9'],
  ['mixed', { sum: 0.001, scored: 1 }, '◑.0'],
  ['mixed', { sum: 2, scored: 2 }, '●1'],
  ['mixed', { sum: 0, scored: 2 }, '○0'],
  ['soft', { sum: 0.5, scored: 1, running: 1 }, '◌.5'],
] as const)('under %s a cell of %o is %s', (metric, cell, shown) => {
  expect(shapeOf({ unscored: 0, running: 0, ...cell }, metric)[0]).toBe(shown);
});

test('a gate of two blocks counts the pairs of both from its beginning', async () => {
  const { log } = await play({ ...base, ...pool('b') });
  let looked = 0;
  watch(eventsOf(log), {
    after: (_event, state) => {
      const gate = openGate(state);
      if (!gate) return;
      looked++;
      const of = 2 * state.tasks.selection.length;
      expect(rowOf(state, 120, `${gate.step}`)).toContain(`after ${gate.pairs} of ${of}`);
      const evidence = bodyOf(factsOf(state, { pane: 'evidence', scroll: 0 }), small);
      expect(evidence).toContain(`at most ${of - gate.pairs} still to come, ${gate.moreWins} of them can be won`);
    },
  });
  expect(looked).toBeGreaterThan(30);
});

describe('what one gate can tell', () => {
  const power: Power = { kind: 'untold', why: 'nobody has worked out what a gate on these few tasks can tell' };
  const evidence = (state: RunState, known: Power | null, step: number | null, size: Size = small) =>
    bodyOf({ ...factsOf(state, { pane: 'evidence', scroll: 0, step }), power: known }, size);

  test('stands above the baseline, at every width', () => {
    const state = watch(demo, {});
    expect(evidence(state, null, 0)).not.toContain('power');
    expect(evidence(state, power, 0)).toMatchSnapshot();
    for (const columns of widths) {
      const [, ...lines] = evidence(state, power, 0, { ...small, columns }).split('\n');
      const text = lines.map((l) => l.trim()).join(' ');
      expect(text).toStartWith(`power  what one gate can tell not told: ${power.why}`);
    }
  });

  test('stands beside the first step until its gate, and beside no other', () => {
    const first = stateBefore(demo, (e) => e.type === 'screening.decided');
    expect(evidence(first, power, null)).toContain('what one gate can tell');
    const gate = demo.findIndex((e) => e.type === 'gate.decided');
    const later = stateBefore(demo, (e, at) => at > gate && e.type === 'screening.decided');
    expect(later.steps).toHaveLength(1);
    expect(evidence(later, power, null)).not.toContain('what one gate can tell');
  });
});

/** A list that notes how many of its items were read. */
function counting<T>(items: readonly T[], read: { times: number }): readonly T[] {
  return new Proxy(items, {
    get(list, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) read.times++;
      return Reflect.get(list, name) as unknown;
    },
  });
}

/** The same few steps again and again. */
function longer(state: RunState, times: number, read: { times: number }): RunState {
  const again = <T>(items: readonly T[]) => counting(Array.from({ length: times }, () => items).flat(), read);
  const { timeline } = state;
  return {
    ...state,
    steps: again(state.steps),
    feed: again(state.feed),
    timeline: {
      ...timeline,
      selection: again(timeline.selection),
      train: again(timeline.train),
      accepted: again(timeline.accepted),
    },
  };
}

test.each(['overview', 'matrix', 'evidence', 'draft'] as const)(
  'what a frame reads of a session does not grow with it: %s',
  (pane) => {
    const state = stateBefore(demo, (e) => e.type === 'gate.decided' && e.step === 5);
    const reads = [300, 900].flatMap((times) =>
      [0, 1].map((matrixTab) => {
        const read = { times: 0 };
        frame(factsOf(longer(state, times, read), { pane, matrixTab, scroll: 0 }), { columns: 120, rows: 40 });
        return read.times;
      }),
    );
    expect(reads.slice(2)).toEqual(reads.slice(0, 2));
    expect(Math.max(...reads)).toBeLessThan(400);
  },
);
