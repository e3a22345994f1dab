import {
  type Cell,
  type Matrix,
  type MatrixColumn,
  selectionMatrix,
  testMatrix,
  trainMatrix,
} from '../../../events/matrix.ts';
import type { RunState } from '../../../events/run-state.ts';
import { optimizedPart } from '../../../events/words.ts';
import { remember } from '../../remember.ts';
import { cut, fit, type Line, line, pad, padLeft, type Span, span, widthOf, wrap } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import type { Facts } from './facts.ts';
import { matrixTabs } from './model.ts';

const CELL = 4;

/** Columns that a task's name keeps whatever stands beside it. */
const LEAST_NAME = 10;

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

const metricOf = (f: Facts) => f.state.plan?.gate.metric ?? 'hard';

/** The matrix in a pane of its own: with what its signs mean below it. */
export function matrixPane(f: Facts, width: number): readonly Line[] {
  const lines = matrixLines(f, width);
  const anew = lines[0]?.some((s) => s.text.includes('↻')) === true;
  const notes = [legend(metricOf(f)), columnsNote(f, anew)].flatMap((text) => wrap(text, width - 2));
  return [...lines, [], ...notes.map((t) => line(` ${t}`, 'quiet'))];
}

function columnsNote(f: Facts, anew: boolean): string {
  const tab = tabOf(f);
  switch (tab) {
    case 'train':
      return 'rN = edits tried in round N, each on one task; sN = train swept under the draft';
    case 'selection':
      return [
        `a column a step: what its draft ${metricOf(f) === 'hard' ? 'passed' : 'scored'}`,
        ...(anew ? ['↻ = the best skill anew, after the environment changed'] : []),
        '✓ = the confirmation, fresh runs',
      ].join('; ');
    case 'test':
      return `the sealed test, opened once${optimizedPart(f.state) === 'description' ? '' : '; none = without a skill'}`;
    default:
      return tab satisfies never;
  }
}

/** So many of the last columns are shown at the cost of the tasks’ names. */
const LAST = 3;

/** Task × step: shape, digit and colour say the same. The newest columns stay when there is no room for all. */
export function matrixLines(f: Facts, width: number): readonly Line[] {
  const m = matrixOf(f.state, f.state.lines, tabOf(f));
  if (m.tasks.length === 0 || m.length === 0) return [line(emptyText(f), 'quiet')];
  const note = width >= 60 && tabOf(f) === 'selection' ? 12 : 0;
  const room = width - 3 - (note > 0 ? note + 2 : 0);
  const wanted = Math.max(8, Math.min(Math.max(...m.tasks.map(widthOf)), Math.floor(width * 0.45)));
  const keep = newest(m, room - wanted, Math.max(0, wanted - LEAST_NAME));
  const name = Math.min(wanted, room - keep.reduce((n, k) => n + k.width, 0));
  const hidden = m.length - keep.length;
  const labels = keep.map((k) => span(padLeft(k.column.label, k.width), k.at === m.best ? 'accent' : 'quiet'));
  const metric = metricOf(f);
  return [
    fit([span(` ${pad(hidden > 0 ? `… ${hidden} hidden` : '', name)} `, 'quiet'), ...labels], width),
    ...m.tasks.map((task): Line => {
      const flip = note > 0 ? m.note(task) : '';
      const cells = keep.map((k) => shownCell(k.column.cells.get(task) ?? null, k.width, metric));
      return [span(` ${pad(task, name)} `), ...cells, ...(flip === '' ? [] : [span(`  ${cut(flip, note)}`, 'quiet')])];
    }),
  ];
}

type Kept = { readonly at: number; readonly column: MatrixColumn; readonly width: number };

/** The first column and as many of the last ones as have room; `slack` is what names can give for the last few of them. */
function newest(m: Matrix, room: number, slack: number): readonly Kept[] {
  const kept = (at: number): Kept => {
    const column = m.column(at);
    return { at, column, width: Math.max(CELL, Math.min(8, widthOf(column.label)) + 1) };
  };
  const first = kept(0);
  const keep: Kept[] = [];
  let left = room - first.width;
  for (let at = m.length - 1; at > 0; at--) {
    const next = kept(at);
    if (next.width > left + (keep.length < LAST ? slack : 0)) break;
    keep.push(next);
    left -= next.width;
  }
  return [first, ...keep.reverse()];
}

/** ● all passed, ○ none, ◑ in part, ◌ running, ! unscored, · not run; the digit is passes so far, or the mean of the scores. */
export function shapeOf(c: Cell | null, metric: string): readonly [string, Tone] {
  if (c === null) return ['·', 'quiet'];
  const digit = digitOf(c, metric);
  if (c.running > 0) return [`◌${c.scored > 0 ? digit : ' '}`, 'live'];
  if (c.scored === 0) return ['!–', 'warn'];
  if (c.sum === c.scored) return [`●${digit}`, 'good'];
  return c.sum === 0 ? ['○0', 'bad'] : [`◑${digit}`, 'warn'];
}

/** Passes; under a soft metric the first decimal of the mean, cut off so that only a full score is a 1. */
function digitOf(c: Cell, metric: string): string {
  if (metric === 'hard') return String(c.sum);
  if (c.sum === 0 || c.sum === c.scored) return c.sum === 0 ? '0' : '1';
  return `.${Math.min(9, Math.floor((10 * c.sum) / c.scored + 1e-9))}`;
}

/** The few cells that there are, by text and width: a frame shows thousands of them. */
const shownCells = new Map<string, Span>();

function shownCell(c: Cell | null, width: number, metric: string): Span {
  const [text, tone] = shapeOf(c, metric);
  const key = `${text} ${width} ${tone}`;
  const known = shownCells.get(key);
  if (known) return known;
  const made = span(padLeft(text.length === 1 ? `${text} ` : text, width), tone);
  shownCells.set(key, made);
  return made;
}

function emptyText(f: Facts): string {
  return tabOf(f) === 'test' ? ' sealed: it is opened once, at the end' : ' nothing is measured yet';
}

export const legend = (metric: string): string =>
  `● pass  ○ fail  ◑ ${metric === 'hard' ? 'both' : 'in part'}  ◌ running  ! unscored  · not run; digit = ${metric === 'hard' ? 'passes' : 'mean score'}`;
