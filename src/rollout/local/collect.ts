import { type ExitCause, type Outcome, scored, unscored } from '../../ports/outcome.ts';
import { readRewards } from '../rewards.ts';
import { whyNotStarted } from '../why-not-started.ts';
import type { AgentOutcome } from './run.ts';
import type { VerifierRun } from './verify.ts';

/** Why the verifier need not run; null = it must. */
export function unscoredBeforeVerifier(agent: AgentOutcome, skillWasChanged: boolean): Outcome | null {
  const { end, timedOut, overLimit } = agent;
  if (end.trouble !== null) return unscored(end.trouble.reason, end.trouble.detail);
  if (end.exit === 'not-started') return unscored('agent-setup', 'the agent could not be started');
  if (end.exit === 'crashed') return unscored('agent-crash', 'the agent crashed');
  if (overLimit !== null && !end.didWork) {
    return unscored('agent-did-no-work', `the agent was ended before it had done anything: ${overLimit}`);
  }
  if (timedOut && !end.didWork) {
    return unscored('agent-did-no-work', 'the agent ran into its time limit before it had done anything');
  }
  if (skillWasChanged) return unscored('skill-changed', 'the skill was changed while the agent ran');
  return null;
}

/** The outcome of a rollout whose verifier had its turn. */
export function outcomeOf(
  agent: AgentOutcome,
  verifier: VerifierRun,
  more: {
    readonly hasSkill: boolean;
    readonly passThreshold: number;
    /** See `taskPath`. */
    readonly ownPath: string | null;
  },
): Outcome {
  if (verifier.kind === 'tampered') return unscored('tampered', verifier.detail);
  const { end, files } = verifier;
  if (end.cause === 'not-started') {
    return unscored('verifier-crash', whyNotStarted('the verifier', end, more.ownPath));
  }
  if (end.cause === 'timeout') return unscored('verifier-timeout', 'the verifier ran into its time limit');
  const reading = readRewards(files);
  if (reading.kind === 'unscored') {
    const detail =
      reading.reason === 'verifier-missing-reward' ? `${reading.detail} (${endedHow(end)})` : reading.detail;
    return unscored(reading.reason, detail);
  }
  return scored(reading.rewards, reading.reward, more.passThreshold, {
    read: more.hasSkill ? agent.end.read : null,
    agentTimedOut: agent.timedOut || agent.overLimit !== null,
  });
}

/**
 * A verdict that was given while the verifier ran into a limit of its own: a pass stands, anything else may be the
 * limit's doing and says nothing of the work.
 */
export function outcomeWithin(outcome: Outcome, reached: readonly string[]): Outcome {
  if (reached.length === 0 || (outcome.status === 'scored' && outcome.hard === 1)) return outcome;
  return unscored('environment', `the verifier ran into what a rollout may use up: ${reached.join(' ')}`);
}

/** Can the test script itself be at fault for this? */
export function mayLieAtScript(outcome: Outcome): boolean {
  if (outcome.status === 'scored') return false;
  const { reason } = outcome;
  return reason === 'verifier-crash' || reason === 'verifier-missing-reward' || reason === 'verifier-bad-reward';
}

/** How the agent ended: our own clock and measures decide about deadline and limits. */
export function exitOf(agent: AgentOutcome): ExitCause {
  return agent.timedOut || agent.overLimit !== null ? 'timeout' : agent.end.exit;
}

function endedHow(end: { readonly exitCode: number | null; readonly signal: string | null }): string {
  return end.signal === null ? `exit code ${end.exitCode}` : `ended by ${end.signal}`;
}
