import type { ProcessEnd } from '../../process/process-end.ts';
import { runProcess } from '../../process/run-process.ts';
import { markName } from '../local/environment.ts';
import { harborEnvironment } from './harbor-env.ts';
import type { HarborOptions } from './options.ts';

/** How long Harbor may take to wind its trials down after the one signal that it is sent; a second would leave all containers. */
export const patienceMs = 60_000;
/** A question to Harbor: Python starts slowly on a busy machine. */
const questionMs = 120_000;

/** By what all of a session's Harbor processes are known, after a kill of ours, too. */
export function harborMark(sessionId: string, job: string) {
  return { name: markName, match: 'exact', value: `${sessionId}/harbor/${job}` } as const;
}

/**
 * Runs one job to its end, or until `signal`. Harbor is asked to end with INT, which Python hands to its main task alone:
 * a TERM is raised wherever Harbor happens to be, and where that is the end of a trial it hangs.
 */
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
    ask: 'SIGINT',
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

/** Versions by what answered: it stays the same while this process lives, and the question takes Python's start. */
const versions = new Map<string, Promise<string | null>>();

/** Harbor's version; null = there is none, or it is another program of that name, which is asked anew next time. */
export function harborVersion(o: HarborOptions, cwd = '/'): Promise<string | null> {
  const which = JSON.stringify([o.program, o.hostEnv.PATH]);
  const known = versions.get(which);
  if (known !== undefined) return known;
  const asked = askVersion(o, cwd).then((version) => {
    if (version === null) versions.delete(which);
    return version;
  });
  versions.set(which, asked);
  return asked;
}

async function askVersion(o: HarborOptions, cwd: string): Promise<string | null> {
  const end = await askHarbor(o, ['--version'], cwd);
  if (end.cause !== 'exited' || end.exitCode !== 0) return null;
  return /^(\d+\.\d+\.\d+\S*)$/m.exec(end.stdout.trim())?.[1] ?? null;
}
