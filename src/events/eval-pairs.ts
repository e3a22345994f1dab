import type { EvalArmName, EvalAttempt, EvalRow } from './eval-shapes.ts';

/** How two arms did at one task in the passes that both could score. */
export type TaskPair = {
  /** Passes that both have scored; 0 = they can't be compared. */
  readonly pairs: number;
  /** Passed attempts of the first less those of the second. */
  readonly ahead: number;
};

/** The attempts of an arm at one task, in planned order. */
export function attemptsOf(row: EvalRow, arm: EvalArmName): readonly EvalAttempt[] {
  return row.arms.find((a) => a.arm === arm)?.attempts ?? [];
}

/**
 * Compares two arms at one task, pass by pass: an attempt that one side could not score is left out with the one that
 * it stands beside. Shares of unequal numbers of attempts would favor a side though both are equally good: one pass of
 * one is more often above two of three than below.
 */
export function pairAt(row: EvalRow, arm: EvalArmName, against: EvalArmName): TaskPair {
  const others = attemptsOf(row, against);
  let pairs = 0;
  let ahead = 0;
  for (const [i, { passed }] of attemptsOf(row, arm).entries()) {
    const other = others[i]?.passed ?? null;
    if (passed === null || other === null) continue;
    pairs++;
    ahead += Number(passed) - Number(other);
  }
  return { pairs, ahead };
}
