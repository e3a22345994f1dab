import { type Failure, fail } from '../../ports/failure.ts';
import {
  type ExitCause,
  type Outcome,
  type Reading,
  scored,
  type UnscoredReason,
  unscored,
} from '../../ports/outcome.ts';
import { noUsage, type Usage, unknownUsage } from '../../ports/usage.ts';
import type { CliTrouble } from '../agents/cli/cli-kind.ts';
import { chosenReward } from '../rewards.ts';
import {
  hasBegun,
  isAgentEnd,
  lastingFailure,
  lastingKind,
  type Met,
  metIn,
  reasonOf,
  refusesSkills,
  wordsOf,
} from './exceptions.ts';
import { partsOf, type TrialPart, type TrialResult } from './trial.ts';

/** What is known of a trial beside its result file. */
export type Witness = {
  readonly read: Reading;
  /** What kept the agent from its end, by its own log; null = nothing. */
  readonly trouble: CliTrouble | null;
  /** It used its tools, by what it left; null = it left words of which nobody knows what they tell; false = nothing. */
  readonly acted: boolean | null;
  /** The skill that Harbor put into the container is the one that was meant; null = nobody says. */
  readonly injected: boolean | null;
  /** What the agent left where only the verifier writes; null = nothing. */
  readonly planted: string | null;
};

export type Judged =
  | { readonly kind: 'outcome'; readonly outcome: Outcome; readonly exit: ExitCause }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'cancelled' };

/** Agents of Harbor that tell their tokens: without one in the output they did nothing. */
const tellTokens: ReadonlySet<string> = new Set(['claude-code', 'codex', 'pi', 'opencode', 'gemini-cli', 'terminus-2']);
/** Agents of Harbor's own that call no model: no provider can have kept them from their work. */
const needNoModel: ReadonlySet<string> = new Set(['oracle', 'nop']);

/**
 * What a finished trial is worth. Harbor's own verdict (`reward_valid`) is necessary and not sufficient: an agent whose
 * provider is down tries until its time is up, and its reward 0 looks like an honest one; and an exception that Harbor does
 * not know counts as valid. So a reward counts only if the agent came to an end of its own kind and, where it tells its
 * tokens, wrote any: in each step of a trial that has several, as one step's outage is the whole trial's.
 */
export function judge(
  trial: TrialResult,
  w: Witness,
  o: { readonly passThreshold: number; readonly hasSkill: boolean; readonly callsModel: boolean },
): Judged {
  const met = metIn(trial);
  if (met.some(({ type }) => type === 'CancelledError')) return { kind: 'cancelled' };
  const failure = failureOf(trial, met, w);
  if (failure !== null) return { kind: 'failed', failure };
  const exit = exitOf(trial, met);
  const no = (reason: UnscoredReason, detail: string): Judged => ({
    kind: 'outcome',
    outcome: unscored(reason, detail),
    exit,
  });
  if (w.planted !== null) return no('tampered', w.planted);
  if (o.hasSkill && w.injected === false)
    return no('skill-not-visible', 'the skill that Harbor put into the trial is not the one under test');
  const foreign = met.find((one) => !isAgentEnd(one));
  const reason = foreign === undefined ? null : reasonOf(foreign, trial);
  // of its provider the agent's own log knows more
  if (w.trouble !== null && w.trouble.kind !== 'limit' && (reason === null || reason.startsWith('provider-')))
    return no(reasonOfTrouble(w.trouble), w.trouble.detail);
  if (foreign !== undefined && reason !== null) return no(reason, wordsOf(foreign));
  const idle = idleness(trial, w, o.callsModel);
  if (idle !== null) return no(idle.reason, idle.detail);
  if (partsOf(trial).some((part) => part !== trial && !hasRewards(part)))
    return no('verifier-missing-reward', 'a step of the task has no reward');
  const values = trial.verifier_result?.rewards ?? null;
  if (values === null || Object.keys(values).length === 0)
    return no('verifier-missing-reward', 'the verifier gave no reward');
  if (trial.reward_valid === false) return no('verifier-bad-reward', 'Harbor says that the reward does not count');
  const reading = chosenReward(values);
  if (reading.kind === 'unscored') return no(reading.reason, reading.detail);
  const outcome = scored(reading.rewards, reading.reward, o.passThreshold, {
    read: o.hasSkill ? w.read : null,
    agentTimedOut: met.some(({ type }) => type === 'AgentTimeoutError'),
  });
  return { kind: 'outcome', outcome, exit };
}

/** What the next trial would meet, too. */
function failureOf(trial: TrialResult, met: readonly Met[], w: Witness): Failure | null {
  const agent = trial.agent_info?.name ?? trial.config.agent.name ?? 'agent';
  if (w.trouble !== null && isLasting(w.trouble.kind)) return lastingFailure(w.trouble.kind, w.trouble.detail, agent);
  for (const one of met) {
    const kind = lastingKind(one);
    if (kind !== null) return lastingFailure(kind, w.trouble?.detail ?? wordsOf(one), agent);
    if (refusesSkills(one, trial))
      return fail(
        'config',
        `Harbor’s agent ${agent} takes no skill`,
        'agent',
        'choose an agent that reads skills: `harbor agent list` has them all',
      ).failure;
  }
  return null;
}

function isLasting(kind: CliTrouble['kind']): kind is 'auth' | 'quota' | 'model-not-found' {
  return kind === 'auth' || kind === 'quota' || kind === 'model-not-found';
}

function reasonOfTrouble({ kind }: CliTrouble): UnscoredReason {
  switch (kind) {
    case 'rate-limit':
      return 'provider-rate-limit';
    case 'crash':
      return 'agent-crash';
    default:
      return 'provider-error';
  }
}

/**
 * Why the agent is known to have done nothing, in the trial or in one of its steps; null = it worked, or nobody can tell. Of
 * one that tells no tokens a reward above zero shows that it did something, and so does a tool that it used.
 */
function idleness(trial: TrialResult, w: Witness, callsModel: boolean) {
  const name = trial.agent_info?.name ?? '';
  const parts = partsOf(trial);
  const tells = tellTokens.has(name) || parts.some((part) => tokensOf(part) !== null);
  for (const part of parts) {
    const type = part.exception_info?.exception_type ?? null;
    if (tells && (tokensOf(part) ?? 0) === 0) {
      const how = type === null ? 'came to its end' : type === 'AgentTimeoutError' ? 'used all its time' : 'failed';
      const reason: UnscoredReason = type === null || !callsModel ? 'agent-did-no-work' : 'provider-error';
      return { reason, detail: `the agent ${how} without a token of the model` };
    }
    if (tells || type === null || needNoModel.has(name) || isEarned(part) || w.acted === true) continue;
    // who calls no model is kept from its work by nobody, and a program that says nothing may fail at once
    if (!callsModel && (w.acted === null || type !== 'AgentTimeoutError')) continue;
    const how = type === 'AgentTimeoutError' ? 'ran into its time limit' : 'failed';
    return {
      reason: 'agent-did-no-work' as const,
      detail: `the agent ${how}, and nothing shows that it had done anything`,
    };
  }
  return null;
}

const tokensOf = (part: TrialPart) => part.agent_result?.n_output_tokens ?? null;
const hasRewards = ({ verifier_result }: TrialPart) => Object.keys(verifier_result?.rewards ?? {}).length > 0;
const isEarned = ({ verifier_result }: TrialPart) =>
  Object.values(verifier_result?.rewards ?? {}).some((value) => (value ?? 0) > 0);

/**
 * What the trial spent, by Harbor's counts, over all its steps. Nothing is spent before an agent begins. One that tells
 * nothing and calls no model spent nothing; a price of zero for tokens of a model is one that is not known.
 */
export function usageOf(trial: TrialResult, callsModel: boolean): Usage {
  const parts = partsOf(trial).filter((part) => hasBegun(part.agent_execution) || part.agent_result);
  if (parts.length === 0) return noUsage;
  const sum = (pick: (result: NonNullable<TrialPart['agent_result']>) => number | null | undefined) =>
    parts.reduce<number | null>((total, { agent_result }) => {
      const value = agent_result ? (pick(agent_result) ?? null) : null;
      return total === null || value === null ? null : total + value;
    }, 0);
  const inputTokens = sum((r) => r.n_input_tokens);
  const outputTokens = sum((r) => r.n_output_tokens);
  const told = sum((r) => r.cost_usd);
  if (inputTokens === null && outputTokens === null && told === null) return callsModel ? unknownUsage : noUsage;
  const isFree = told === 0 && callsModel && (outputTokens ?? 0) > 0;
  return { inputTokens, outputTokens, costUsd: isFree ? null : told, requests: null };
}

function exitOf(trial: TrialResult, met: readonly Met[]): ExitCause {
  if (!partsOf(trial).some((part) => hasBegun(part.agent_execution))) return 'not-started';
  const last = met.findLast(({ part }) => part === null || hasBegun(part.agent_execution));
  if (last === undefined) return 'finished';
  if (last.type === 'AgentTimeoutError') return 'timeout';
  if (isAgentEnd(last)) return 'nonzero';
  // what the verifier met says nothing of the agent
  const reason = reasonOf(last, trial);
  return reason.startsWith('verifier-') ? 'finished' : reason === 'agent-crash' ? 'crashed' : 'nonzero';
}
