import { type Cell, type Matrix, selectionMatrix, testMatrix, trainMatrix } from '../../../events/matrix.ts';
import { cut, fit, type Line, line, pad, padLeft, span, widthOf, wrap } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import type { Facts } from './facts.ts';
import { matrixTabs } from './model.ts';

const CELL = 4;

type Tab = (typeof matrixTabs)[number];

/** What is shown while nobody has chosen: selection, and the sealed test once it is opened. */
export const tabByItself = (f: Facts): number => (f.state.finalizeStarted ? 2 : 0);

export const tabOf = (f: Facts): Tab => matrixTabs[f.model.matrixTab ?? tabByItself(f)] ?? 'selection';

function matrixOf(f: Facts): Matrix {
  const tab = tabOf(f);
  switch (tab) {
    case 'selection':
      return selectionMatrix(f.state);
    case 'train':
      return trainMatrix(f.state);
    case 'test':
      return testMatrix(f.state);
    default:
      return tab satisfies never;
  }
}

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
  const m = matrixOf(f);
  if (m.rows.length === 0 || m.columns.length === 0) return [line(emptyText(f), 'quiet')];
  const name = Math.max(8, Math.min(Math.max(...m.rows.map((r) => widthOf(r.task))), Math.floor(width * 0.45)));
  const note = width >= 60 ? 12 : 0;
  const cell = Math.max(CELL, ...m.columns.map((c) => Math.min(8, widthOf(c.label)) + 1));
  const fits = Math.max(1, Math.floor((width - name - note - 3) / cell));
  const hidden = Math.max(0, m.columns.length - fits);
  const keep = hidden === 0 ? m.columns.map((_, at) => at) : [0, ...m.columns.map((_, at) => at).slice(hidden + 1)];
  const labels = keep.map((at) => span(padLeft(m.columns[at]?.label ?? '', cell), at === m.best ? 'accent' : 'quiet'));
  return [
    fit([span(` ${pad(hidden > 0 ? `… ${hidden} hidden` : '', name)} `, 'quiet'), ...labels], width),
    ...m.rows.map(
      (r): Line =>
        fit(
          [
            span(` ${pad(r.task, name)} `),
            ...keep.map((at) => shownCell(r.cells[at] ?? null, cell)),
            span(note > 0 && r.note !== '' ? `  ${cut(r.note, note)}` : '', 'quiet'),
          ],
          width,
        ),
    ),
  ];
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
