import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { goldenLogs, watch } from '../../../events/played-fixture.ts';
import type { RunState } from '../../../events/run-state.ts';
import { lineWidth } from '../../text.ts';
import { resumeFrame } from '../resume.ts';
import type { Facts } from './facts.ts';
import { factsOf, textOf } from './frame-fixture.ts';
import { contextOf, frame, LEAST, type Size } from './layout.ts';
import type { Pane, RunModel } from './model.ts';

const [, demo] = goldenLogs().find(([name]) => name.includes('demo')) ?? ['', []];
const panes: readonly Pane[] = ['overview', 'feed', 'matrix', 'draft', 'evidence', 'diff', 'help'];

/** What a session's first `n` lines make of the screen, ten seconds after the last of them. */
const factsAt = (n: number, model: Partial<RunModel> = {}, more: Partial<Facts> = {}): Facts => ({
  ...factsOf(watch(demo.slice(0, n), {}), model),
  slowedMs: 333,
  ...more,
});

/** Times of day are the machine's own. */
const withoutTimes = (text: string): string => text.replaceAll(/\b\d\d:\d\d /g, 'hh:mm ');

const lineOf = (type: string, nth = 1): number => {
  let seen = 0;
  const at = demo.findIndex((e) => e.type === type && ++seen === nth);
  return at + 1;
};

describe('a frame', () => {
  test('has exactly the rows and columns that it may have, at every size, in every pane, after every kind of line', () => {
    const size = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.integer({ min: 2, max: 70 }) });
    const model = fc.record({
      pane: fc.constantFrom(...panes),
      step: fc.option(fc.nat(9), { nil: null }),
      scroll: fc.oneof(fc.nat(200), fc.constant('end' as const)),
      matrixTab: fc.option(fc.nat(2), { nil: null }),
      diffTab: fc.nat(1),
      question: fc.constantFrom(null, 'quit', 'finish'),
      ending: fc.constantFrom('no', 'after-step', 'now', 'over'),
      finishing: fc.boolean(),
      pinned: fc.boolean(),
    });
    fc.assert(
      fc.property(
        size,
        model as fc.Arbitrary<RunModel>,
        fc.nat(demo.length),
        fc.constantFrom('', 'opening the session …'),
        (s, m, n, notice) => {
          const f = factsAt(n, m, { notice });
          const lines = frame(f, s);
          if (s.columns < LEAST.columns || s.rows < LEAST.rows) expect(lines.length).toBeLessThan(s.rows);
          else expect(lines.length).toBe(s.rows - 1);
          expect(lines.map(lineWidth)).toEqual(lines.map(() => s.columns));
          expect(resumeFrame(f, s).length).toBeLessThan(s.rows);
          const context = contextOf(f, s);
          expect(context.steps).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('holds what hostile names and texts say, and nothing of what they would do', () => {
    const f = factsAt(demo.length);
    const { session } = f.state;
    if (!session) throw new Error('no session');
    const name = '\u001b[2J汉🦀\u202e\r\n';
    const state = { ...f.state, session: { ...session, skill: { ...session.skill, name } } } as RunState;
    const lines = frame({ ...f, state }, { columns: 80, rows: 24 });
    expect(lines.map(lineWidth)).toEqual(lines.map(() => 80));
    expect(textOf(lines.slice(0, 1))).toContain('\\u{1b}[2J汉🦀\\u{202e}');
  });

  test('says on every size that it is a rehearsal', () => {
    for (const columns of [40, 50, 79, 80, 120])
      expect(textOf(frame(factsAt(200), { columns, rows: 24 }))).toContain('REHEARSAL');
  });

  test('is polite where it has no room', () => {
    expect(textOf(frame(factsAt(100), { columns: 39, rows: 10 }))).toBe(
      'skillopt needs 40×10\nthis terminal has 39×10\nthe run goes on',
    );
    expect(frame(factsAt(100), { columns: 20, rows: 2 }).length).toBe(1);
  });
});

test('what calls wait for stands in the place of what runs, at every size', () => {
  const waiting = '12 s: too many requests, try 2 of 5';
  for (const size of sizes) {
    const shown = frame(factsAt(lineOf('gate.decided', 4) - 3, {}, { waiting }), size);
    expect(textOf(shown)).toContain(` waiting  ${waiting}`);
  }
});

const sizes: readonly Size[] = [
  { columns: 120, rows: 40 },
  { columns: 80, rows: 24 },
  { columns: 50, rows: 15 },
];

describe.each(sizes.map((s) => [`${s.columns}×${s.rows}`, s] as const))('at %s', (_name, size) => {
  const snapshot = (f: Facts) => expect(withoutTimes(textOf(frame(f, size)))).toMatchSnapshot();

  test('before the session is open', () => snapshot(factsAt(0, {}, { notice: 'opening the session …' })));
  test('the baseline on its way', () => snapshot(factsAt(lineOf('rollout.finished', 4))));
  test('a round', () => snapshot(factsAt(lineOf('screening.decided', 2))));
  test('a gate on its way', () => snapshot(factsAt(lineOf('gate.decided', 4) - 3)));
  test('after two steps', () => snapshot(factsAt(lineOf('gate.decided', 2))));
  test('the confirmation', () => snapshot(factsAt(lineOf('confirmation.finished') - 4)));
  test('the end', () => snapshot(factsAt(demo.length)));
  test('a question', () => snapshot(factsAt(200, { question: 'quit' })));
  test('paused', () => snapshot(factsAt(200, {}, { paused: true })));
  test('stopping', () => snapshot(factsAt(200, { ending: 'now' })));
  test.each(panes.filter((p) => p !== 'overview'))('the pane %s', (pane) =>
    snapshot(factsAt(lineOf('gate.decided', 4) - 3, { pane, scroll: pane === 'feed' ? 'end' : 0 })),
  );
  test('the evidence of a rejection', () =>
    snapshot(factsAt(lineOf('gate.decided', 4), { pane: 'evidence', step: 3, scroll: 0 })));
  test('the evidence of the baseline', () =>
    snapshot(factsAt(lineOf('gate.decided', 4), { pane: 'evidence', step: 0, scroll: 0 })));
  test('the diff of the best skill', () => snapshot(factsAt(demo.length, { pane: 'diff', diffTab: 1, scroll: 0 })));
  test('the matrix of train', () => snapshot(factsAt(demo.length, { pane: 'matrix', matrixTab: 1, scroll: 0 })));
  test('the question whether to go on', () =>
    expect(textOf(resumeFrame(factsAt(lineOf('gate.decided', 3) + 5), size))).toMatchSnapshot());
});
