import type { PlanFixed } from '../events/events.ts';
import type { TaskRef } from '../ports/task.ts';
import type { LoopRule } from './rules.ts';

/** All that the loop is a function of, beside the answers of its ports. Read back from the log's first lines. */
export type LoopPlan = {
  readonly rule: LoopRule;
  readonly sessionSeed: string;
  readonly seedText: string;
  /** Fingerprint of the environment: part of every rollout's key. */
  readonly environment: string;
  readonly train: readonly TaskRef[];
  readonly selection: readonly TaskRef[];
  readonly test: readonly TaskRef[];
} & Pick<PlanFixed, 'gate' | 'editBudget' | 'search' | 'slowUpdate' | 'budget' | 'seedAttempt' | 'optimize'>;
