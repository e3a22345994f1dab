import type { Applied, Edit, OptimizedPart, Proposal } from './edit.ts';
import type { Failure } from './failure.ts';
import type { Preflight } from './preflight.ts';
import type { Trajectory } from './trajectory.ts';
import type { Usage } from './usage.ts';

/** An edit that was tried before, with what came of it. Evidence is from train alone. */
export type TriedEdit = {
  readonly edit: Edit;
  readonly round: number;
  readonly fate: 'in-draft' | 'accepted' | 'failed-screening' | 'rejected' | 'skipped';
  /** The train task it was screened on, or the reason of its rejection. */
  readonly evidence: string;
};

/** Edits that met the gate together and were refused together: shown as a set, never against a single edit. */
export type RefusedDraft = { readonly step: number; readonly edits: readonly Edit[] };

/** What a reflection sees. No selection or test task, no verifier, no solution is in it. */
export type ProposalRequest = {
  readonly key: string;
  /** Absent = a reflection. A slow update asks for one edit `guidance`, from `tried` and `refused`; no rollout is shown. */
  readonly kind?: 'slow-update' | undefined;
  readonly round: number;
  /** What edits are for; absent = the body. */
  readonly optimizes?: OptimizedPart | undefined;
  /** The text that edits apply to: the draft; the incumbent for a slow update. */
  readonly text: string;
  readonly incumbentText: string;
  /** Most edits that may be handed in. */
  readonly atMost: number;
  /** Failing train tasks with their newest failing trajectory, in the order in which they are to be shown. */
  readonly failing: readonly ShownRollout[];
  /** Train tasks that pass: what must not be broken. */
  readonly passing: readonly string[];
  /** Of those the newest rollout that passed, read when it is asked for; tasks whose trajectory is not at hand are left out. */
  readonly passes: readonly PassingRollout[];
  readonly tried: readonly TriedEdit[];
  readonly refused: readonly RefusedDraft[];
  /** Notes of the user to the optimizer. */
  readonly notes: readonly string[];
  /** Texts that no edit may bring in. */
  readonly banned: readonly string[];
};

export type ShownRollout = {
  readonly task: string;
  readonly instruction: string;
  readonly rollout: string;
  /** Is the skill meant for the task? Absent or null = the task does not say. */
  readonly shouldTrigger?: boolean | null | undefined;
  readonly trajectory: Trajectory;
};

/** A passing rollout; `read` throws when its trajectory was removed. */
export type PassingRollout = Omit<ShownRollout, 'trajectory'> & { readonly read: () => Trajectory };

/** A reflection that came to an end. `failure` = no hand-in that could be read, after its repair turn; the round is given up visibly. */
export type ProposalResult =
  | { readonly kind: 'proposal'; readonly proposal: Proposal; readonly usage: Usage; readonly durationMs: number }
  | { readonly kind: 'unusable'; readonly detail: string; readonly usage: Usage; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** One call of the optimizer's model, or one run of an agent in its place, as it ended. `problem` null = it answered. */
export type ModelCall = {
  readonly model: string;
  /** Names the run of an agent, as at the gateway. */
  readonly key?: string;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly problem: string | null;
};

export type ProposalOptions = {
  readonly signal: AbortSignal;
  /** What would become of an edit: the request's draft with it, or why it can't be applied or used. */
  readonly check: (edit: Edit) => Applied;
  /** Hears of every model call as soon as it has ended, whatever becomes of the reflection. */
  readonly onCall: (call: ModelCall) => void;
  /**
   * May the next model call start beside so many that run? False = it has to wait for one of them; where none runs, a
   * limit is spent: end with what there is.
   */
  readonly mayCall: (running?: number) => boolean;
};

/** The optimizer. `perform…` is called by the session's recorded ports alone. */
export interface Proposals extends Preflight {
  /** How many of a request's failing rollouts are read; absent = all of them. */
  readonly reads?: (request: Pick<ProposalRequest, 'failing' | 'atMost'>) => number;
  performProposal(request: ProposalRequest, options: ProposalOptions): Promise<ProposalResult>;
  /** Settles when nothing of a cancelled proposal is at work any more; absent = at once. Never rejects. */
  readonly settled?: () => Promise<void>;
}
