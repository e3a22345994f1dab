import { fail } from '../../ports/failure.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { Outcome, Reading } from '../../ports/outcome.ts';
import type { RolloutRequest } from '../../ports/rollouts.ts';
import type { PromptTask } from '../../ports/task.ts';
import { judgeTrigger } from './judge-trigger.ts';
import { outcomeOfTrigger } from './outcome-of-trigger.ts';
import { listedSkills, triggerRequest } from './trigger-request.ts';

/** One rollout in which a model says what it would open. */
export type Triggers = {
  readonly request: ModelRequest;
  /** What was shown, in a sentence. */
  readonly shown: string;
  readonly judge: (answer: string, timedOut: boolean) => ReturnType<typeof judgeTrigger>;
  readonly outcomeOf: (activated: Reading) => Outcome;
};

/** Makes a rollout of a task ready; throws `pack` for one that does not say whether the skill is meant for it. */
export function triggersOf(request: RolloutRequest<PromptTask>): Triggers {
  const { id, shouldTrigger } = request.task;
  if (shouldTrigger === null)
    throw fail(
      'pack',
      'the task does not say whether the skill is meant for it, and the description is what is measured',
      `task ${id}`,
      'add "should_trigger": true or false',
    );
  const listed = listedSkills(request);
  return {
    request: triggerRequest(request, listed),
    shown: `It was shown these skills with their descriptions: ${listed.map(({ name }) => name).join(', ')}.`,
    judge: (answer, agentTimedOut) => judgeTrigger(answer, { request, shouldTrigger, listed, agentTimedOut }),
    outcomeOf: (activated) => outcomeOfTrigger(activated, shouldTrigger),
  };
}
