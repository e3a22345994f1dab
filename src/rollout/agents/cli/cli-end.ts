import { type Failure, fail } from '../../../ports/failure.ts';
import type { ExitCause } from '../../../ports/outcome.ts';
import type { TrajectoryStep } from '../../../ports/trajectory.ts';
import type { ProcessEnd } from '../../../process/process-end.ts';
import type { AgentEnd } from '../agent.ts';
import type { CliKind, CliReading, CliTrouble } from './cli-kind.ts';
import { refusedFailure, usedUpFailure } from './logins/login-failures.ts';
import { oneLine } from './trouble.ts';

/** How a coding agent's process ended, and what its output says. */
export type CliRun = {
  readonly kind: Pick<CliKind, 'name'>;
  readonly instruction: string;
  readonly end: ProcessEnd;
  readonly reading: CliReading;
  readonly stderr: string;
  /** What makes a new login, where it is let in by one; null = it is let in by a key. */
  readonly logIn: string | null;
  /** Names the model in messages; null = the agent's own choice. */
  readonly model: string | null;
};

/**
 * What a run amounts to, by its events and by our own record of what ended it; the exit code alone says nothing. What was
 * stopped by us is no crash, and keeps what it had met by then.
 */
export function endOf(run: CliRun): AgentEnd {
  const { end, reading, instruction } = run;
  const steps: readonly TrajectoryStep[] = [{ kind: 'message', role: 'user', text: instruction }, ...reading.steps];
  const { finalText, read, visible } = reading;
  // by a login a share of a subscription is spent: what the agent names is what a key would have cost
  const usage = run.logIn === null ? reading.usage : { ...reading.usage, costUsd: null };
  const didWork =
    usage.outputTokens === null ? reading.steps.some((step) => step.kind === 'tool') : usage.outputTokens > 0;
  const told = { steps, finalText, usage, read, visible, didWork };
  if (end.cause === 'not-started') return { ...told, exit: 'not-started', trouble: setup(end.detail) };
  const stopped = end.cause === 'timeout' || end.cause === 'cancelled';
  const met = reading.trouble ?? (reading.ended || stopped ? null : { kind: 'crash' as const, detail: '' });
  const exit: ExitCause = stopped ? 'timeout' : end.exitCode === 0 && reading.ended ? 'finished' : 'nonzero';
  if (met === null) return { ...told, exit, trouble: null };
  switch (met.kind) {
    case 'limit':
      return { ...told, steps: [...steps, stoppedAt(met.detail)], exit, trouble: null };
    case 'crash':
      if (stopped) return { ...told, exit, trouble: null };
      return { ...told, exit: 'crashed', trouble: { reason: 'agent-crash', detail: crashWords(run, met) } };
    case 'rate-limit':
      return { ...told, exit, trouble: { reason: 'provider-rate-limit', detail: met.detail } };
    case 'provider':
      return { ...told, exit, trouble: { reason: 'provider-error', detail: met.detail } };
    case 'auth':
    case 'quota':
    case 'model-not-found':
      return { ...told, exit, trouble: null, failure: failureOf(met.kind, met, run) };
    default:
      return met.kind satisfies never;
  }
}

const stoppedAt = (limit: string): TrajectoryStep => ({ kind: 'note', text: `It stopped at a limit: ${limit}` });

const setup = (detail: string) => ({ reason: 'agent-setup' as const, detail });

function failureOf(kind: 'auth' | 'quota' | 'model-not-found', { detail, resetsAt }: CliTrouble, run: CliRun): Failure {
  const { name } = run.kind;
  const where = `agent ${name}`;
  const said = detail === '' ? '' : `: ${detail}`;
  switch (kind) {
    case 'auth':
      return run.logIn !== null
        ? refusedFailure(name, detail, run.logIn)
        : fail('auth', `the key is refused${said}`, where, 'check the key (the variable that keyEnv names)').failure;
    case 'quota':
      return run.logIn !== null
        ? usedUpFailure(name, detail, resetsAt)
        : fail('quota', `the account is used up${said}`, where, 'add credit or raise the limit at the provider')
            .failure;
    case 'model-not-found':
      return fail('config', `${run.model ?? 'the model'} is not there${said}`, where, 'name a model that it has')
        .failure;
    default:
      return kind satisfies never;
  }
}

function crashWords({ kind, end, stderr }: CliRun, { detail }: CliTrouble): string {
  const how = end.signal === null ? `exit code ${end.exitCode}` : `ended by ${end.signal}`;
  const words = [detail, detail === '' ? lastWords(stderr) : ''].filter((text) => text !== '').join(' ');
  return `${kind.name} did not come to its end (${how})${words === '' ? '' : `: ${words}`}`;
}

/** The last lines of an error output, bounded. */
function lastWords(stderr: string): string {
  const lines = stderr
    .slice(-20_000)
    .split('\n')
    .map((line) => line.trim());
  return oneLine(
    lines
      .filter((line) => line !== '')
      .slice(-3)
      .join(' · '),
  );
}
