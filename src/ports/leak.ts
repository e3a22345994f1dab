/** What one task knows that no skill may carry. Texts as they stand in its files; all of it stays on this machine. */
export type TaskSecrets = {
  readonly id: string;
  /** All that the agent is shown. A value that stands in it is no secret; a long quote of it does not belong into a skill. */
  readonly instruction: string;
  /** Values that a right answer holds, each whole. */
  readonly expected: readonly string[];
  /** Regular expressions that check an answer. */
  readonly patterns: readonly string[];
  /** What checks the answer: scripts, commands, data. */
  readonly verifier: readonly string[];
  /** How it is solved. */
  readonly solution: readonly string[];
};

/** What the tasks of a pack know, and absolute paths that no skill may name. */
export type LeakMaterial = { readonly tasks: readonly TaskSecrets[]; readonly paths: readonly string[] };
