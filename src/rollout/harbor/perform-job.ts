import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Failure, fail } from '../../ports/failure.ts';
import type { RolloutProgress, RolloutReport, RolloutRequest } from '../../ports/rollouts.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { abortFailure } from './abort.ts';
import { harborEnvironment } from './harbor-env.ts';
import { runHarborJob } from './harbor-process.ts';
import { jobConfig, overlayText } from './job-config.ts';
import { cellByConfig, cellOfTrial, type JobsPlace, trialsIn } from './job-folder.ts';
import type { Entry, Job } from './jobs.ts';
import { sweepDocker } from './leftovers.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { PlantWatch } from './plant-watch.ts';
import { resultOf } from './result.ts';
import { type LaidSkill, laySkill } from './skills.ts';

/** How often a job's folder is looked at. */
const lookMs = 100;

export type JobContext = {
  readonly o: HarborOptions;
  readonly place: JobsPlace;
  readonly name: string;
  readonly concurrency: number;
  readonly versions: Readonly<Record<string, string>>;
  /** Ends the whole job. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RolloutProgress) => void;
};

const phases = ['prepare', 'agent', 'verifier', 'clean'] as const;

/**
 * Runs one job: hands over each trial's report as its result file appears, and at the end one for each request that has
 * none. A request that nobody waits for any more is left to run while others of its job are waited for, as Harbor ends a
 * job as a whole; when the last is given up the job is ended. What containers it left are taken away.
 */
export async function* performJob(job: Job, c: JobContext): AsyncGenerator<RolloutReport, void, undefined> {
  const { o, place, name } = c;
  const left = new Map(job.requests);
  const stop = new AbortController();
  const look = () => {
    if (c.signal.aborted || [...left.values()].every((request) => request.signal.aborted)) stop.abort();
  };
  const signals = [c.signal, ...[...left.values()].map((request) => request.signal)];
  for (const signal of signals) signal.addEventListener('abort', look);
  const watch = new PlantWatch();
  let ended: ProcessEnd | null = null;
  let running: Promise<ProcessEnd> | null = null;
  try {
    const laid = await lay(job, c);
    look();
    running = runHarborJob(o, name, place.file(name, 'config.json'), place.jobs, stop.signal);
    const done = running.then((end) => {
      ended = end;
    });
    const told = new Map<string, number>();
    const seen = new Set<string>();
    for (;;) {
      const last = ended !== null;
      for (const trial of await trialsIn(place.folderOf(name))) {
        if (seen.has(trial.folder)) continue;
        watch.look(trial.folder);
        const cell = trial.result === null ? await cellByConfig(trial.folder) : cellOfTrial(trial.result);
        const request = cell === null ? undefined : left.get(cell);
        if (request === undefined) continue;
        const tell = (to: number) => {
          for (let at = told.get(request.key) ?? 0; at <= to; at++) {
            const phase = phases[at];
            if (phase !== undefined) c.onProgress({ key: request.key, phase });
            told.set(request.key, at + 1);
          }
        };
        if (trial.result === null) {
          tell(await phaseOf(trial.folder));
          continue;
        }
        seen.add(trial.folder);
        if (cell !== null) left.delete(cell);
        tell(phases.length - 1);
        const entry = request.skill === null ? null : (laid.get(entryKey(request)) ?? null);
        const report = await resultOf(trial.folder, trial.result, {
          request,
          laid: entry,
          planted: watch.found(trial.folder, trial.result),
          options: o,
          versions: c.versions,
        });
        yield isGivenUp(request, c.signal) && report.kind !== 'failed'
          ? { kind: 'cancelled', key: request.key, ...('result' in report ? { usage: report.result.usage } : {}) }
          : report.kind === 'cancelled'
            ? { kind: 'failed', key: request.key, failure: endedByOthers(name) }
            : report;
        look();
      }
      if (last || left.size === 0) break;
      await Promise.race([done, new Promise((resolve) => setTimeout(resolve, lookMs))]);
    }
    const end = await running;
    const why =
      stop.signal.aborted || left.size === 0
        ? null
        : await abortFailure(end, { name, folder: place.folderOf(name), tasks: job.tasks });
    for (const request of left.values()) {
      // one that Harbor made no folder for was still in its queue
      const of = { key: request.key, ...(told.has(request.key) ? {} : { begun: false as const }) };
      yield isGivenUp(request, c.signal) || why === null
        ? { kind: 'cancelled', ...of }
        : { kind: 'failed', failure: why, ...of };
    }
  } finally {
    stop.abort();
    for (const signal of signals) signal.removeEventListener('abort', look);
    watch.close();
    if (running !== null) {
      await running;
      await clearAway(c);
    }
  }
}

function isGivenUp(request: RolloutRequest, all: AbortSignal): boolean {
  return all.aborted || request.signal.aborted;
}

function endedByOthers(job: string): Failure {
  return fail('environment-down', 'Harbor was ended by something else', `job ${job}`, 'start it again', {
    retryable: true,
  }).failure;
}

const entryKey = ({ skill }: Pick<Entry, 'skill'>) => JSON.stringify([skill?.hash, skill?.name, skill?.bundleDir]);

/** Writes all that the job needs, and what it is for. */
async function lay(job: Job, c: JobContext): Promise<ReadonlyMap<string, LaidSkill>> {
  const { o, place, name } = c;
  const laid = new Map<string, LaidSkill>();
  for (const { skill } of job.entries)
    if (skill !== null && !laid.has(entryKey({ skill })))
      laid.set(entryKey({ skill }), await laySkill(skill, place.skills));
  await mkdir(o.dir, { recursive: true });
  await place.begin({ job: name, keys: Object.fromEntries([...job.requests].map(([cell, { key }]) => [cell, key])) });
  const overlay = isDocker(o.environment) ? place.file(name, 'overlay.yaml') : null;
  if (overlay !== null) await writeFile(overlay, overlayText(o.sessionId, name));
  const config = jobConfig(job, o, {
    name,
    jobsDir: place.jobs,
    concurrency: c.concurrency,
    overlay,
    skillDir: (entry) => (entry.skill === null ? null : (laid.get(entryKey(entry))?.dir ?? null)),
  });
  await writeFile(place.file(name, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  return laid;
}

/** Index of the phase that a running trial's files show. */
async function phaseOf(folder: string): Promise<number> {
  const names = async (dir: string) => new Set(await readdir(join(folder, dir)).catch(() => []));
  if ((await names('verifier')).has('test-stdout.txt')) return 2;
  const logs = await names('agent');
  logs.delete('setup');
  return logs.size > 0 ? 1 : 0;
}

async function clearAway({ o, place, name }: JobContext): Promise<void> {
  if (!isDocker(o.environment)) return;
  const trials = (await trialsIn(place.folderOf(name))).map((trial) => trial.name);
  await sweepDocker({ job: name }, trials, { env: harborEnvironment(o), cwd: o.dir });
}
