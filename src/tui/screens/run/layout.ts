import { fill, type Line, rule, span, windowed } from '../../text.ts';
import { diffView } from './diff-pane.ts';
import { draftLines } from './draft-pane.ts';
import { evidenceView } from './evidence-pane.ts';
import type { Facts } from './facts.ts';
import { feedLines } from './feed-pane.ts';
import { header, stageOf } from './header.ts';
import { bottomLine, helpLines } from './help-pane.ts';
import { matrixLines, matrixPane, tabByItself, tabOf } from './matrix-pane.ts';
import type { RunContext } from './model.ts';
import { running } from './running.ts';
import { rowCount, scoreTable } from './score-table.ts';

export type Size = { readonly columns: number; readonly rows: number };

/** The smallest terminal on which the run can be shown. */
export const LEAST: Size = { columns: 40, rows: 10 };

/** One row stays free: a frame that fills the terminal would make it scroll. */
const frameHeight = (size: Size): number => size.rows - 1;

/** Header, what runs, and the last line. */
const FIXED = 4;

type PaneView = {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly hunks: readonly number[];
};

/** The pane that fills the body; null = the overview. */
function paneView(f: Facts, width: number): PaneView | null {
  const { model } = f;
  const plain = { hunks: [] };
  switch (model.pane) {
    case 'overview':
      return null;
    case 'feed':
      return { ...plain, title: 'feed', lines: feedLines(f, width, true) };
    case 'matrix':
      return { ...plain, title: `tasks × steps · ${tabOf(f)}`, lines: matrixPane(f, width) };
    case 'draft':
      return { ...plain, title: `draft of ${f.state.draft.length}`, lines: draftLines(f, width, false) };
    case 'evidence':
      return { ...plain, ...evidenceView(f, width) };
    case 'diff':
      return { ...plain, ...diffView(f, width) };
    case 'help':
      return { ...plain, title: 'keys', lines: helpLines(f, width) };
    default:
      return model.pane satisfies never;
  }
}

/** The frame: exactly as many lines as fit, none wider than the terminal. */
export function frame(f: Facts, size: Size): readonly Line[] {
  const width = size.columns;
  const height = frameHeight(size);
  if (width < LEAST.columns || size.rows < LEAST.rows) return tooSmall(f, size);
  const body = height - FIXED;
  const view = paneView(f, width);
  const lines = view ? pane(f, view, width, body) : overview(f, width, body);
  return [...header(f, width), ...lines, running(f, width), bottomLine(f, width)]
    .slice(0, height)
    .map((l) => fill(l, width));
}

function pane(f: Facts, view: PaneView, width: number, height: number): readonly Line[] {
  const room = height - 1;
  const last = Math.max(0, view.lines.length - room);
  const from = f.model.scroll === 'end' ? last : Math.min(f.model.scroll, last);
  const more = last === 0 ? '' : `${from + 1}–${Math.min(view.lines.length, from + room)} of ${view.lines.length}`;
  return filled([rule(view.title, width, more), ...windowed(view.lines, from, room)], height);
}

function overview(f: Facts, width: number, height: number): readonly Line[] {
  const rows = rowCount(f.state) + 1;
  const table = Math.min(rows, Math.max(3, Math.floor(height * (height > 24 ? 0.35 : 0.45))));
  const lower = height - table;
  return [
    ...filled(scoreTable(f, width, table), table),
    ...(width >= 76 && lower >= 4 ? beside(f, width, lower) : feedAlone(f, width, lower)),
  ];
}

function feedAlone(f: Facts, width: number, height: number): readonly Line[] {
  return filled([rule('feed', width), ...tail(feedLines(f, width, false), height - 1)], height);
}

/** Feed on the left; matrix, and the draft below it where there is room, on the right. */
function beside(f: Facts, width: number, height: number): readonly Line[] {
  const right = Math.min(Math.max(34, Math.floor(width * 0.44)), 72);
  const left = width - right - 1;
  const matrix = matrixLines(f, right);
  const room = height - 1;
  const draft = draftLines(f, right, true);
  const withDraft = room >= 9 && f.state.draft.length > 0;
  const below = withDraft ? Math.min(draft.length + 1, Math.max(3, room - matrix.length)) : 0;
  const above = room - below;
  const rights = [
    ...filled(matrix.slice(0, above), above),
    ...(below > 0 ? [rule(`draft of ${f.state.draft.length}`, right), ...tail(draft, below - 1)] : []),
  ];
  const lefts = filled(tail(feedLines(f, left, false), room), room);
  const head: Line = [
    ...fill(rule('feed', left), left),
    span('┬', 'quiet'),
    ...rule(`tasks × steps · ${tabOf(f)}`, right),
  ];
  return [
    head,
    ...filled(rights, room).map(
      (r, at): Line => [...fill(lefts[at] ?? [], left), span('│', 'quiet'), ...fill(r, right)],
    ),
  ];
}

const tail = (lines: readonly Line[], height: number): readonly Line[] => windowed(lines, lines.length, height);

function filled(lines: readonly Line[], height: number): readonly Line[] {
  return [
    ...lines.slice(0, Math.max(0, height)),
    ...Array.from({ length: Math.max(0, height - lines.length) }, (): Line => []),
  ];
}

/** Polite: says what is needed, and that the run does not mind. */
function tooSmall(f: Facts, size: Size): readonly Line[] {
  const texts = [
    `skillopt needs ${LEAST.columns}×${LEAST.rows}`,
    `this terminal has ${size.columns}×${size.rows}`,
    f.model.ending === 'now' ? 'stopping in order' : 'the run goes on',
  ];
  return texts.slice(0, Math.max(1, frameHeight(size))).map((t) => fill([span(t)], Math.max(1, size.columns)));
}

/** What the reducer has to know of the screen as it is shown now. */
export function contextOf(f: Facts, size: Size): RunContext {
  const view = paneView(f, size.columns);
  const table = frameHeight(size) - FIXED;
  return {
    steps: rowCount(f.state) - 1,
    lines: view?.lines.length ?? 0,
    height: view ? table - 1 : Math.max(2, Math.floor(table / 3)),
    stage: stageOf(f.state),
    paused: f.paused,
    matrixTab: tabByItself(f),
    hunks: view?.hunks ?? [],
  };
}
