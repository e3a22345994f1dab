import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Failure, fail, SkilloptError } from '../../ports/failure.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { PerformOptions, Recovered, RolloutReport, RolloutRequest, Rollouts } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { failureOf } from '../local/errors.ts';
import { DerivedTasks } from './derived-tasks.ts';
import { endHarbor } from './end-harbor.ts';
import { harborVersion } from './harbor-process.ts';
import { JobsPlace, type Unclaimed } from './job-folder.ts';
import { type Job, jobsOf } from './jobs.ts';
import { isEmpty } from './layer.ts';
import { finishedIn, notBegunIn } from './left-jobs.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { performJob } from './perform-job.ts';
import { harborPreflight } from './preflight.ts';
import { layPython } from './python-files.ts';
import { comesToOutcome, resultOf } from './result.ts';
import { Room } from './room.ts';
import { laySkill } from './skills.ts';

/** What an earlier process left: what was ended of it, for people, and what had not come to its turn. */
type Settled = { readonly lines: readonly string[]; readonly notBegun: ReadonlySet<string> };

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
  /** Trials that ended and whose report nobody took, by the key of their rollout; null = nobody has looked yet. */
  #unclaimed: Promise<Map<string, Unclaimed>> | null = null;
  #settled: Promise<Settled> | null = null;

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
    const { mounted, broughtVersions } = this.#o;
    const agent = mounted === undefined ? {} : { [mounted.agent]: mounted.version };
    return { harbor: (await harborVersion(this.#o)) ?? 'missing', ...agent, ...broughtVersions };
  }

  /**
   * Ends Harbor processes of an earlier process of this session, then what their trials left. Jobs that finished nothing
   * are closed; what others finished is handed over when it is asked for.
   */
  async sweep(): Promise<readonly string[]> {
    if (!existsSync(this.#o.dir)) return [];
    this.#settled = null; // asked again it looks again
    const { lines } = await this.#settle();
    const wanted = new Set([...(await this.#adoptable()).values()].map(({ job }) => job));
    for (const { job } of await this.#place.plans()) if (!wanted.has(job)) await this.#place.close(job, false);
    return lines;
  }

  async recover(keys: readonly string[]): Promise<Recovered> {
    const { notBegun } = await this.#settle();
    const finished = await this.#adoptable();
    return { finished: keys.filter((key) => finished.has(key)), notBegun: keys.filter((key) => notBegun.has(key)) };
  }

  /**
   * Ends what an earlier process left running, once. What had finished is looked at before, as of a trial that is cut off
   * nothing may count; what had not begun is known only when nothing can begin any more.
   */
  #settle(): Promise<Settled> {
    this.#settled ??= (async () => {
      await this.#adoptable();
      const { sessionId, dir, hostEnv, patienceMs, environment } = this.#o;
      const left = { sessionId, dir, hostEnv, patienceMs, onDocker: isDocker(environment) };
      const lines = await endHarbor(left, this.#place);
      return { lines, notBegun: await notBegunIn(this.#place) };
    })();
    return this.#settled;
  }

  async *performRollouts(
    requests: readonly RolloutRequest[],
    options: PerformOptions,
  ): AsyncGenerator<RolloutReport, void, undefined> {
    const fresh: RolloutRequest<FolderTask>[] = [];
    const versions = requests.length === 0 ? {} : await this.versions();
    for (const request of requests) {
      if (!isOfFolder(request)) {
        yield { kind: 'failed', key: request.key, failure: notAFolder(request.task.id), begun: false };
        continue;
      }
      const known = (await this.#adoptable()).get(request.key);
      const report = known === undefined ? null : await this.#adopt(known, request, versions);
      if (report !== null) {
        // paid: it is handed over even where nobody waits for it any more
        for (const phase of ['prepare', 'agent', 'verifier', 'clean'] as const)
          options.onProgress?.({ key: request.key, phase });
        yield report;
      } else if (options.signal.aborted || request.signal.aborted)
        yield { kind: 'cancelled', key: request.key, begun: false };
      else {
        const derived = await this.#derived(request);
        if (derived instanceof SkilloptError)
          yield { kind: 'failed', key: request.key, failure: derived.failure, begun: false };
        else fresh.push(derived);
      }
      if (known !== undefined) await this.#claimed(known);
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
    /** Keys whose report, other than that they were cancelled, stands in the log by now. */
    const handed = new Set<string>();
    const closing: (() => Promise<void>)[] = [];
    const work = jobs.map(async (job) => {
      const share = Math.max(1, Math.min(job.requests.size, Math.floor((workers * job.requests.size) / all)));
      await room.take(share);
      const name = `skillopt-${this.#o.sessionId}-${randomBytes(6).toString('hex')}`;
      const context = {
        o: this.#o,
        place: this.#place,
        name,
        concurrency: share,
        versions,
        signal: stop.signal,
        onProgress: options.onProgress ?? (() => {}),
      };
      let isPoor = false;
      try {
        for await (const report of performJob(job, context)) {
          isPoor ||= report.kind === 'failed';
          isPoor ||= report.kind === 'finished' && report.result.outcome.status === 'unscored';
          queue.push(report);
          wake();
        }
        closing.push(() => this.#close(name, job, { isPoor, handed }));
      } catch (error) {
        broken ??= failureOf(error, this.#o.dir) ?? error;
        stop.abort();
      } finally {
        room.give(share);
        open--;
        wake();
      }
    });
    try {
      for (;;) {
        for (let report = queue.shift(); report !== undefined; report = queue.shift()) {
          yield report;
          if (report.kind !== 'cancelled') handed.add(report.key);
        }
        for (const close of closing.splice(0)) await close();
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
      for (const close of closing) await close();
      options.signal.removeEventListener('abort', end);
    }
  }

  /** What a job finished and nobody took, as after a stop, is kept for whoever asks again; else it is closed, and its folder stays where a rollout has no score. */
  async #close(
    job: string,
    { requests }: Job,
    of: { readonly isPoor: boolean; readonly handed: ReadonlySet<string> },
  ): Promise<void> {
    const keys = Object.fromEntries([...requests].map(([cell, { key }]) => [cell, key]));
    const unclaimed = await this.#place.unclaimed({ job, keys }, of.handed);
    const adoptable = await this.#adoptable();
    for (const one of unclaimed) adoptable.set(one.key, one);
    if (unclaimed.length === 0) await this.#place.close(job, of.isPoor);
  }

  /** As the jobs of an earlier process were when they were first looked at. */
  #adoptable(): Promise<Map<string, Unclaimed>> {
    this.#unclaimed ??= finishedIn(this.#place, (folder, trial) => comesToOutcome(folder, trial, this.#o));
    return this.#unclaimed;
  }

  async #adopt(
    { folder, trial }: Unclaimed,
    request: RolloutRequest<FolderTask>,
    versions: Readonly<Record<string, string>>,
  ): Promise<RolloutReport | null> {
    const laid = request.skill === null ? null : await laySkill(request.skill, this.#place.skills);
    const report = await resultOf(folder, trial, { request, laid, planted: null, options: this.#o, versions });
    // what could not be told apart from a failure is run again
    return report.kind === 'finished' ? report : null;
  }

  /** It is handed over, or of no use: with the last one its job is closed. */
  async #claimed({ key, job, trial }: Unclaimed): Promise<void> {
    const adoptable = await this.#adoptable();
    adoptable.delete(key);
    const isLast = ![...adoptable.values()].some((one) => one.job === job);
    if (isLast) await this.#place.close(job, trial.exception_info != null);
  }
}

function isOfFolder(request: RolloutRequest): request is RolloutRequest<FolderTask> {
  return request.task.kind === 'folder';
}

function notAFolder(task: string): Failure {
  const what = 'this task is an entry of a prompt pack, and Harbor runs task folders';
  return fail('config', what, `task ${task}`, 'set "backend": "chat"').failure;
}
