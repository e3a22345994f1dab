import { type Outcome, type Reading, scored } from '../../ports/outcome.ts';

/**
 * What a rollout is worth where the description is measured: a pass when the skill was opened exactly where it is meant
 * to be. `activated` null = what was opened can't be told: wrong either way, so that no description gains by confusing.
 */
export function outcomeOfTrigger(
  activated: Reading,
  shouldTrigger: boolean,
  more: { readonly agentTimedOut?: boolean } = {},
): Outcome {
  const trigger = activated === shouldTrigger ? 1 : 0;
  return scored({ trigger }, trigger, 1, { ...more, read: activated });
}
