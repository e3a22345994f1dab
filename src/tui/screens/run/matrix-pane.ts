import { type Cell, type Matrix, selectionMatrix, testMatrix, trainMatrix } from '../../../events/matrix.ts';
import type { RunState } from '../../../events/run-state.ts';
import { remember } from '../../remember.ts';
import { cut, fit, type Line, line, pad, padLeft, span, widthOf, wrap } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import type { Facts } from './facts.ts';
import { matrixTabs } from './model.ts';

const CELL = 4;

type Tab = (typeof matrixTabs)[number];

/** What is shown while nobody has chosen: selection, and the sealed test once it is opened. */
export const tabByItself = (f: Facts): number => (f.state.finalizeStarted ? 2 : 0);

export const tabOf = (f: Facts): Tab => matrixTabs[f.model.matrixTab ?? tabByItself(f)] ?? 'selection';

const matrixOf = remember((state: RunState, _lines: number, tab: Tab): Matrix => {
  switch (tab) {
    case 'selection':
      return selectionMatrix(state);
    case 'train':
      return trainMatrix(state);
    case 'test':
      return testMatrix(state);
    default:
      return tab satisfies never;
  }
});

/** The matrix in a pane of its own: with what its signs mean below it. */
export function matrixPane(f: Facts, width: number): readonly Line[] {
  const heads =
    tabOf(f) === 'train'
      ? 'rN = edits tried in round N, each on one task; sN = train swept under the draft'
      : tabOf(f) === 'selection'
        ? 'a column a step: what its draft passed; ✓ = the confirmation, fresh runs'
        : 'the sealed test, opened once';
  const notes = [legend, heads].flatMap((text) => wrap(text, width - 2));
  return [...matrixLines(f, width), [], ...notes.map((t) => line(` ${t}`, 'quiet'))];
}

/** Task × step: shape, digit and colour say the same. The newest columns stay when there is no room for all. */
export function matrixLines(f: Facts, width: number): readonly Line[] {
  const m = matrixOf(f.state, f.state.lines, tabOf(f));
  if (m.rows.length === 0 || m.columns.length === 0) return [line(emptyText(f), 'quiet')];
  const name = Math.max(8, Math.min(Math.max(...m.rows.map((r) => widthOf(r.task))), Math.floor(width * 0.45)));
  const note = width >= 60 ? 12 : 0;
  const widths = m.columns.map((c) => Math.max(CELL, Math.min(8, widthOf(c.label)) + 1));
  const keep = newest(widths, width - name - note - 3);
  const hidden = m.columns.length - keep.length;
  const labels = keep.map((at) =>
    span(padLeft(m.columns[at]?.label ?? '', widths[at] ?? CELL), at === m.best ? 'accent' : 'quiet'),
  );
  return [
    fit([span(` ${pad(hidden > 0 ? `… ${hidden} hidden` : '', name)} `, 'quiet'), ...labels], width),
    ...m.rows.map(
      (r): Line =>
        fit(
          [
            span(` ${pad(r.task, name)} `),
            ...keep.map((at) => shownCell(r.cells[at] ?? null, widths[at] ?? CELL)),
            span(note > 0 && r.note !== '' ? `  ${cut(r.note, note)}` : '', 'quiet'),
          ],
          width,
        ),
    ),
  ];
}

/** The first column and as many of the last ones as have room. */
function newest(widths: readonly number[], room: number): readonly number[] {
  const keep: number[] = [];
  let left = room - (widths[0] ?? 0);
  for (let at = widths.length - 1; at > 0 && (widths[at] ?? 0) <= left; at--) {
    keep.unshift(at);
    left -= widths[at] ?? 0;
  }
  return [0, ...keep];
}

/** ● passed, ○ failed, ◑ both, ◌ running, ! unscored, · not run; the digit is passes so far. */
export function shapeOf(c: Cell | null): readonly [string, Tone] {
  if (c === null) return ['·', 'quiet'];
  if (c.running > 0) return [`◌${c.scored > 0 ? c.passed : ' '}`, 'live'];
  if (c.scored === 0) return ['!–', 'warn'];
  if (c.passed === c.scored) return [`●${c.passed}`, 'good'];
  return c.passed === 0 ? ['○0', 'bad'] : [`◑${c.passed}`, 'warn'];
}

function shownCell(c: Cell | null, width: number) {
  const [text, tone] = shapeOf(c);
  return span(padLeft(text.length === 1 ? `${text} ` : text, width), tone);
}

function emptyText(f: Facts): string {
  return tabOf(f) === 'test' ? ' sealed: it is opened once, at the end' : ' nothing is measured yet';
}

export const legend = '● pass  ○ fail  ◑ both  ◌ running  ! unscored  · not run; digit = passes';
