import { type Attempt, attemptsOf } from './attempts.ts';
import { GATE_BLOCKS, ruleAfter } from './loop-facts.ts';
import type { RunState, StepState } from './run-state.ts';

/** One pair of a gate: a selection task under the incumbent and under the draft. Scores are 0…1. */
export type GateTask = {
  readonly task: string;
  readonly block: number;
  /** Null = unscored so far, undefined = not rolled yet. */
  readonly before: number | null | undefined;
  readonly after: number | null | undefined;
  /** ISO 8601 in UTC: since when a rollout for this pair is at work; null = none is. */
  readonly running: string | null;
  /** Null = it can't be told (yet). */
  readonly flip: 'win' | 'loss' | 'same' | null;
};

/** A gate, decided or on its way. Its blocks count from 0. */
export type GateView = {
  readonly step: number;
  readonly decided: boolean;
  /** What meets the incumbent. */
  readonly candidate: 'draft' | 'guidance';
  /** The block that is on, or was last. */
  readonly block: number;
  /** Over all blocks, of the pairs that count by now: the engine reads them in order, whatever has come besides. */
  readonly wins: number;
  readonly losses: number;
  readonly pairs: number;
  /** Pairs that its rule allows: it may come to its verdict before. */
  readonly of: number;
  /** Of the pairs still to come, those that can be won at most: the incumbent has no full score there, as far as is known. */
  readonly moreWins: number;
  /** The blocks that have begun, each in the order in which the engine reads it. */
  readonly tasks: readonly GateTask[];
};

type Known = {
  readonly before: readonly (number | null | undefined)[];
  readonly after: readonly Attempt[];
  /** Attempts of the incumbent that this gate has asked for. */
  readonly fresh: number;
  readonly beforeSince: string | null;
};

/** The newest view of each state: several panes of a frame ask for the same one. */
const views = new WeakMap<RunState, { readonly lines: number; readonly view: GateView | null }>();

/** The gate that is on now; null when none is. What lies around of earlier gates does not show in it. */
export function openGate(state: RunState): GateView | null {
  const known = views.get(state);
  if (known?.lines === state.lines) return known.view;
  const view = viewOf(state);
  views.set(state, { lines: state.lines, view });
  return view;
}

function viewOf(state: RunState): GateView | null {
  const { phase, draft, draftSkill, guidance, incumbent, tasks, plan } = state;
  if (phase !== 'searching' || (draft.length === 0 && guidance === null) || plan === null) return null;
  const candidateSkill = guidance === null ? draftSkill : guidance.skill;
  const selection = new Set(tasks.selection);
  // between two decisions the engine works for one gate only
  const attempts = attemptsOf(
    state,
    (r) =>
      r.line === 'loop' &&
      (r.seq > state.decidedAt || r.seq === 0) &&
      (r.skill === candidateSkill || r.skill === incumbent) &&
      selection.has(r.task),
  );
  if (attempts.length === 0) return null;
  const of = (skill: string) => {
    const byTask = new Map<string, Attempt[]>(tasks.selection.map((t) => [t, []]));
    for (const a of attempts) if (a.skill === skill) byTask.get(a.task)?.push(a);
    return byTask;
  };
  const [old, candidate] = [of(incumbent), of(candidateSkill)];
  const known = new Map(
    tasks.selection.map((task): readonly [string, Known] => {
      const fresh = old.get(task) ?? [];
      return [
        task,
        {
          before: [...(state.bank.get(task) ?? []), ...fresh.map((a) => a.score)],
          after: candidate.get(task) ?? [],
          fresh: fresh.length,
          beforeSince: fresh.at(-1)?.since ?? null,
        },
      ];
    }),
  );
  const block = blockNow(known);
  const rows: { readonly row: GateTask; readonly read: boolean }[] = [];
  for (let b = 0; b <= block; b++) rows.push(...blockRows(tasks.selection, known, b));
  const unread = rows.findIndex((r) => !r.read);
  const pairs = unread === -1 ? rows.length : unread;
  const read = rows.slice(0, pairs).map((r) => r.row);
  const blocks = GATE_BLOCKS[ruleAfter(plan.gate.rule, state.timeline.accepted.length)];
  let moreWins = rows.slice(pairs).filter(({ row }) => canBeWon(row.before)).length;
  for (let b = block + 1; b < blocks; b++) for (const k of known.values()) if (canBeWon(k.before[b])) moreWins++;
  return {
    step: state.steps.length + 1,
    decided: false,
    candidate: guidance === null ? 'draft' : 'guidance',
    block,
    wins: read.filter((r) => r.flip === 'win').length,
    losses: read.filter((r) => r.flip === 'loss').length,
    pairs,
    of: blocks * tasks.selection.length,
    moreWins,
    tasks: rows.map((r) => r.row),
  };
}

/** What is unscored can't be compared. */
const canBeWon = (before: number | null | undefined): boolean =>
  before === undefined || (before !== null && before < 1);

/** The candidate's last block; when that is through, the one for which the incumbent is rolled already. */
function blockNow(known: ReadonlyMap<string, Known>): number {
  const all = [...known.values()];
  const begun = Math.max(...all.map((k) => k.after.length));
  if (begun === 0) return 0;
  const through = all.every((k) => k.after[begun - 1]?.settled === true);
  const ahead = all.some((k) => k.fresh > 0 && k.before.length > begun);
  return through && ahead ? begun : begun - 1;
}

function blockRows(
  selection: readonly string[],
  known: ReadonlyMap<string, Known>,
  block: number,
): readonly { readonly row: GateTask; readonly read: boolean }[] {
  const rows = selection.map((task) => {
    const k = known.get(task);
    const before = k?.before[block];
    const attempt = k?.after[block];
    const after = attempt?.score;
    const running = attempt?.since ?? (k && block >= k.before.length - 1 ? k.beforeSince : null);
    const flip = typeof before === 'number' && typeof after === 'number' ? flipOf(before, after) : null;
    return { row: { task, block, before, after, running, flip }, read: attempt?.settled === true };
  });
  if (rows.some(({ row }) => row.before === undefined)) return rows; // the order is not known yet
  const rank = (score: number | null | undefined) => score ?? 2;
  return rows.sort((a, b) => rank(a.row.before) - rank(b.row.before));
}

function flipOf(before: number, after: number): 'win' | 'loss' | 'same' {
  return after > before ? 'win' : after < before ? 'loss' : 'same';
}

/** A gate as the score table has it. */
export function decidedGate(step: StepState): GateView {
  return {
    step: step.step,
    decided: true,
    candidate: step.kind === 'slow-update' ? 'guidance' : 'draft',
    block: Math.max(0, ...step.tasks.map((t) => t.block)),
    wins: step.wins,
    losses: step.losses,
    pairs: step.pairs,
    of: step.of,
    moreWins: 0,
    tasks: step.tasks.map(({ task, block, before, after }) => ({
      task,
      block,
      before,
      after,
      running: null,
      flip: before === null || after === null ? null : flipOf(before, after),
    })),
  };
}
