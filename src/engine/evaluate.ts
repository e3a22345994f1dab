import { judged, UNSCORED } from '../events/eval-judge.ts';
import type { EvalArm, EvalAttempt, EvalTask } from '../events/eval-shapes.ts';
import type { Decision, EventOf } from '../events/events.ts';
import type { EnginePorts } from '../ports/engine.ts';
import { Conversation, Stop } from './conversation.ts';
import { interleave, rollInterleaved } from './interleaved.ts';

/** All that an eval is a function of, beside the outcomes. Read back from the first line of its log. */
export type EvalPlan = {
  readonly environment: string;
  readonly tasks: readonly EvalTask[];
  readonly arms: readonly Pick<EvalArm, 'arm' | 'skill' | 'text'>[];
  readonly attempts: number;
  /** The agent opens a skill by itself, or does not. */
  readonly opens: boolean;
};

export type EvalResult = Omit<EventOf<'eval.finished'>, 'type' | 'consumed' | 'seen' | 'digest'>;

/**
 * Rolls out every arm on every task, interleaved task by task and pass by pass, each attempt with up to two more tries
 * while it ends unscored. Returns what stands in `eval.finished`. Throws Stop at a limit that nobody raises.
 */
export async function evaluate(plan: EvalPlan, ports: EnginePorts<Decision>): Promise<EvalResult> {
  const { environment, tasks, arms, attempts, opens } = plan;
  const budget = Number.POSITIVE_INFINITY;
  const talk = new Conversation(
    { environment, budget, train: [], selection: [], test: tasks, gate: { metric: 'soft' } },
    ports,
    0,
  );
  talk.line = 'eval';
  const ids = tasks.map((t) => t.id);
  const planned = interleave(talk, arms, ids, attempts);
  const byId = new Map(tasks.map((t) => [t.id, t]));
  const rows = tasks.map(({ id }) => ({
    task: id,
    arms: arms.map(({ arm }) => ({ arm, attempts: [] as EvalAttempt[] })),
  }));
  const rowOf = new Map(rows.map((row) => [row.task, row.arms]));
  const { done, moved } = await rollInterleaved(talk, planned, (p, { hard, value, read }) => {
    const task = byId.get(p.task);
    const scored = hard !== null && value !== null && task !== undefined;
    const attempt = scored ? judged({ hard, soft: value / 1000, read }, task, p.arm, opens) : UNSCORED;
    rowOf
      .get(p.task)
      ?.find((a) => a.arm === p.arm)
      ?.attempts.push(attempt);
  });
  if (done < planned.length) throw new Stop('limit');
  const result: EvalResult = { environmentChanged: moved, tasks: rows };
  await talk.decide({ type: 'eval.finished', ...result });
  return result;
}
