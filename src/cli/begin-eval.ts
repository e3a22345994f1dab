import type { EvalEstimate } from '../events/estimate.ts';
import { evalEstimateTexts } from '../events/estimate-words.ts';
import { evalLeft } from '../events/eval-left.ts';
import { continuingText } from '../events/progress.ts';
import { countText } from '../events/words.ts';
import type { Model } from '../ports/model.ts';
import type { Evaluation } from '../session/evaluation.ts';
import { type Begun, beginWork, type Telling } from './begin.ts';
import { estimateEvalBefore, rolesOf } from './estimate-of.ts';
import type { Installing } from './preloads.ts';

/** `beginWork` for an eval; `target` null = no model is called from here. */
export function beginEval(
  evaluation: Evaluation,
  {
    target,
    asksTarget,
    preloads,
  }: { readonly target: Model | null; readonly asksTarget: boolean; readonly preloads: Installing | null },
  workers: number,
  telling: Telling,
): Promise<Begun<EvalEstimate>> {
  const { state, config, created, pack } = evaluation;
  const isUnspent = state.rollouts.started === 0;
  const left = evaluation.isNew ? null : evalLeft(state, config.limits.rollouts);
  const job = { config, workers, tasks: pack.tasks, arms: created.arms, attempts: created.attempts };
  const estimated = target ?? rolesOf(config).target;
  return beginWork(
    {
      on: evaluation,
      estimate: isUnspent && estimated !== null ? (trips) => estimateEvalBefore(job, estimated, trips) : null,
      texts: evalEstimateTexts,
      named: (e) => ({ what: 'eval', size: countText(e.rollouts[1], 'rollout'), config: null }),
      limits: config.limits,
      preloads,
      left: isUnspent || left === null ? [] : [`left        ${continuingText(left)}`],
      asked: { target: asksTarget && (evaluation.isNew || left !== null) ? target : null, optimizer: null },
    },
    telling,
  );
}
