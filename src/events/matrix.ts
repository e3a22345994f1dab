import { type Attempt, attemptsOf } from './attempts.ts';
import { openGate } from './gate-view.ts';
import type { RunState } from './run-state.ts';
import { flips } from './words.ts';

/** One task at one time. A score of 1 is a pass; `running` counts rollouts at work. */
export type Cell = {
  readonly passed: number;
  readonly scored: number;
  readonly unscored: number;
  readonly running: number;
};

/** Null = not run there. `note` names the last flip, such as `won in 1`. */
export type MatrixRow = { readonly task: string; readonly cells: readonly (Cell | null)[]; readonly note: string };

/** A short label for the head of the column, and a title that says what it is. */
export type MatrixColumn = { readonly label: string; readonly title: string };

/** Tasks × time. `best` = the column of the best skill; -1 = none is. */
export type Matrix = {
  readonly columns: readonly MatrixColumn[];
  readonly rows: readonly MatrixRow[];
  readonly best: number;
};

type Column = MatrixColumn & { readonly cells: Map<string, Cell> };

/** The seed, a column for each step (the open gate's last), then the two sides of the confirmation. */
export function selectionMatrix(state: RunState): Matrix {
  const columns: Column[] = [];
  let best = -1;
  const measured = state.measured.filter((m) => m.split === 'selection');
  const measuredBy = (step: number) => {
    for (const m of measured.filter((at) => at.step === step)) columns.push(incumbentColumn(m.why, scored(m.tasks)));
    if (best < 0) best = columns.length - 1;
  };
  measuredBy(0);
  for (const step of state.steps) {
    const tasks = step.tasks.map(({ task, after }) => [task, after] as const);
    columns.push({ label: `${step.step}`, title: `the draft of step ${step.step}`, cells: scored(tasks) });
    if (step.gateAction === 'accept') best = columns.length - 1;
    measuredBy(step.step);
  }
  const baseline = openBaseline(state);
  if (baseline !== null) columns.push(baseline);
  const gate = openGate(state);
  if (gate !== null) {
    const cells = new Map<string, Cell>();
    for (const t of gate.tasks) {
      if (t.after !== undefined) count(cells, t.task, scoreCell(t.after));
      if (t.running !== null) count(cells, t.task, atWork);
    }
    columns.push({ label: `${gate.step}`, title: `the draft of step ${gate.step}, on its way`, cells });
  }
  columns.push(...confirmationColumns(state));
  if (state.confirmation?.result === 'not-confirmed') best = columns.length > 0 ? 0 : -1;
  return matrix(state.tasks.selection, columns, best, lastFlips(state));
}

/** Sweeps of train, and the tasks that each round has tried an edit on. */
export function trainMatrix(state: RunState): Matrix {
  const { draftSkill, incumbent } = state;
  const train = new Set(state.tasks.train);
  const rounds = new Map<number, Column>();
  const round = (n: number) => {
    const known = rounds.get(n);
    if (known) return known;
    const fresh: Column = { label: `r${n}`, title: `edits tried in round ${n}`, cells: new Map() };
    rounds.set(n, fresh);
    return fresh;
  };
  for (const s of state.screened)
    if (s.task !== null) count(round(s.round).cells, s.task, scoreCell(s.passed === null ? null : s.passed ? 1 : 0));
  const sweeps = state.measured.filter((m) => m.split === 'train');
  const now = new Map<string, Cell>();
  for (const a of attemptsOf(state, (r) => r.line === 'loop' && r.seq > 0 && train.has(r.task)))
    count(a.skill === draftSkill ? now : round(roundNow(state)).cells, a.task, attemptCell(a));

  const columns: Column[] = [];
  let best = -1;
  const left = [...rounds].sort(([a], [b]) => a - b);
  const roundsUpTo = (last: number) => {
    while (left[0] !== undefined && left[0][0] <= last) columns.push((left.shift() as (typeof left)[number])[1]);
  };
  let n = 0;
  for (const m of sweeps) {
    roundsUpTo(m.round);
    const seed = m.why === 'seed';
    columns.push({
      label: seed ? 'seed' : `s${++n}`,
      title: seed ? 'the seed' : `sweep: ${m.why}`,
      cells: scored(m.tasks),
    });
    if (m.skill === incumbent) best = columns.length - 1;
  }
  roundsUpTo(Number.POSITIVE_INFINITY);
  if (now.size > 0) {
    const first = sweeps.length === 0;
    columns.push({
      label: first ? 'seed' : `s${n + 1}`,
      title: first ? 'the seed, on its way' : 'sweep, on its way',
      cells: now,
    });
  }
  return matrix(state.tasks.train, columns, best, new Map());
}

/** The arms of the sealed test, over all attempts; no row and no column until it is opened. */
export function testMatrix(state: RunState): Matrix {
  const { opened } = state;
  if (opened === null) return { columns: [], rows: [], best: -1 };
  const titles = { seed: 'with the seed', result: 'with the result', 'no-skill': 'without a skill' } as const;
  const columns = opened.arms.map(({ arm, skill }): Column => {
    const cells = new Map<string, Cell>();
    for (const t of state.tested)
      if (t.skill === skill) count(cells, t.task, scoreCell(t.passed === null ? null : t.passed ? 1 : 0));
    if (state.finalized === null)
      for (const a of attemptsOf(state, (r) => r.line === 'finalize' && r.skill === skill))
        count(cells, a.task, attemptCell(a.passed === null ? a : { ...a, score: a.passed ? 1 : 0 }));
    return { label: arm, title: titles[arm], cells };
  });
  return matrix(
    state.tasks.test,
    columns,
    opened.arms.findIndex((a) => a.arm === 'result'),
    new Map(),
  );
}

const incumbentColumn = (why: string, cells: Map<string, Cell>): Column =>
  why === 'seed'
    ? { label: 'seed', title: 'the seed', cells }
    : { label: '↻', title: 'the best skill anew, after the environment changed', cells };

/** The incumbent on selection before there is a gate, on its way; null when nothing of it is known. */
function openBaseline(state: RunState): Column | null {
  if (state.phase !== 'measuring') return null;
  const selection = new Set(state.tasks.selection);
  const cells = new Map<string, Cell>();
  const { incumbent, session } = state;
  for (const a of attemptsOf(
    state,
    (r) => r.line === 'loop' && r.seq > 0 && r.skill === incumbent && selection.has(r.task),
  ))
    cells.set(a.task, attemptCell(a));
  if (cells.size === 0) return null;
  // what a limit cut off in the middle is decided in part
  for (const [task, scores] of state.bank) for (const score of scores) cells.set(task, scoreCell(score));
  return incumbentColumn(incumbent === session?.skill.hash ? 'seed' : 'incumbent', cells);
}

function confirmationColumns(state: RunState): readonly Column[] {
  const { confirmation, incumbent, session } = state;
  const sides = (seed: Map<string, Cell>, result: Map<string, Cell>): readonly Column[] => [
    { label: '✓seed', title: 'confirmation: the seed, fresh', cells: seed },
    { label: '✓best', title: 'confirmation: the best skill, fresh', cells: result },
  ];
  if (confirmation !== null)
    return sides(
      scored(confirmation.tasks.map((t) => [t.task, t.before])),
      scored(confirmation.tasks.map((t) => [t.task, t.after])),
    );
  const attempts = attemptsOf(state, (r) => r.line === 'confirmation');
  if (attempts.length === 0) return [];
  // a pair that a limit cut in two is rolled anew: the last attempt is the one that counts
  const side = (skill: string | undefined) =>
    new Map(attempts.filter((a) => a.skill === skill).map((a) => [a.task, attemptCell(a)]));
  return sides(side(session?.skill.hash), side(incumbent));
}

/** A person's edits make a round that has no reflection to announce it. */
function roundNow(state: RunState): number {
  let round = state.round;
  for (const e of state.edits.values()) if (e.fate === 'handed-in') round = Math.max(round, e.round);
  return Math.max(1, round);
}

function lastFlips(state: RunState): ReadonlyMap<string, string> {
  const notes = new Map<string, string>();
  for (const step of state.steps) {
    const { won, lost } = flips(step);
    for (const task of won) notes.set(task, `won in ${step.step}`);
    for (const task of lost)
      notes.set(task, won.includes(task) ? `won and lost in ${step.step}` : `lost in ${step.step}`);
  }
  return notes;
}

const atWork: Cell = { passed: 0, scored: 0, unscored: 0, running: 1 };

function scoreCell(score: number | null): Cell {
  return score === null
    ? { passed: 0, scored: 0, unscored: 1, running: 0 }
    : { passed: score === 1 ? 1 : 0, scored: 1, unscored: 0, running: 0 };
}

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
          passed: before.passed + more.passed,
          scored: before.scored + more.scored,
          unscored: before.unscored + more.unscored,
          running: before.running + more.running,
        },
  );
}

function scored(tasks: readonly (readonly [string, number | null])[]): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  for (const [task, score] of tasks) count(cells, task, scoreCell(score));
  return cells;
}

function matrix(
  tasks: readonly string[],
  columns: readonly Column[],
  best: number,
  notes: ReadonlyMap<string, string>,
): Matrix {
  return {
    columns: columns.map(({ label, title }) => ({ label, title })),
    rows: tasks.map((task) => ({
      task,
      cells: columns.map((c) => c.cells.get(task) ?? null),
      note: notes.get(task) ?? '',
    })),
    best,
  };
}
