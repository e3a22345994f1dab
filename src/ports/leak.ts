import type { Edit } from './edit.ts';

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

/** What an edit to a text would carry from the tasks into the skill, in a sentence that names no task; null = nothing. */
export type LeakOf = (edit: Edit, text: string) => string | null;

/** Makes the scan ready: called before each reflection that is performed, so it keeps what it has read. */
export type LeakScan = () => Promise<LeakOf>;
