import type { Outcome } from '../ports/outcome.ts';
import type { EvalArmName, EvalAttempt, EvalTask } from './eval-shapes.ts';

/** An attempt that has no score. */
export const UNSCORED: EvalAttempt = { passed: null, soft: null, read: null };

/**
 * What an outcome counts as in an eval. At a task for which the skill is not meant (`shouldTrigger` false), opening it
 * is the fault: such an attempt is not passed, whatever its checks say. Where the agent does not choose (`opens` false),
 * or can't tell, the checks alone count. The arm without a skill reads none.
 */
export function judged(
  outcome: Pick<Extract<Outcome, { status: 'scored' }>, 'hard' | 'soft' | 'read'>,
  task: Pick<EvalTask, 'shouldTrigger'>,
  arm: EvalArmName,
  opens: boolean,
): EvalAttempt {
  const read = arm === 'no-skill' ? null : outcome.read;
  const fault = task.shouldTrigger === false && opens && read === true;
  return { passed: outcome.hard === 1 && !fault, soft: Math.round(outcome.soft * 1000) / 1000, read };
}
