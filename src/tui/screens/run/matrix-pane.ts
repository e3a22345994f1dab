import { type Cell, type Matrix, selectionMatrix, testMatrix, trainMatrix } from '../../../events/matrix.ts';
import { cut, fit, type Line, line, pad, padLeft, span, widthOf } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import type { Facts } from './facts.ts';
import { matrixTabs } from './model.ts';

const CELL = 4;

/** The matrix of the chosen tab, as read model. */
export function matrixOf(f: Facts): Matrix {
  switch (matrixTabs[f.model.matrixTab] ?? 'selection') {
    case 'selection':
      return selectionMatrix(f.state);
    case 'train':
      return trainMatrix(f.state);
    case 'test':
      return testMatrix(f.state);
  }
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
  const labels = keep.map((at) => padLeft(m.columns[at]?.label ?? '', cell)).join('');
  return [
    fit([span(` ${pad(hidden > 0 ? `… ${hidden} hidden` : '', name)} `, 'quiet'), span(labels, 'quiet')], width),
    ...m.rows.map(
      (r): Line =>
        fit(
          [
            span(` ${pad(r.task, name)} `),
            ...keep.map((at) => shownCell(r.cells[at] ?? null, cell, at === m.best)),
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

function shownCell(c: Cell | null, width: number, best: boolean) {
  const [text, tone] = shapeOf(c);
  const shape = text.length === 1 ? `${text} ` : text;
  return span(padLeft(best ? shape : shape, width), tone);
}

function emptyText(f: Facts): string {
  const tab = matrixTabs[f.model.matrixTab];
  return tab === 'test' ? ' sealed: it is opened once, at the end' : ' nothing is measured yet';
}

export const legend = '● pass  ○ fail  ◑ both  ◌ running  ! unscored  · not run; digit = passes';
