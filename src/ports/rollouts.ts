import type { Failure } from './failure.ts';
import type { RolloutResult } from './outcome.ts';
import type { Preflight } from './preflight.ts';
import type { Task } from './task.ts';
import type { Usage } from './usage.ts';

/** A skill as it is mounted: the candidate's text beside the bundled files of the seed. */
export type MountedSkill = {
  readonly name: string;
  readonly hash: string;
  /** The whole SKILL.md. */
  readonly text: string;
  /** Folder of the session's copy whose other files are mounted with it; null = SKILL.md alone. */
  readonly bundleDir: string | null;
};

/** One rollout to perform. `skill: null` is the no-skill arm. */
export type RolloutRequest<T extends Task = Task> = {
  readonly key: string;
  readonly task: T;
  readonly skill: MountedSkill | null;
  readonly attempt: number;
  readonly try: number;
  /** Cancels this one alone. */
  readonly signal: AbortSignal;
};

/**
 * What comes of one request. `failed` is never an outcome: auth, quota, the environment is down. `usage` = what was
 * spent until then; absent = nothing that is known.
 */
export type RolloutReport =
  | { readonly kind: 'finished'; readonly key: string; readonly result: RolloutResult }
  | { readonly kind: 'cancelled'; readonly key: string; readonly usage?: Usage | undefined }
  | { readonly kind: 'failed'; readonly key: string; readonly failure: Failure; readonly usage?: Usage | undefined };

/** Where a rollout stands, for people. */
export type RolloutProgress = { readonly key: string; readonly phase: 'prepare' | 'agent' | 'verifier' | 'clean' };

/**
 * A backend. Exactly one report for each request, in any order; cancelling stops the work, cleans up and reports
 * `cancelled`. `perform…` is called by the session's recorded ports alone.
 */
export interface Rollouts extends Preflight {
  /** True: give it many requests in one call (one Harbor job). False: one call each. */
  readonly batches: boolean;
  performRollouts(
    requests: readonly RolloutRequest[],
    options: { readonly signal: AbortSignal; readonly onProgress?: (p: RolloutProgress) => void },
  ): AsyncIterable<RolloutReport>;
  /** Ends what an earlier process of this session left running. Returns what it ended, for people. */
  sweep(): Promise<readonly string[]>;
  /** Versions of what would take part now; compared with those of earlier outcomes at resume. */
  versions(): Promise<Readonly<Record<string, string>>>;
}
