import type { Trajectory } from './trajectory.ts';
import type { Usage } from './usage.ts';

/** Why a rollout has no score: a failure of the machinery, never of the skill. */
export const unscoredReasons = [
  'environment',
  'agent-setup',
  'agent-crash',
  'agent-did-no-work',
  'provider-rate-limit',
  'provider-error',
  'skill-not-visible',
  'skill-changed',
  'verifier-missing-reward',
  'verifier-bad-reward',
  'verifier-timeout',
  'verifier-crash',
  'tampered',
] as const;
export type UnscoredReason = (typeof unscoredReasons)[number];

/** Did the agent read the skill? `null` = this agent can't tell. Where the description is optimized: did it open the skill for it? */
export type Reading = boolean | null;

/**
 * What a rollout is worth.
 * `rewards` holds every key that the verifier wrote (0…1 for `reward`); `soft` is the reward, 0…1;
 * `hard` = 1 when `soft` ≥ the pass threshold. An unscored rollout has no number at all.
 */
export type Outcome =
  | {
      readonly status: 'scored';
      readonly hard: 0 | 1;
      readonly soft: number;
      readonly rewards: Readonly<Record<string, number>>;
      readonly read: Reading;
      /** The agent ran into its deadline after it had worked; its reward counts all the same. */
      readonly agentTimedOut?: true | undefined;
    }
  | { readonly status: 'unscored'; readonly reason: UnscoredReason; readonly detail: string };

/** How the agent's process ended. */
export type ExitCause = 'finished' | 'nonzero' | 'timeout' | 'crashed' | 'not-started';

/** Everything one finished rollout hands back. */
export type RolloutResult = {
  readonly outcome: Outcome;
  /** Null when nothing ran. Kept beside the log by hash. */
  readonly trajectory: Trajectory | null;
  readonly usage: Usage;
  readonly exit: ExitCause;
  /** Wall time of the whole rollout, workspace and verifier included. */
  readonly durationMs: number;
  /** Versions of what took part (agent CLI, image digest, …); drift is noticed by comparing them. */
  readonly versions: Readonly<Record<string, string>>;
};

/** A reward made into a score: `hard` by the threshold, `soft` as it is. */
export function scored(
  rewards: Readonly<Record<string, number>>,
  reward: number,
  passThreshold: number,
  more: { readonly read: Reading; readonly agentTimedOut?: boolean },
): Outcome {
  return {
    status: 'scored',
    hard: reward >= passThreshold ? 1 : 0,
    soft: reward,
    rewards,
    read: more.read,
    ...(more.agentTimedOut ? { agentTimedOut: true as const } : {}),
  };
}

/** A rollout without a score. `detail` is for people: the concrete place where the machinery failed. */
export function unscored(reason: UnscoredReason, detail: string): Outcome {
  return { status: 'unscored', reason, detail };
}
