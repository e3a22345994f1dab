import type { Score } from '../events/shapes.ts';
import { type Edit, isSameEdit } from '../ports/edit.ts';
import type { RefusedDraft, TriedEdit } from '../ports/proposals.ts';
import type { Settled } from './conversation.ts';
import type { LoopPlan } from './plan.ts';
import { noRemovals, type Removals } from './removals.ts';

/** One outcome on selection: value under the metric in 1/1000, and pass or fail. Null = unscored. */
export type Cell = { readonly value: number; readonly hard: 0 | 1 } | null;

export function cellOf(s: Settled): Cell {
  return s.value === null || s.hard === null ? null : { value: s.value, hard: s.hard };
}

/** An edit of the draft and the train task that it was seen to fix (null: kept without a try). */
export type Kept = { readonly edit: Edit; readonly hash: string; readonly fixed: string | null };

/** The edits of one round. A person's edit may be kept without a try; a reflection's has to fix a task first. */
export type RoundEdits = {
  readonly edits: readonly Edit[];
  readonly source: 'reflection' | 'person';
  readonly atMost: number;
  /** Place of the first edit that is still to be decided. */
  readonly from: number;
};

/** What the search knows. Changed only by the engine's own functions, between two awaited calls. */
export type SearchState = {
  incumbent: string;
  draft: Kept[];
  /** Incumbent with the draft's edits applied. */
  draftText: string;
  /** Edits of the draft that a gate has seen. */
  gated: number;
  /** The incumbent's outcomes on selection, block by block. */
  bank: Map<string, Cell[]>;
  /** Last scored outcome of a train task under the draft. */
  readonly train: Map<string, 0 | 1>;
  /** Key of the newest failing rollout of a train task. */
  readonly newest: Map<string, string>;
  /** Points of an edit, by identity. */
  readonly points: Map<string, number>;
  /** Since `loop@2`. */
  readonly removals: Removals;
  /** Grows at its end, or is replaced as a whole: whoever asks later for what stood there finds it unchanged. */
  tried: TriedEdit[];
  readonly refused: RefusedDraft[];
  /** Guidance that met its gate, with what came of it. */
  guidances: TriedEdit[];
  /** Guidance whose gate is still to come, or was cut off. */
  guidance: Edit | null;
  /** Tries on train and verdicts on drafts so far, and how many of them the newest guidance was distilled from. */
  judged: number;
  judgedAtGuidance: number;
  rounds: number;
  roundsAtGate: number;
  /** Edits handed in since the gate before. */
  offered: number;
  steps: number;
  /** Of these: gates that nothing cut off. */
  gates: number;
  /** A gate was cut off by budget, limit or a changed environment: it starts anew before anything else. */
  gateCut: boolean;
  /** What a stop or a changed environment left of a round: screened before anything else. */
  cutRound: RoundEdits | null;
  accepted: number;
  /** Rejections in a row: until the draft is dropped, until the incumbent is rolled anew. */
  rejectedInRow: number;
  rejectedSinceRefresh: number;
  /** Gates or sweeps in a row that could not be judged. */
  indecisive: number;
};

export function startState(plan: LoopPlan): SearchState {
  return {
    incumbent: plan.seedText,
    draft: [],
    draftText: plan.seedText,
    gated: 0,
    bank: emptyBank(plan),
    train: new Map(),
    newest: new Map(),
    points: new Map(),
    removals: noRemovals(),
    tried: [],
    refused: [],
    guidances: [],
    guidance: null,
    judged: 0,
    judgedAtGuidance: 0,
    rounds: 0,
    roundsAtGate: 0,
    offered: 0,
    steps: 0,
    gates: 0,
    gateCut: false,
    cutRound: null,
    accepted: 0,
    rejectedInRow: 0,
    rejectedSinceRefresh: 0,
    indecisive: 0,
  };
}

export function emptyBank(plan: LoopPlan): Map<string, Cell[]> {
  return new Map(plan.selection.map((t) => [t.id, []]));
}

/** Train tasks whose last outcome under the draft was a failure that can be shown. */
export function failingTasks(plan: LoopPlan, s: SearchState): string[] {
  const failing: string[] = [];
  for (const { id } of plan.train) if (s.train.get(id) === 0 && s.newest.has(id)) failing.push(id);
  return failing;
}

/** Edits of the draft that no gate has seen. */
export function unseen(s: SearchState): number {
  return s.draft.length - s.gated;
}

/** The plan's last step is decided. */
export function isLastStep(plan: LoopPlan, s: SearchState): boolean {
  return plan.search.steps !== undefined && s.gates >= plan.search.steps;
}

/** Notes an outcome on a train task. */
export function noteTrain(s: SearchState, task: string, settled: Settled): void {
  if (settled.hard === 0) s.newest.set(task, settled.rollout);
}

/** Throws the draft away; the tasks that its edits were seen to fix count as failing again. */
export function dropDraft(s: SearchState): void {
  for (const kept of s.draft) if (kept.fixed !== null) s.train.set(kept.fixed, 0);
  const isGone = (edit: Edit) => s.draft.some((k) => isSameEdit(k.edit, edit));
  // they stand near the end of a long list
  let from = s.tried.length;
  for (let left = s.draft.length; left > 0 && from > 0; ) if (s.tried[--from]?.fate === 'in-draft') left--;
  const since = s.tried.slice(from).filter((t) => t.fate !== 'in-draft' || !isGone(t.edit));
  s.tried = s.tried.slice(0, from).concat(since);
  s.draft = [];
  s.draftText = s.incumbent;
  s.gated = 0;
}

/** Counts and mean of some cells. */
export function scoreOf(cells: readonly Cell[]): Score {
  const got = cells.filter((c) => c !== null);
  const sum = got.reduce((a, c) => a + c.value, 0);
  return {
    passed: got.filter((c) => c.hard === 1).length,
    scored: got.length,
    of: cells.length,
    mean: got.length === 0 ? null : Math.round((sum / got.length) * 10) / 10000,
  };
}

/** A cell's value as it stands in the log: 0…1, null = unscored. */
export function shown(c: Cell): number | null {
  return c === null ? null : c.value / 1000;
}
