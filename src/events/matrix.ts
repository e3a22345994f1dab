import { type Attempt, attemptsOf } from './attempts.ts';
import { openGate } from './gate-view.ts';
import type { RunState, SelectionTime, TrainTime } from './run-state.ts';

/** One task at one time: the sum of its scores, each 0…1 under the metric (under `hard` these are passes); `running` counts rollouts at work. */
export type Cell = {
  readonly sum: number;
  readonly scored: number;
  readonly unscored: number;
  readonly running: number;
};

/** A column with a short label; a task that has no cell was not run there. */
export type MatrixColumn = { readonly label: string; readonly cells: ReadonlyMap<string, Cell> };

/** Tasks × time. A long session has many columns: each is made when it is asked for. */
export type Matrix = {
  readonly tasks: readonly string[];
  /** Columns, oldest first. */
  readonly length: number;
  /** The column of the best skill; -1 = none is. */
  readonly best: number;
  readonly column: (at: number) => MatrixColumn;
  /** The last flip of a task, such as `won in 1`; empty when none was. */
  readonly note: (task: string) => string;
};

/** The seed, a column for each step (the open gate's last), then the two sides of the confirmation. */
export function selectionMatrix(state: RunState): Matrix {
  const { timeline, confirmation } = state;
  const last = [...openBaseline(state), ...openStep(state), ...confirmationColumns(state)];
  const length = timeline.selection.length + last.length;
  const handedBack = confirmation?.result === 'not-confirmed';
  return {
    tasks: state.tasks.selection,
    length,
    best: handedBack ? Math.min(0, length - 1) : timeline.best,
    column: columnsOf(timeline.selection, selectionColumn, last),
    note: (task) => timeline.flips.get(task) ?? '',
  };
}

/** Sweeps of train, and the tasks that each round has tried an edit on. */
export function trainMatrix(state: RunState): Matrix {
  const { timeline, incumbent } = state;
  const { before, last } = openTrain(state);
  return {
    tasks: state.tasks.train,
    length: before.length + last.length,
    best: timeline.train.findLastIndex((t) => t.kind === 'sweep' && t.measured.skill === incumbent),
    column: columnsOf(before, trainColumn, last),
    note: () => '',
  };
}

/** The arms of the sealed test, over all attempts; no row and no column until it is opened. */
export function testMatrix(state: RunState): Matrix {
  const { opened } = state;
  const arms = opened?.arms ?? [];
  const columns = arms.map(({ arm, skill }): MatrixColumn => {
    const cells = new Map<string, Cell>();
    for (const t of state.tested) if (t.skill === skill) count(cells, t.task, scoreCell(t.score));
    if (state.finalized === null)
      for (const a of attemptsOf(state, (r) => r.line === 'finalize' && r.skill === skill))
        count(cells, a.task, attemptCell(a));
    return { label: arm === 'no-skill' ? 'none' : arm, cells };
  });
  return {
    tasks: opened === null ? [] : state.tasks.test,
    length: columns.length,
    best: arms.findIndex((a) => a.arm === 'result'),
    column: columnsOf<never>([], () => empty, columns),
    note: () => '',
  };
}

const empty: MatrixColumn = { label: '', cells: new Map() };

function columnsOf<T>(
  times: readonly T[],
  make: (time: T) => MatrixColumn,
  last: readonly MatrixColumn[],
): Matrix['column'] {
  return (at) => {
    const time = times[at];
    return time === undefined ? (last[at - times.length] ?? empty) : make(time);
  };
}

const incumbentLabel = (why: string): string => (why === 'seed' ? 'seed' : '↻');

function selectionColumn(time: SelectionTime): MatrixColumn {
  const cells = new Map<string, Cell>();
  if (time.kind === 'measured') {
    for (const [task, score] of time.measured.tasks) count(cells, task, scoreCell(score));
    return { label: incumbentLabel(time.measured.why), cells };
  }
  for (const { task, after } of time.step.tasks) count(cells, task, scoreCell(after));
  return { label: `${time.step.step}`, cells };
}

/** Edits are judged by passes under every metric; sweeps show scores. */
function trainColumn(time: TrainTime): MatrixColumn {
  const cells = new Map<string, Cell>();
  if (time.kind === 'round') {
    for (const { task, passed } of time.screened) if (task !== null) count(cells, task, passCell(passed));
    return { label: `r${time.round}`, cells };
  }
  for (const [task, score] of time.measured.tasks) count(cells, task, scoreCell(score));
  return { label: time.number === 0 ? 'seed' : `s${time.number}`, cells };
}

/** What is at work on train: it belongs to the round that is on, or to a sweep under the draft. */
function openTrain(state: RunState): { readonly before: readonly TrainTime[]; readonly last: readonly MatrixColumn[] } {
  const { draftSkill, timeline } = state;
  const train = new Set(state.tasks.train);
  const sweep = new Map<string, Cell>();
  const tried = new Map<string, Cell>();
  for (const a of attemptsOf(state, (r) => r.line === 'loop' && r.seq > 0 && train.has(r.task)))
    if (a.skill === draftSkill) count(sweep, a.task, attemptCell(a));
    else count(tried, a.task, a.since === null && a.score !== undefined ? passCell(a.passed) : atWork);
  const last: MatrixColumn[] = [];
  let before = timeline.train;
  if (tried.size > 0) {
    // a person's edits make a round that has no reflection to announce it
    const round = Math.max(1, state.round, state.handedInRound);
    const newest = before.at(-1);
    // an edit of the same round may be decided already
    if (newest?.kind === 'round' && newest.round === round) {
      for (const [task, cell] of trainColumn(newest).cells) count(tried, task, cell);
      before = before.slice(0, -1);
    }
    last.push({ label: `r${round}`, cells: tried });
  }
  if (sweep.size > 0) {
    const previous = before.findLast((t) => t.kind === 'sweep');
    last.push({ label: previous === undefined ? 'seed' : `s${previous.number + 1}`, cells: sweep });
  }
  return { before, last };
}

/** The incumbent on selection before there is a gate, on its way; nothing while nothing of it is known. */
function openBaseline(state: RunState): readonly MatrixColumn[] {
  if (state.phase !== 'measuring') return [];
  const selection = new Set(state.tasks.selection);
  const cells = new Map<string, Cell>();
  const { incumbent, session } = state;
  for (const a of attemptsOf(
    state,
    (r) => r.line === 'loop' && r.seq > 0 && r.skill === incumbent && selection.has(r.task),
  ))
    cells.set(a.task, attemptCell(a));
  if (cells.size === 0) return [];
  // what a limit cut off in the middle is decided in part
  for (const [task, scores] of state.bank) for (const score of scores) cells.set(task, scoreCell(score));
  return [{ label: incumbentLabel(incumbent === session?.skill.hash ? 'seed' : 'incumbent'), cells }];
}

function openStep(state: RunState): readonly MatrixColumn[] {
  const gate = openGate(state);
  if (gate === null) return [];
  const cells = new Map<string, Cell>();
  for (const t of gate.tasks) {
    if (t.after !== undefined) count(cells, t.task, scoreCell(t.after));
    if (t.running !== null) count(cells, t.task, atWork);
  }
  return [{ label: `${gate.step}`, cells }];
}

function confirmationColumns(state: RunState): readonly MatrixColumn[] {
  const { confirmation, incumbent, session } = state;
  const sides = (seed: ReadonlyMap<string, Cell>, result: ReadonlyMap<string, Cell>): readonly MatrixColumn[] => [
    { label: '✓seed', cells: seed },
    { label: '✓best', cells: result },
  ];
  if (confirmation !== null)
    return sides(
      new Map(confirmation.tasks.map((t) => [t.task, scoreCell(t.before)])),
      new Map(confirmation.tasks.map((t) => [t.task, scoreCell(t.after)])),
    );
  const attempts = attemptsOf(state, (r) => r.line === 'confirmation');
  if (attempts.length === 0) return [];
  // a pair that a limit cut in two is rolled anew: the last attempt is the one that counts
  const side = (skill: string | undefined) =>
    new Map(attempts.filter((a) => a.skill === skill).map((a) => [a.task, attemptCell(a)]));
  return sides(side(session?.skill.hash), side(incumbent));
}

const atWork: Cell = { sum: 0, scored: 0, unscored: 0, running: 1 };
const unscored: Cell = { sum: 0, scored: 0, unscored: 1, running: 0 };
const failed: Cell = { sum: 0, scored: 1, unscored: 0, running: 0 };
const full: Cell = { sum: 1, scored: 1, unscored: 0, running: 0 };

function scoreCell(score: number | null): Cell {
  if (score === null) return unscored;
  return score === 1 ? full : score === 0 ? failed : { ...failed, sum: score };
}

const passCell = (passed: boolean | null): Cell => (passed === null ? unscored : passed ? full : failed);

function attemptCell(a: Pick<Attempt, 'score' | 'since'>): Cell {
  return a.since !== null || a.score === undefined ? atWork : scoreCell(a.score);
}

function count(cells: Map<string, Cell>, task: string, more: Cell): void {
  const before = cells.get(task);
  cells.set(
    task,
    before === undefined
      ? more
      : {
          sum: before.sum + more.sum,
          scored: before.scored + more.scored,
          unscored: before.unscored + more.unscored,
          running: before.running + more.running,
        },
  );
}
