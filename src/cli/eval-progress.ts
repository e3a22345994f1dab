import type { EvalArmName } from '../events/eval-shapes.ts';
import type { EvalState } from '../events/eval-state.ts';
import { countText } from '../events/words.ts';
import { armName, cut } from '../report/eval-words.ts';
import type { Evaluation } from '../session/evaluation.ts';

/** `plan        24 rollouts: 2 arms × 12 tasks × 1 attempt · 8 at a time` */
export function planLines(evaluation: Evaluation, workers: number): readonly string[] {
  const { created, state } = evaluation;
  const { arms, pack, attempts, environment } = created;
  const all = arms.length * pack.tasks.length * attempts;
  const counts = `${countText(arms.length, 'arm')} × ${countText(pack.tasks.length, 'task')} × ${countText(attempts, 'attempt')}`;
  const names = arms.map((a) => cut(armName(arms, a.arm))).join(', ');
  return [
    `eval        ${names} · ${pack.tasks.length < pack.of ? `${pack.tasks.length} of ${countText(pack.of, 'task')}` : countText(pack.of, 'task')} of ${pack.name} · ${environment.backend} · ${environment.model ?? environment.agent}`,
    `plan        ${countText(all, 'rollout')}: ${counts} · ${workers} at a time`,
    ...(evaluation.isNew
      ? []
      : [`resumed     ${state.done} of ${all} attempts are done; what finished is not performed again`]),
  ];
}

/** The line that follows from a finished attempt: `  7 of 24   count-reefers · no skill fails · my-skill 3/4, no skill 1/3`. */
export function attemptLine(state: EvalState, task: string, arm: EvalArmName, passed: boolean | null): string {
  const arms = state.created?.arms ?? [];
  const came = passed === null ? 'is unscored' : passed ? 'passes' : 'fails';
  return `  ${`${state.done} of ${state.of}`.padEnd(9)} ${cut(task)} · ${cut(armName(arms, arm))} ${came} · ${standingText(state)}`;
}

/** `my-skill 3/4, no skill 1/3`: passed of scored attempts so far. */
function standingText(state: EvalState): string {
  const arms = state.created?.arms ?? [];
  return arms
    .map(({ arm }) => {
      const all = state.rows.flatMap((r) => r.arms.filter((a) => a.arm === arm).flatMap((a) => a.attempts));
      const scored = all.filter((a) => a.passed !== null);
      return `${cut(armName(arms, arm))} ${scored.filter((a) => a.passed).length}/${scored.length}`;
    })
    .join(', ');
}
