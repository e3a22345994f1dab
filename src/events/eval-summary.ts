import type { EvalArmName } from './eval-shapes.ts';

/** What k attempts at a task are worth: at least one passes, all pass; means over `tasks`, null = none has k. */
export type PassAt = {
  readonly k: number;
  readonly any: number | null;
  readonly all: number | null;
  readonly tasks: number;
};

/** One arm of an eval. Unscored attempts are left out of all figures. */
export type ArmSummary = {
  readonly arm: EvalArmName;
  readonly passed: number;
  readonly scored: number;
  /** Attempts as planned. */
  readonly of: number;
  readonly unscored: number;
  /** Mean over tasks of the share of passes, 0…1; null = nothing is scored. */
  readonly share: number | null;
  /** 95 % interval of `share`. */
  readonly interval: readonly [number, number] | null;
  /** Mean over tasks of the mean soft score, 0…1: a task counts once however many of its attempts are scored. */
  readonly soft: number | null;
  /** Attempts in which the skill was read, of those that can tell. */
  readonly read: readonly [number, number];
  /**
   * Attempts at tasks for which the skill is not meant: it stayed shut in `shut` of `told` that can tell, of `of` scored
   * ones. Null = there are no such tasks, or no skill.
   */
  readonly keptShut: { readonly shut: number; readonly told: number; readonly of: number } | null;
  /** For each number of attempts up to those that were asked for; empty with one. */
  readonly passAt: readonly PassAt[];
};

/** Two arms task by task. `p` is the one-sided exact sign test of the side that is ahead; `evidence` = 1 − p. */
export type Comparison = {
  readonly arm: EvalArmName;
  readonly against: EvalArmName;
  readonly wins: number;
  readonly losses: number;
  /** Tasks that both sides have scored in the same pass, of `of`. */
  readonly pairs: number;
  readonly of: number;
  readonly p: number;
  readonly evidence: number;
};

export type EvalSummary = { readonly arms: readonly ArmSummary[]; readonly comparisons: readonly Comparison[] };
