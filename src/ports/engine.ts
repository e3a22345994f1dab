import type { Applied, Edit, Proposal } from './edit.ts';
import type { Input, InputPoint } from './inputs.ts';
import type { Outcome } from './outcome.ts';
import type { RefusedDraft, TriedEdit } from './proposals.ts';

/** One rollout as the engine asks for it: task × skill × attempt, and the try within it. `key` names it in the log. */
export type Ask = {
  readonly key: string;
  /** Short hash of the skill's text; `none` for the no-skill arm. */
  readonly skill: string;
  readonly task: string;
  readonly attempt: number;
  readonly try: number;
};

/** Whose line of the actual ledger pays; `eval` has a ledger of its own. */
export type LedgerLine = 'loop' | 'confirmation' | 'finalize' | 'eval';

/** One reflection as the engine asks for it. Rollouts are named by key; the session adds instructions and trajectories. */
export type ProposeAsk = {
  readonly key: string;
  /** Absent = a reflection, which asks for edits to the draft. A slow update asks for guidance for the incumbent, from what was tried alone. */
  readonly kind?: 'slow-update';
  readonly round: number;
  readonly skill: string;
  readonly atMost: number;
  readonly notes: readonly string[];
  readonly banned: readonly string[];
  readonly failing: readonly { readonly task: string; readonly rollout: string }[];
  readonly passing: readonly string[];
  readonly tried: readonly TriedEdit[];
  readonly refused: readonly RefusedDraft[];
};

/** The answer to a reflection: a hand-in, or the reason why there is none. */
export type ProposeAnswer =
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  | { readonly kind: 'unusable'; readonly detail: string };

/** An input in place of an answer: a limit keeps the awaited work from starting, or the environment has moved under it. */
export type Interruption = Extract<Input, { readonly kind: 'limit.reached' | 'environment.changed' }>;

/**
 * All that the engine does to the world. One awaited call at a time: no race, no Promise.all, so the order of
 * arrivals cannot matter. `take`, `propose` and `inputs` count as turns.
 */
export interface EnginePorts<D> {
  /** Lays out planned rollouts of one text; they may start at once and finish in any order. */
  plan(asks: readonly Ask[], text: string | null, line: LedgerLine): void;
  /**
   * Replaces the guesses: rollouts that later decisions will probably ask for. Never changes a decision. Who can't run
   * ahead does not ask for the list: to name its rollouts, whole texts are hashed.
   */
  guess(list: () => readonly { readonly ask: Ask; readonly text: string }[]): void;
  /** The next planned outcome, or the input that comes in its place; at once where it is known, as in a replay. */
  take(ask: Ask, text: string | null, line: LedgerLine): Outcome | Interruption | Promise<Outcome | Interruption>;
  /** What was laid out and is not needed any more. */
  drop(asks: readonly Ask[]): void;
  propose(
    ask: ProposeAsk,
    texts: { readonly draft: string; readonly incumbent: string },
  ): Promise<ProposeAnswer | Interruption>;
  /** A named point: inputs are taken here and nowhere else. */
  inputs(point: InputPoint): Promise<readonly Input[]>;
  decide(decision: D): Promise<void>;
}

/** What the engine knows of the skill format, handed in so that it stays a pure function of texts. */
export interface SkillOps {
  /** Applies one edit to a text and validates the whole document that results, which is never the `same` as before. */
  apply(text: string, edit: Edit): Applied;
  /** True when the two texts differ in nothing but trailing blanks. */
  same(a: string, b: string): boolean;
}
