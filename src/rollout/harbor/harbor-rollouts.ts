import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Failure, fail, SkilloptError } from '../../ports/failure.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { PerformOptions, Recovered, RolloutReport, RolloutRequest, Rollouts } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { reapLeftovers } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import { DerivedTasks } from './derived-tasks.ts';
import { harborEnvironment } from './harbor-env.ts';
import { harborVersion } from './harbor-process.ts';
import { JobsPlace, trialsIn } from './job-folder.ts';
import { type Job, jobsOf } from './jobs.ts';
import { isEmpty } from './layer.ts';
import { type Adoptable, type LeftJobs, leftJobs } from './left-jobs.ts';
import { sweepDocker } from './leftovers.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { performJob } from './perform-job.ts';
import { harborPreflight } from './preflight.ts';
import { layPython } from './python-files.ts';
import { comesToOutcome, resultOf } from './result.ts';
import { laySkill } from './skills.ts';

/**
 * Rollouts in Harbor: all requests of one call go into as few jobs as they fit, and each result is read from the job's
 * files as it appears. What Harbor had finished when an earlier process died is handed over without being run again.
 */
export class HarborRollouts implements Rollouts {
  readonly batches = true;
  readonly #o: HarborOptions;
  readonly #place: JobsPlace;
  /** Null: tasks are run as they are. */
  readonly #layered: DerivedTasks | null;
  #version: string | null = null;
  #left: Promise<LeftJobs> | null = null;

  constructor(options: HarborOptions) {
    this.#o = options;
    this.#place = new JobsPlace(options.dir);
    const { layer, dir } = options;
    this.#layered = layer === undefined || isEmpty(layer) ? null : new DerivedTasks(join(dir, 'tasks'), layer);
  }

  async preflight(): Promise<readonly Finding[]> {
    return [...(this.#o.found ?? []), ...(await harborPreflight(this.#o))];
  }

  async versions(): Promise<Readonly<Record<string, string>>> {
    this.#version ??= (await harborVersion(this.#o)) ?? 'missing';
    const { mounted, broughtVersions } = this.#o;
    const agent = mounted === undefined ? {} : { [mounted.agent]: mounted.version };
    return { harbor: this.#version, ...agent, ...broughtVersions };
  }

  /** Ends Harbor processes of an earlier process of this session, then what their trials left. */
  async sweep(): Promise<readonly string[]> {
    const { sessionId, dir } = this.#o;
    if (!existsSync(dir)) return [];
    const lines = [...(await this.#endProcesses())];
    const plans = await this.#place.plans();
    const names = (await Promise.all(plans.map(({ job }) => trialsIn(this.#place.folderOf(job))))).flat();
    if (isDocker(this.#o.environment))
      lines.push(
        ...(await sweepDocker(
          { session: sessionId },
          names.map(({ name }) => name),
          { env: harborEnvironment(this.#o), cwd: dir },
        )),
      );
    const { finished } = await this.#leftJobs(); // what had not begun is known by these jobs alone
    const wanted = new Set([...finished.values()].map(({ job }) => job));
    for (const { job } of plans) if (!wanted.has(job)) await this.#place.putAway(job);
    return lines;
  }

  async recover(keys: readonly string[]): Promise<Recovered> {
    await this.#endProcesses();
    const { finished, notBegun } = await this.#leftJobs();
    return { finished: keys.filter((key) => finished.has(key)), notBegun: keys.filter((key) => notBegun.has(key)) };
  }

  /** Ends Harbor processes that run for this session, each with time to wind down. */
  async #endProcesses(): Promise<readonly string[]> {
    const mark = { name: markName, match: 'prefix', value: `${this.#o.sessionId}/harbor/` } as const;
    return reapLeftovers(mark, this.#o.patienceMs ?? 60_000);
  }

  async *performRollouts(
    requests: readonly RolloutRequest[],
    options: PerformOptions,
  ): AsyncGenerator<RolloutReport, void, undefined> {
    const { finished } = await this.#leftJobs();
    const fresh: RolloutRequest<FolderTask>[] = [];
    const versions = requests.length === 0 ? {} : await this.versions();
    for (const request of requests) {
      if (!isOfFolder(request)) {
        yield { kind: 'failed', key: request.key, failure: notAFolder(request.task.id), begun: false };
        continue;
      }
      const known = finished.get(request.key);
      const report = known === undefined ? null : await this.#adopt(known, request, versions);
      if (report !== null) {
        // paid: it is handed over even where nobody waits for it any more
        for (const phase of ['prepare', 'agent', 'verifier', 'clean'] as const)
          options.onProgress?.({ key: request.key, phase });
        yield report;
        await this.#taken(request.key, finished);
      } else if (options.signal.aborted || request.signal.aborted)
        yield { kind: 'cancelled', key: request.key, begun: false };
      else {
        const derived = await this.#derived(request);
        if (derived instanceof SkilloptError)
          yield { kind: 'failed', key: request.key, failure: derived.failure, begun: false };
        else fresh.push(derived);
      }
    }
    if (fresh.length === 0) return;
    await mkdir(this.#o.dir, { recursive: true });
    await layPython(this.#o);
    yield* this.#perform(jobsOf(fresh, this.#o.sessionId), versions, options);
  }

  /** The same request for a copy of the task with the layer on its image; an error where that can't be. */
  async #derived(request: RolloutRequest<FolderTask>): Promise<RolloutRequest<FolderTask> | SkilloptError> {
    if (this.#layered === null) return request;
    try {
      return { ...request, task: await this.#layered.of(request.task) };
    } catch (error) {
      if (error instanceof SkilloptError) return error;
      throw error;
    }
  }

  /** Jobs run side by side and share the workers between them. */
  async *#perform(
    jobs: readonly Job[],
    versions: Readonly<Record<string, string>>,
    options: PerformOptions,
  ): AsyncGenerator<RolloutReport, void, undefined> {
    const workers = options.concurrency ?? this.#o.concurrency;
    const all = jobs.reduce((sum, job) => sum + job.requests.size, 0);
    const stop = new AbortController();
    const end = () => stop.abort();
    options.signal.addEventListener('abort', end, { once: true });
    if (options.signal.aborted) end();
    const room = new Room(workers);
    const queue: RolloutReport[] = [];
    let wake: () => void = () => {};
    let open = jobs.length;
    let broken: unknown = null;
    const work = jobs.map(async (job) => {
      const share = Math.max(1, Math.min(job.requests.size, Math.floor((workers * job.requests.size) / all)));
      await room.take(share);
      const name = `skillopt-${this.#o.sessionId}-${randomBytes(4).toString('hex')}`;
      try {
        const context = {
          o: this.#o,
          place: this.#place,
          name,
          concurrency: share,
          versions,
          signal: stop.signal,
          onProgress: options.onProgress ?? (() => {}),
        };
        let whole = true;
        for await (const report of performJob(job, context)) {
          whole &&= report.kind === 'finished';
          queue.push(report);
          wake();
        }
        if (whole) this.#done.push(name);
      } catch (error) {
        broken ??= error;
        stop.abort();
      } finally {
        room.give(share);
        open--;
        wake();
      }
    });
    try {
      for (;;) {
        for (const report of queue.splice(0)) yield report;
        // what has been handed over stands in the log by now
        for (const name of this.#done.splice(0)) await this.#place.putAway(name);
        if (broken !== null) throw broken;
        if (open === 0 && queue.length === 0) return;
        if (queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (queue.length > 0 || open === 0) resolve();
          });
      }
    } finally {
      stop.abort();
      await Promise.allSettled(work);
      options.signal.removeEventListener('abort', end);
    }
  }

  /** Jobs whose every result was handed over. */
  readonly #done: string[] = [];

  /** As the jobs of an earlier process were when they were first looked at. */
  #leftJobs(): Promise<LeftJobs> {
    this.#left ??= leftJobs(this.#place, (folder, trial) => comesToOutcome(folder, trial, this.#o));
    return this.#left;
  }

  async #adopt(
    { folder, trial }: Adoptable,
    request: RolloutRequest<FolderTask>,
    versions: Readonly<Record<string, string>>,
  ): Promise<RolloutReport | null> {
    const laid = request.skill === null ? null : await laySkill(request.skill, this.#place.skills);
    const report = await resultOf(folder, trial, { request, laid, planted: null, options: this.#o, versions });
    return report.kind === 'finished' ? report : null;
  }

  async #taken(key: string, adopted: Map<string, Adoptable>): Promise<void> {
    const job = adopted.get(key)?.job;
    adopted.delete(key);
    if (job !== undefined && ![...adopted.values()].some((one) => one.job === job)) await this.#place.putAway(job);
  }
}

/** So many trials at a time over all jobs of one call. */
class Room {
  #free: number;
  readonly #waiting: { readonly need: number; readonly go: () => void }[] = [];

  constructor(private readonly size: number) {
    this.#free = size;
  }

  async take(wanted: number): Promise<void> {
    const need = Math.min(wanted, this.size);
    if (this.#waiting.length === 0 && this.#free >= need) {
      this.#free -= need;
      return;
    }
    await new Promise<void>((go) => this.#waiting.push({ need, go }));
  }

  give(wanted: number): void {
    this.#free += Math.min(wanted, this.size);
    for (let next = this.#waiting[0]; next !== undefined && this.#free >= next.need; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.need;
      next.go();
    }
  }
}

function isOfFolder(request: RolloutRequest): request is RolloutRequest<FolderTask> {
  return request.task.kind === 'folder';
}

function notAFolder(task: string): Failure {
  const what = 'this task is an entry of a prompt pack, and Harbor runs task folders';
  return fail('config', what, `task ${task}`, 'set "backend": "chat"').failure;
}
