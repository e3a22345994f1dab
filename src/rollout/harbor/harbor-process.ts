import type { ProcessEnd } from '../../process/process-end.ts';
import { runProcess } from '../../process/run-process.ts';
import { markName } from '../local/environment.ts';
import { harborEnvironment } from './harbor-env.ts';
import type { HarborOptions } from './options.ts';

/** How long Harbor may take to wind its trials down after the one TERM that it is sent; a second would leave all containers. */
const patienceMs = 60_000;
/** A question to Harbor: Python starts slowly on a busy machine. */
const questionMs = 120_000;

/** By what all of a session's Harbor processes are known, after a kill of ours, too. */
export function harborMark(sessionId: string, job: string) {
  return { name: markName, match: 'exact', value: `${sessionId}/harbor/${job}` } as const;
}

/** Runs one job to its end, or until `signal`. */
export function runHarborJob(
  o: HarborOptions,
  job: string,
  config: string,
  cwd: string,
  signal: AbortSignal,
): Promise<ProcessEnd> {
  return runProcess({
    command: [o.program, 'run', '-c', config, '-y'],
    cwd,
    env: harborEnvironment(o),
    timeoutMs: null,
    graceMs: o.patienceMs ?? patienceMs,
    mark: harborMark(o.sessionId, job),
    signal,
  });
}

/** Asks Harbor something: `--version`, a list, a dry run. */
export function askHarbor(o: HarborOptions, args: readonly string[], cwd: string): Promise<ProcessEnd> {
  return runProcess({
    command: [o.program, ...args],
    cwd,
    env: harborEnvironment(o),
    timeoutMs: questionMs,
    mark: harborMark(o.sessionId, 'question'),
  });
}

/** Harbor's version; null = there is none, or it is another program of that name. */
export async function harborVersion(o: HarborOptions, cwd = '/'): Promise<string | null> {
  const end = await askHarbor(o, ['--version'], cwd);
  if (end.cause !== 'exited' || end.exitCode !== 0) return null;
  return /^(\d+\.\d+\.\d+\S*)$/m.exec(end.stdout.trim())?.[1] ?? null;
}
