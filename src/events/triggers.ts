import type { RunState } from './run-state.ts';

/** How an arm of the sealed test went wrong, over the first attempts that were scored. */
export type TriggerFaults = {
  /** It should have been opened and was not, of so many that should. */
  readonly missed: number;
  readonly meant: number;
  /** It was opened in vain (or it could not be told), of so many that should not. */
  readonly false: number;
  readonly notMeant: number;
};

/** The faults of an arm where the description is optimized; null elsewhere, and before the test is over. */
export function triggerFaults(state: RunState, arm: 'seed' | 'result'): TriggerFaults | null {
  const { finalized, session, plan } = state;
  if (plan?.optimize !== 'description' || finalized === null || session === null) return null;
  const meant = new Map(session.pack.tasks.map((t) => [t.id, t.shouldTrigger === true]));
  const counts = { missed: 0, meant: 0, false: 0, notMeant: 0 };
  for (const { task, arms } of finalized.tasks) {
    const score = arms.find(([name]) => name === arm)?.[1] ?? null;
    if (score === null) continue;
    const fault = score < 1 ? 1 : 0;
    if (meant.get(task)) {
      counts.meant++;
      counts.missed += fault;
    } else {
      counts.notMeant++;
      counts.false += fault;
    }
  }
  return counts;
}

/** `missed 0 of 4 (the seed 4 of 4), opened in vain 0 of 4 (the seed 2 of 4)`; empty where there is nothing to say. */
export function faultsText(state: RunState): string {
  const [seed, result] = [triggerFaults(state, 'seed'), triggerFaults(state, 'result')];
  if (seed === null || result === null) return '';
  return [
    `missed ${result.missed} of ${result.meant} (the seed ${seed.missed} of ${seed.meant})`,
    `opened in vain ${result.false} of ${result.notMeant} (the seed ${seed.false} of ${seed.notMeant})`,
  ].join(', ');
}
