import { countText } from './words.ts';

/** The optimizer that is the agent itself, as a plan names it. */
export const AGENT_OPTIMIZER = 'agent';

/** What of a plan says who proposes edits; null = it is not fixed yet. */
type Planned = { readonly optimizer: string } | null;

export function isAgentOptimizer(plan: Planned): boolean {
  return plan?.optimizer === AGENT_OPTIMIZER;
}

/** Who proposes edits, behind the word *optimizer*. */
export function optimizerText(plan: Planned): string {
  return isAgentOptimizer(plan) ? 'the agent itself' : (plan?.optimizer ?? '');
}

/** `3 calls`; of an agent `3 runs`. */
export function askedText(plan: Planned, count: number): string {
  return countText(count, isAgentOptimizer(plan) ? 'run' : 'call');
}

/** `3 calls of the optimizer’s model`, `1 run of the agent as optimizer`. */
export function askedOfText(plan: Planned, count: number): string {
  return `${askedText(plan, count)} of the ${isAgentOptimizer(plan) ? 'agent as optimizer' : 'optimizer’s model'}`;
}
