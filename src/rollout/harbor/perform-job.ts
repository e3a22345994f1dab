import { existsSync, type FSWatcher, watch } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type Failure, fail } from '../../ports/failure.ts';
import type { RolloutProgress, RolloutReport, RolloutRequest } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { within } from '../../process/wait.ts';
import { diskFull, isDiskFull } from '../local/errors.ts';
import { abortFailure } from './abort.ts';
import { harborEnvironment } from './harbor-env.ts';
import { runHarborJob } from './harbor-process.ts';
import { jobConfig, overlayText } from './job-config.ts';
import type { JobsPlace } from './job-folder.ts';
import { JobWatch, type SeenTrial } from './job-watch.ts';
import type { Entry, Job } from './jobs.ts';
import { sweepDocker } from './leftovers.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { PlantWatch } from './plant-watch.ts';
import { resultOf } from './result.ts';
import { type LaidSkill, laySkill } from './skills.ts';

/** How often a job's folder is looked at where the system does not say that it changed. */
const lookMs = 200;
/** How long Harbor may take for its last words when all trials have ended. */
const lastWordsMs = 30_000;

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

/**
 * Runs one job: hands over each trial's report as its result file appears, and at the end one for each request that has
 * none. A request that nobody waits for any more is left to run while others of its job are waited for, as Harbor ends a
 * job as a whole (what it comes to is paid, and handed over); when the last is given up the job is ended. What containers
 * it left are taken away.
 */
export async function* performJob(job: Job, c: JobContext): AsyncGenerator<RolloutReport, void, undefined> {
  const { o, place, name } = c;
  const folder = place.folderOf(name);
  const left = new Map(job.requests);
  const stop = new AbortController();
  const giveUp = () => {
    if (c.signal.aborted || [...left.values()].every((request) => request.signal.aborted)) stop.abort();
  };
  const signals = [c.signal, ...[...left.values()].map((request) => request.signal)];
  for (const signal of signals) signal.addEventListener('abort', giveUp);
  const trials = new JobWatch(folder);
  const plants = new PlantWatch();
  const bell = new Bell(folder);
  const tell = teller(c.onProgress);
  const begun = new Set<string>();
  let ended: ProcessEnd | null = null;
  let running: Promise<ProcessEnd> | null = null;
  try {
    const laid = await lay(job, c);
    giveUp();
    running = runHarborJob(o, name, place.file(name, 'config.json'), place.jobs, stop.signal);
    const done = running.then((end) => {
      ended = end;
    });
    for (;;) {
      const over = ended !== null;
      for (const trial of await trials.look(over)) {
        const request = trial.cell === null ? undefined : left.get(trial.cell);
        if (request !== undefined) begun.add(request.key);
        if (trial.result === null) {
          plants.look(trial.folder);
          if (request !== undefined) tell(request.key, trial.phase);
          continue;
        }
        const planted = plants.found(trial.folder, trial.result);
        if (request === undefined || trial.cell === null) continue;
        left.delete(trial.cell);
        tell(request.key, 'clean');
        const skill = request.skill === null ? null : (laid.get(skillKey(request)) ?? null);
        yield await reportOf({ request, trial, laid: skill, planted, ended: stop.signal.aborted }, c);
        giveUp();
      }
      if (over || left.size === 0) break;
      await Promise.race([done, bell.rings(lookMs)]);
    }
    if (left.size === 0 && (await within(running, lastWordsMs)) === null) stop.abort();
    const end = await running;
    const why = left.size === 0 || stop.signal.aborted ? null : await whyEnded(end, c, job, trials.trials.length > 0);
    for (const request of left.values()) {
      // one that Harbor made no folder for was still in its queue
      const of = { key: request.key, ...(begun.has(request.key) ? {} : { begun: false as const }) };
      yield request.signal.aborted || why === null
        ? { kind: 'cancelled', ...of }
        : { kind: 'failed', failure: why, ...of };
    }
  } finally {
    stop.abort();
    for (const signal of signals) signal.removeEventListener('abort', giveUp);
    plants.close();
    bell.close();
    if (running !== null) {
      const end = await running;
      const whole = end.cause === 'exited' && end.exitCode === 0 && left.size === 0;
      await clearAway(c, trials.trials, whole);
    }
  }
}

const phases = ['prepare', 'agent', 'verifier', 'clean'] as const;

/** Tells each phase of each rollout once and in order, those before it too. */
function teller(onProgress: JobContext['onProgress']): (key: string, phase: RolloutProgress['phase']) => void {
  const told = new Map<string, number>();
  return (key, phase) => {
    const upTo = phases.indexOf(phase) + 1;
    const from = told.get(key) ?? 0;
    told.set(key, Math.max(from, upTo));
    for (const one of phases.slice(from, upTo)) onProgress({ key, phase: one });
  };
}

type Ended = {
  readonly request: RolloutRequest<FolderTask>;
  readonly trial: SeenTrial & { readonly result: object };
  readonly laid: LaidSkill | null;
  readonly planted: string | null;
  /** The job is being ended by us. */
  readonly ended: boolean;
};

async function reportOf({ request, trial, laid, planted, ended }: Ended, c: JobContext): Promise<RolloutReport> {
  const { o, versions } = c;
  const { key } = request;
  const report = await resultOf(trial.folder, trial.result, { request, laid, planted, options: o, versions });
  switch (report.kind) {
    case 'failed':
      return report;
    case 'cancelled':
      return ended ? report : { kind: 'failed', key, failure: endedByOthers(c.name), usage: report.usage };
    case 'finished': {
      const { outcome, usage } = report.result;
      if (ended) return { kind: 'cancelled', key, usage };
      return outcome.status === 'unscored' && (await isDiskFull(o.dir))
        ? { kind: 'failed', key, failure: diskFull(o.dir).failure, usage }
        : report;
    }
    default:
      return report satisfies never;
  }
}

/** Why Harbor ended and left requests without a result, when nobody here asked it to. */
async function whyEnded(
  end: ProcessEnd,
  { o, place, name }: JobContext,
  { tasks }: Job,
  hasBegun: boolean,
): Promise<Failure> {
  const folder = place.folderOf(name);
  if (await isDiskFull(o.dir)) return diskFull(o.dir).failure;
  if (end.cause === 'exited' && hasBegun && !existsSync(folder))
    return fail(
      'environment-down',
      'the job’s folder was removed while it ran',
      folder,
      'leave it until the job ends',
      {
        retryable: true,
      },
    ).failure;
  return abortFailure(end, { name, folder, tasks });
}

function endedByOthers(job: string): Failure {
  return fail('environment-down', 'Harbor was ended by something else', `Harbor job ${job}`, 'start it again', {
    retryable: true,
  }).failure;
}

const skillKey = ({ skill }: Pick<Entry, 'skill'>) => JSON.stringify([skill?.hash, skill?.name, skill?.bundleDir]);

/** Writes what Harbor is given: skills, overlay, config; and what the job is for, before all. */
async function lay(job: Job, c: JobContext): Promise<ReadonlyMap<string, LaidSkill>> {
  const { o, place, name } = c;
  const laid = new Map<string, LaidSkill>();
  for (const { skill } of job.entries)
    if (skill !== null && !laid.has(skillKey({ skill })))
      laid.set(skillKey({ skill }), await laySkill(skill, place.skills));
  await place.begin({ job: name, keys: Object.fromEntries([...job.requests].map(([cell, { key }]) => [cell, key])) });
  const overlay = isDocker(o.environment) ? place.file(name, 'overlay.yaml') : null;
  if (overlay !== null) await writeFile(overlay, overlayText(o.sessionId, name));
  const config = jobConfig(job, o, {
    name,
    jobsDir: place.jobs,
    concurrency: c.concurrency,
    overlay,
    skillDir: (entry) => (entry.skill === null ? null : (laid.get(skillKey(entry))?.dir ?? null)),
  });
  await writeFile(place.file(name, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  return laid;
}

/** After a job that ended by itself a look at its containers is enough; else something may stand half made or half removed. */
async function clearAway({ o, name }: JobContext, trials: readonly string[], whole: boolean): Promise<void> {
  if (!isDocker(o.environment)) return;
  await sweepDocker({ job: name, trials: whole ? [] : trials }, { env: harborEnvironment(o), cwd: o.dir });
}

/** Rings when something in a folder changes, as far as the system tells: what Harbor logs there is no news. */
class Bell {
  #watcher: FSWatcher | null = null;
  #rung = false;
  #wake: () => void = () => {};

  constructor(private readonly folder: string) {}

  /** Settles when it rings, at once if it has rung since the last call, or after `limitMs`. */
  async rings(limitMs: number): Promise<void> {
    this.#listen();
    if (!this.#rung) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, limitMs);
      });
      clearTimeout(timer);
    }
    this.#rung = false;
  }

  close(): void {
    this.#watcher?.close();
    this.#wake();
  }

  /** The folder may not be there yet, and be gone again. */
  #listen(): void {
    if (this.#watcher !== null) return;
    try {
      this.#watcher = watch(this.folder, (_, file) => {
        if (file === 'job.log') return;
        this.#rung = true;
        this.#wake();
      });
      this.#watcher.on('error', () => this.#watcher?.close());
      this.#rung = true;
    } catch {}
  }
}
