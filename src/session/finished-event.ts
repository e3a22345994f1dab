import type { EventOf } from '../events/events.ts';
import { type Redactor, redactOutcome, redactTrajectory } from '../journal/redact.ts';
import type { Texts } from '../journal/texts.ts';
import type { RolloutResult } from '../ports/outcome.ts';

/** What the log says of a rollout that has finished, redacted; its trajectory is kept among the texts before. */
export async function finishedEvent(
  of: { readonly key: string; readonly task: string },
  result: RolloutResult,
  texts: Texts,
  redact: Redactor,
): Promise<EventOf<'rollout.finished'>> {
  const trajectory =
    result.trajectory === null
      ? null
      : await texts.put(JSON.stringify(await redactTrajectory(result.trajectory, redact)));
  return {
    type: 'rollout.finished',
    key: of.key,
    task: of.task,
    outcome: await redactOutcome(result.outcome, redact),
    trajectory,
    usage: result.usage,
    exit: result.exit,
    durationMs: Math.round(result.durationMs),
    versions: result.versions,
  };
}
