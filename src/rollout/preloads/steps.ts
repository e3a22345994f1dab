import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { printable, shellWord } from '../../ports/printable.ts';
import type { Mark } from '../../process/mark.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { runProcess } from '../../process/run-process.ts';

/** A command as the processes of rollouts run: within the walls, where there are some. */
export type WalledCommand = {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** Beside HOME and TMPDIR, which are folders of its own. */
  readonly env: Readonly<Record<string, string>>;
  /** The one folder of this machine that it may write in, at its own path; null = none. */
  readonly writable: string | null;
  readonly show: readonly string[];
  readonly network: 'off' | 'on';
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};
export type Walled = (command: WalledCommand) => Promise<ProcessEnd>;

/** One step of what is installed. */
export type Step = {
  /** What is done, in the words of the config: `npm: prettier@3.6.2`. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null: it runs no code of what it installs, so it runs as this user, with this machine's network. */
  readonly within: { readonly writable: string; readonly show: readonly string[] } | null;
  /** The smallest next step when it fails, by what it wrote. */
  readonly fix: (output: string) => string;
};

/** How steps are run, and where all that they write is kept. */
export type StepRunner = {
  readonly walled: Walled;
  readonly log: string;
  readonly redact: (text: string) => Promise<string>;
  readonly onStep: (name: string) => void;
  /** By it what a step leaves running is found and ended. */
  readonly mark: Mark & { readonly match: 'exact' };
  readonly signal: AbortSignal;
};

const stepMs = 30 * 60_000;
const maxOutputBytes = 200_000;
/** Lines of a failed step that are told at once. */
const lastLines = 8;

/** Runs a step to its end. Throws `preflight` with its last lines where it fails, `interrupted` where it was stopped. */
export async function runStep(step: Step, { walled, log, redact, onStep, mark, signal }: StepRunner): Promise<string> {
  onStep(step.name);
  const { command, cwd, env, within } = step;
  const end =
    within === null
      ? await runProcess({ command, cwd, env, mark, timeoutMs: stepMs, signal, maxOutputBytes, mergeStderr: true })
      : await walled({ command, cwd, env, ...within, network: 'on', timeoutMs: stepMs, signal });
  const output = await redact(end.stdout);
  const how = endedHow(end);
  mkdirSync(dirname(log), { recursive: true });
  appendFileSync(
    log,
    `# ${step.name}\n$ ${await redact(command.map(shellWord).join(' '))}\n${output}${output === '' || output.endsWith('\n') ? '' : '\n'}# ${how}, ${(end.durationMs / 1000).toFixed(1)} s\n\n`,
    { mode: 0o600 },
  );
  if (end.cause === 'cancelled')
    throw fail(
      'interrupted',
      'stopped while preloads were installed; nothing half is left',
      'preloads',
      'the same command installs them anew',
      { retryable: true },
    );
  if (end.cause === 'exited' && end.exitCode === 0) return output;
  if (end.systemRefused)
    throw fail('environment-down', end.detail, `preloads: ${step.name}`, 'raise the limit (ulimit -n, ulimit -u)', {
      retryable: true,
    });
  const tail = printable(output)
    .trimEnd()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-lastLines);
  const told = tail.length === 0 ? [] : [`the last it wrote, of ${log}:`, ...tail.map((line) => `  ${line}`)];
  throw fail(
    'preflight',
    `preloads could not be installed: ${step.name} ${how}`,
    [`preloads: ${step.name}`, ...told].join('\n'),
    step.fix(output),
  );
}

function endedHow(end: ProcessEnd): string {
  switch (end.cause) {
    case 'exited':
      return `ended with exit code ${end.exitCode}`;
    case 'signal':
      return `was ended by ${end.signal}`;
    case 'timeout':
      return `took more than ${stepMs / 60_000} minutes`;
    case 'cancelled':
      return 'was stopped';
    case 'not-started':
      return `did not start: ${end.detail}`;
    default:
      return end.cause satisfies never;
  }
}
