import type { Outcome } from '../../ports/outcome.ts';
import type { RolloutRequest } from '../../ports/rollouts.ts';
import type { ListedSkill, PromptTask } from '../../ports/task.ts';
import { chosenSkill } from './chosen-skill.ts';
import { outcomeOfTrigger } from './outcome-of-trigger.ts';

/** What an answer to `triggerRequest` comes to: its outcome, what was opened in a sentence, and the line for people. */
export function judgeTrigger(
  answer: string,
  o: {
    readonly request: RolloutRequest<PromptTask>;
    readonly shouldTrigger: boolean;
    readonly listed: readonly ListedSkill[];
    readonly agentTimedOut: boolean;
  },
): { readonly outcome: Outcome; readonly note: string; readonly report: string } {
  const { request, shouldTrigger, listed, agentTimedOut } = o;
  const chosen = chosenSkill(
    answer,
    listed.map(({ name }) => name),
  );
  const own = request.skill?.name;
  const activated = chosen.kind === 'unclear' ? null : chosen.kind === 'skill' && chosen.name === own;
  const note =
    chosen.kind === 'skill'
      ? `It would open ${chosen.name}.`
      : chosen.kind === 'none'
        ? 'It would open none.'
        : `What it would open can't be told: ${chosen.why}.`;
  const outcome = outcomeOfTrigger(activated, shouldTrigger, { agentTimedOut });
  const passed = outcome.status === 'scored' && outcome.hard === 1 ? 'passed' : 'failed';
  const report = `${passed}  the skill should ${shouldTrigger ? '' : 'not '}be opened. ${note}`;
  return { outcome, note, report };
}
