import { type Failure, fail } from '../../ports/failure.ts';
import type { UnscoredReason } from '../../ports/outcome.ts';
import { partsOf, type TrialPart, type TrialResult } from './trial.ts';

/** What was raised in a trial, and in which part of it; null = outside of its steps. */
export type Met = {
  readonly type: string;
  readonly message: string;
  readonly part: TrialPart | null;
  /** In milliseconds since 1970; NaN = it is not told. */
  readonly at: number;
};

/** All that was raised in a trial: its own first, then its steps' in order. */
export function metIn(trial: TrialResult): readonly Met[] {
  const parts = partsOf(trial);
  const owners = parts.includes(trial) ? parts : [trial, ...parts];
  return owners.flatMap((owner) => {
    const found = owner.exception_info;
    if (found === null || found === undefined) return [];
    const part = parts.includes(owner) ? owner : null;
    const at = Date.parse(found.occurred_at ?? '');
    return [{ type: found.exception_type, message: found.exception_message ?? '', part, at }];
  });
}

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

/** The agent came to an end of its own kind: it had begun, and what stopped it is no fault of the machinery. */
export function isAgentEnd({ type, part }: Met): boolean {
  return agentEnds.has(type) && hasBegun(part?.agent_execution);
}

/** What Harbor's exceptions mean where they are no end of the agent's own; others are told by the phase in which they arose. */
const reasons: Readonly<Record<string, UnscoredReason>> = {
  ApiRateLimitError: 'provider-rate-limit',
  RateLimitError: 'provider-rate-limit',
  ApiError: 'provider-error',
  APIError: 'provider-error',
  ApiConnectionError: 'provider-error',
  APIConnectionError: 'provider-error',
  ApiInternalServerError: 'provider-error',
  InternalServerError: 'provider-error',
  ServiceUnavailableError: 'provider-error',
  ApiOverloadedError: 'provider-error',
  ApiConnectionClosedError: 'provider-error',
  ApiResponseStalledError: 'provider-error',
  ApiProviderResourceNotFoundError: 'provider-error',
  UnknownApiError: 'provider-error',
  BadRequestError: 'provider-error',
  Timeout: 'provider-error',
  EnvironmentStartTimeoutError: 'environment',
  SandboxBuildFailedError: 'environment',
  SandboxLikelyOutOfMemoryError: 'environment',
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

/** Why a trial in which this was raised has no score. */
export function reasonOf(met: Met, trial: TrialResult): UnscoredReason {
  const { type, part, at } = met;
  const known = Object.hasOwn(reasons, type) ? reasons[type] : undefined;
  if (known !== undefined) return known;
  if (!hasBegun(trial.agent_setup)) return 'environment';
  const isOfStep = part !== null && part !== trial;
  if (part !== null && !hasBegun(part.agent_execution)) return isOfStep ? 'environment' : 'agent-setup';
  if (type === 'NetworkConnectionError') return 'provider-error';
  const verifier = part?.verifier;
  if (!hasBegun(verifier) || !(at >= Date.parse(verifier?.started_at ?? ''))) return 'agent-crash';
  // with its verdict in, only the end of the environment is left
  if (part?.verifier_result) return 'environment';
  return type === 'ValidationError' ? 'verifier-bad-reward' : 'verifier-crash';
}

type Lasting = 'auth' | 'quota' | 'model-not-found';

const lasting: Readonly<Record<string, Lasting>> = {
  AgentAuthenticationError: 'auth',
  AuthenticationError: 'auth',
  PermissionDeniedError: 'auth',
  ApiUsageLimitError: 'quota',
  ModelNotFoundError: 'model-not-found',
  NotFoundError: 'model-not-found',
};

/** Which of the things that every next trial would meet, too, an exception stands for; null = none. */
export function lastingKind({ type, part }: Met): Lasting | null {
  // in the setup it is somebody else's key
  if (!hasBegun(part?.agent_execution)) return null;
  return Object.hasOwn(lasting, type) ? (lasting[type] ?? null) : null;
}

/** The failure that a refused key, a used up account or a model that is not there is. */
export function lastingFailure(kind: Lasting, said: string, agent: string): Failure {
  const where = `agent ${agent}`;
  switch (kind) {
    case 'auth':
      return fail('auth', `the key is refused: ${said}`, where, 'check the key (the variable that keyEnv names)')
        .failure;
    case 'quota':
      return fail('quota', `the account is used up: ${said}`, where, 'add credit or raise the limit at the provider')
        .failure;
    case 'model-not-found':
      return fail('config', `the model is not there: ${said}`, where, 'name a model that the provider has').failure;
    default:
      return kind satisfies never;
  }
}

/** Harbor refuses skills for an agent that does not say that it reads them, before there is any environment. */
export function refusesSkills({ message }: Met, trial: TrialResult): boolean {
  return !hasBegun(trial.agent_setup) && /does not support skills/.test(message);
}

export function hasBegun(phase: TrialPart['agent_execution']): boolean {
  return phase !== null && phase !== undefined;
}

const longestWords = 400;

/** An exception as a line for people; Harbor's messages can hold a whole script. */
export function wordsOf({ type, message }: Pick<Met, 'type' | 'message'>): string {
  const line = message.replace(/\s+/g, ' ').trim();
  const half = longestWords / 2;
  const words = line.length > longestWords ? `${line.slice(0, half)} … ${line.slice(-half)}` : line;
  return words === '' ? type : `${type}: ${words}`;
}
