import type { EvalState } from './eval-state.ts';
import { type FailurePoint, pausedPoint } from './trouble.ts';

/**
 * Where an eval that paused on a failure first failed, and one that has finished if most of its attempts have no score;
 * null = it did not. `fix` = what mends it.
 */
export function evalFailurePoint(state: EvalState, fix: string): FailurePoint | null {
  const { paused, finished, firstUnscored, trouble: found } = state;
  if (!finished) return paused === null ? null : pausedPoint(paused, found, fix);
  return firstUnscored !== null && isUnmeasured(state.rows) ? { ...firstUnscored, fix } : null;
}

/** More attempts of an eval are unscored than scored. */
export function isUnmeasured(rows: EvalState['rows']): boolean {
  const all = rows.flatMap((r) => r.arms.flatMap((a) => a.attempts));
  return 2 * all.filter((a) => a.passed === null).length > all.length;
}
