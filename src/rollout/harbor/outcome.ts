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
import type { TrialResult } from './trial.ts';

/** What is known of a trial beside its result file. */
export type Witness = {
  readonly read: Reading;
  /** What kept the agent from its end, by its own log; null = nothing. */
  readonly trouble: CliTrouble | null;
  /** Its log shows that it acted; null = there is no log that could tell. */
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

/** How the agent may end and still be judged: it used its time or its window up, or its process failed after its work. */
const agentEnds: ReadonlySet<string> = new Set([
  'AgentTimeoutError',
  'NonZeroAgentExitCodeError',
  'ContextWindowExceededError',
  'ContextLengthExceededError',
  'OutputTokenExceededError',
  'OutputLengthExceededError',
  'AgentSafetyRefusalError',
]);

/** What Harbor's exceptions mean where they are not the agent's own end. `null` = by the phase in which it arose. */
const reasons: Readonly<Record<string, UnscoredReason>> = {
  ApiRateLimitError: 'provider-rate-limit',
  ApiInternalServerError: 'provider-error',
  ApiOverloadedError: 'provider-error',
  ApiConnectionClosedError: 'provider-error',
  ApiResponseStalledError: 'provider-error',
  ApiProviderResourceNotFoundError: 'provider-error',
  UnknownApiError: 'provider-error',
  EnvironmentStartTimeoutError: 'environment',
  SandboxBuildFailedError: 'environment',
  HealthcheckError: 'environment',
  MemoryLimitExceededError: 'environment',
  AgentSetupTimeoutError: 'agent-setup',
  VerifierTimeoutError: 'verifier-timeout',
  RewardFileNotFoundError: 'verifier-missing-reward',
  RewardFileEmptyError: 'verifier-bad-reward',
  VerifierOutputParseError: 'verifier-bad-reward',
  AddTestsDirError: 'verifier-crash',
  DownloadVerifierDirError: 'verifier-crash',
};

/** Agents of Harbor that tell their tokens: without one in the output they did nothing. */
const tellTokens: ReadonlySet<string> = new Set(['claude-code', 'codex', 'pi', 'opencode', 'gemini-cli', 'terminus-2']);

/**
 * What a finished trial is worth. Harbor's own verdict (`reward_valid`) is necessary and not sufficient: an agent whose
 * provider is down tries until its time is up, and its reward 0 looks like an honest one; and an exception that Harbor does
 * not know counts as valid. So a reward counts only if the agent came to an end of its own kind and, where it tells its
 * tokens, wrote any.
 */
export function judge(
  trial: TrialResult,
  w: Witness,
  o: { readonly passThreshold: number; readonly hasSkill: boolean; readonly callsModel: boolean },
): Judged {
  const met = exceptionOf(trial);
  if (met?.type === 'CancelledError') return { kind: 'cancelled' };
  const failure = failureOf(trial, met, w);
  if (failure !== null) return { kind: 'failed', failure };
  const exit = exitOf(met?.type ?? null, trial);
  const no = (reason: UnscoredReason, detail: string): Judged => ({
    kind: 'outcome',
    outcome: unscored(reason, detail),
    exit,
  });
  if (w.planted !== null) return no('tampered', w.planted);
  if (o.hasSkill && w.injected === false)
    return no('skill-not-visible', 'the skill that Harbor put into the trial is not the one under test');
  if (met !== null && !agentEnds.has(met.type)) return no(reasonOf(met.type, trial), wordsOf(met));
  if (met !== null && !hasRun(trial.agent_execution)) return no('agent-setup', wordsOf(met));
  if (w.trouble !== null && w.trouble.kind !== 'limit') return no(reasonOfTrouble(w.trouble), w.trouble.detail);
  const idle = idleness(trial, w, met, o.callsModel);
  if (idle !== null) return no(idle.reason, idle.detail);
  if (trial.reward_valid === false)
    return no('verifier-bad-reward', met === null ? 'Harbor says that the reward does not count' : wordsOf(met));
  const values = trial.verifier_result?.rewards ?? null;
  if (values === null) return no('verifier-missing-reward', 'the verifier gave no reward');
  const reading = chosenReward(values);
  if (reading.kind === 'unscored') return no(reading.reason, reading.detail);
  const outcome = scored(reading.rewards, reading.reward, o.passThreshold, {
    read: o.hasSkill ? w.read : null,
    agentTimedOut: met?.type === 'AgentTimeoutError',
  });
  return { kind: 'outcome', outcome, exit };
}

type Met = { readonly type: string; readonly message: string };

/** What was raised: in the trial, or in the last of its steps that raised anything. */
function exceptionOf(trial: TrialResult): Met | null {
  const steps = (trial.step_results ?? []).map((step) => step.exception_info);
  const found = trial.exception_info ?? steps.findLast((e) => e !== null && e !== undefined);
  return found === null || found === undefined
    ? null
    : { type: found.exception_type, message: found.exception_message ?? '' };
}

/** What the next trial would meet, too. */
function failureOf(trial: TrialResult, met: Met | null, w: Witness): Failure | null {
  const agent = trial.agent_info?.name ?? trial.config.agent.name ?? 'agent';
  const said = w.trouble?.detail || (met === null ? '' : wordsOf(met));
  if (met?.type === 'AgentAuthenticationError' || w.trouble?.kind === 'auth')
    return fail(
      'auth',
      `the key is refused: ${said}`,
      `agent ${agent}`,
      'check the key (the variable that keyEnv names)',
    ).failure;
  if (met?.type === 'ApiUsageLimitError' || w.trouble?.kind === 'quota')
    return fail(
      'quota',
      `the account is used up: ${said}`,
      `agent ${agent}`,
      'add credit or raise the limit at the provider',
    ).failure;
  if (met?.type === 'ModelNotFoundError' || w.trouble?.kind === 'model-not-found')
    return fail('config', `the model is not there: ${said}`, `agent ${agent}`, 'name a model that the provider has')
      .failure;
  if (met !== null && /does not support skills/.test(met.message))
    return fail(
      'config',
      `Harbor’s agent ${agent} takes no skill`,
      'agent',
      'choose an agent that reads skills: `harbor agent list` has them all',
    ).failure;
  return null;
}

function reasonOf(type: string, trial: TrialResult): UnscoredReason {
  const known = reasons[type];
  if (known !== undefined) return known;
  if (type === 'NetworkConnectionError') return hasRun(trial.agent_execution) ? 'provider-error' : 'agent-setup';
  if (!hasBegun(trial.agent_setup)) return 'environment';
  if (!hasBegun(trial.agent_execution)) return 'agent-setup';
  // an agent that failed is judged all the same: only what arose after its end is the verifier's
  return type === 'ValidationError' ? 'verifier-bad-reward' : 'agent-crash';
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

/** Why the agent is known to have done nothing; null = it worked, or nobody can tell. */
function idleness(trial: TrialResult, w: Witness, met: Met | null, callsModel: boolean) {
  const name = trial.agent_info?.name ?? '';
  const counts = agentResults(trial).map((r) => r?.n_output_tokens ?? null);
  const tells = tellTokens.has(name) || counts.some((n) => n !== null);
  const tokens = counts.reduce<number>((sum, n) => sum + (n ?? 0), 0);
  if (tells && tokens > 0) return null;
  if (tells) {
    const reason: UnscoredReason = met === null || !callsModel ? 'agent-did-no-work' : 'provider-error';
    const how = met === null ? 'came to its end' : met.type === 'AgentTimeoutError' ? 'used all its time' : 'failed';
    return { reason, detail: `the agent ${how} without a token of the model` };
  }
  if (met?.type !== 'AgentTimeoutError' || w.acted === true) return null;
  return {
    reason: 'agent-did-no-work' as const,
    detail: 'the agent ran into its time limit before it had done anything that its log would show',
  };
}

function agentResults(trial: TrialResult) {
  return trial.agent_result
    ? [trial.agent_result]
    : (trial.step_results ?? []).map((step) => step.agent_result ?? null);
}

/** What the trial spent, by Harbor's counts; an agent that tells nothing and calls no model spent nothing. */
export function usageOf(trial: TrialResult, callsModel: boolean): Usage {
  const parts = agentResults(trial);
  const sum = (pick: (part: NonNullable<TrialResult['agent_result']>) => number | null | undefined) =>
    parts.reduce<number | null>((total, part) => {
      const value = part === null ? null : (pick(part) ?? null);
      return total === null || value === null ? null : total + value;
    }, 0);
  const inputTokens = parts.length === 0 ? null : sum((p) => p.n_input_tokens);
  const outputTokens = parts.length === 0 ? null : sum((p) => p.n_output_tokens);
  const costUsd = parts.length === 0 ? null : sum((p) => p.cost_usd);
  if (inputTokens === null && outputTokens === null && costUsd === null) return callsModel ? unknownUsage : noUsage;
  return { inputTokens, outputTokens, costUsd, requests: null };
}

function exitOf(type: string | null, trial: TrialResult): ExitCause {
  if (!hasBegun(trial.agent_execution)) return 'not-started';
  if (type === null) return 'finished';
  if (type === 'AgentTimeoutError') return 'timeout';
  return agentEnds.has(type) ? 'nonzero' : reasons[type] === undefined ? 'crashed' : 'nonzero';
}

type Timing = TrialResult['agent_setup'];
const hasBegun = (timing: Timing) => timing !== null && timing !== undefined;
const hasRun = (timing: Timing) => hasBegun(timing);

const longestWords = 400;

/** An exception as a line for people; Harbor's messages can hold a whole script. */
function wordsOf({ type, message }: Met): string {
  const line = message.replace(/\s+/g, ' ').trim();
  const words =
    line.length > longestWords ? `${line.slice(0, longestWords / 2)} … ${line.slice(-longestWords / 2)}` : line;
  return words === '' ? type : `${type}: ${words}`;
}
