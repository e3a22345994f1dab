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
 * spent until then; absent = nothing that is known. `begun` false: it still waited for its turn, and spent nothing.
 */
export type RolloutReport =
  | { readonly kind: 'finished'; readonly key: string; readonly result: RolloutResult }
  | ({ readonly kind: 'cancelled' } & CutShort)
  | ({ readonly kind: 'failed'; readonly failure: Failure } & CutShort);

type CutShort = { readonly key: string; readonly usage?: Usage | undefined; readonly begun?: false | undefined };

/** Where a rollout stands, for people. */
export type RolloutProgress = { readonly key: string; readonly phase: 'prepare' | 'agent' | 'verifier' | 'clean' };

/** What a backend knows of rollouts that an earlier process gave it. */
export type Recovered = {
  /** Done: a request with this key is answered at once, and nothing of it is performed again. */
  readonly finished: readonly string[];
  /** They were waiting for their turn when the process ended, and spent nothing. */
  readonly notBegun: readonly string[];
};

export type PerformOptions = {
  readonly signal: AbortSignal;
  readonly onProgress?: ((p: RolloutProgress) => void) | undefined;
  /** Rollouts at a time, for backends that batch; there may be more requests. Absent = as the backend was made. */
  readonly concurrency?: number | undefined;
};

/**
 * A backend. Exactly one report for each request, in any order; cancelling stops the work, cleans up and reports
 * `cancelled`. `perform…` is called by the session's recorded ports alone.
 */
export interface Rollouts extends Preflight {
  /** True: give it many requests in one call (one Harbor job). False: one call each. */
  readonly batches: boolean;
  performRollouts(requests: readonly RolloutRequest[], options: PerformOptions): AsyncIterable<RolloutReport>;
  /** Ends what an earlier process of this session left running. Returns what it ended, for people. */
  sweep(): Promise<readonly string[]>;
  /**
   * What is known of these rollouts of an earlier process; what stands in neither list may have spent something. Asked
   * before anything is performed; it ends what of that process still runs. Absent: the backend never knows.
   */
  recover?(keys: readonly string[]): Promise<Recovered>;
  /** Versions of what would take part now; compared with those of earlier outcomes at resume. */
  versions(): Promise<Readonly<Record<string, string>>>;
}
