import { evalSummary } from '../engine/eval-summary.ts';
import type { EvalState } from '../events/eval-state.ts';
import type { EvalSummary } from '../events/eval-summary.ts';
import { renderEval } from '../report/eval-report.ts';

/** The figures of an eval's state, which the engine alone can work out. */
export function summaryOf(state: EvalState): EvalSummary {
  const { created, rows } = state;
  if (created === null) return { arms: [], comparisons: [] };
  return evalSummary(
    rows,
    created.arms.map((a) => a.arm),
    {
      attempts: created.attempts,
      silent: new Set(created.pack.tasks.flatMap((t) => (t.shouldTrigger === false ? [t.id] : []))),
      opens: created.environment.opens,
    },
  );
}

/** `skillopt-eval.md` of a state and its head. */
export const renderEvaluation = (state: EvalState, head: { readonly lines: number; readonly hash: string }): string =>
  renderEval(state, summaryOf(state), head);
