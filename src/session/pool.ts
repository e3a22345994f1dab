import type { Journal } from '../journal/journal.ts';
import type { Redactor } from '../journal/redact.ts';
import { redactFailure, redactOutcome, redactTrajectory } from '../journal/redact.ts';
import type { Texts } from '../journal/texts.ts';
import type { Ask, LedgerLine } from '../ports/engine.ts';
import { type Failure, SkilloptError } from '../ports/failure.ts';
import type { MountedSkill, RolloutReport, RolloutRequest, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import { type Usage, unknownUsage } from '../ports/usage.ts';
import { type ActualLedger, spentOn } from './actual-ledger.ts';
import { Paused } from './ends.ts';
import { cantHold } from './limit-failures.ts';
import type { Logged } from './logged.ts';
import { type Answer, type Job, newJob, type Rank } from './pool-job.ts';
import { isFar, type Resets, untilRetryMs } from './resets.ts';
import { Slots } from './slots.ts';
import { Unanswered } from './unanswered.ts';

export type PoolOptions = {
  readonly rollouts: Rollouts;
  readonly workers: number;
  /** Workers that are shared with other sessions of this process; absent = `workers` of its own. */
  readonly slots?: Slots | undefined;
  readonly task: (id: string) => Task;
  /** `name` = what stands for it in keys. */
  readonly skill: (text: string, name: string) => MountedSkill;
  readonly texts: Texts;
  readonly redact: Redactor;
  readonly ledger: ActualLedger;
  /** Waits before the machinery is tried again, in ms, one for each failure in a row. */
  readonly backoffMs: readonly number[];
  /** Waits for what will be taken again; absent = the session pauses. */
  readonly resets?: Resets | undefined;
};

/** Failures alike in a row after which the session pauses. */
const PAUSE_AFTER = 3;

/**
 * Performs rollouts with a bounded number of workers and writes each answer into the log before anyone sees it.
 * The next rollout starts only after the engine has read the answer at hand, which may drop what would start now.
 */
export class Pool {
  private readonly jobs = new Map<string, Job>();
  /** Keys at work, those that are being cancelled included: one key is never at work twice. */
  private readonly atWork = new Set<string>();
  private running = 0;
  private readonly slots: Slots;
  private readonly free = () => setImmediate(() => this.pumpLater());
  private closed = false;
  /** Failures in a row; those of rollouts that ran side by side are one wave and count once. */
  private failuresInRow: Failure[] = [];
  private wave = 0;
  private readonly unanswered = new Unanswered();
  private waiting: ReturnType<typeof setTimeout> | null = null;
  private paused: unknown = null;
  private idle: (() => void)[] = [];
  readonly performed: string[] = [];

  constructor(
    private readonly journal: Journal,
    private readonly logged: Logged,
    private readonly o: PoolOptions,
    /** Nothing starts while logged decisions lie ahead. */
    private readonly mayStart: () => boolean,
  ) {
    this.slots = o.slots ?? new Slots(o.workers);
  }

  plan(asks: readonly Ask[], text: string | null, line: LedgerLine): void {
    for (const a of asks) if (!this.logged.outcomes.has(a.key)) this.job(a, text, 1, line);
    this.pump();
  }

  /** Replaces the guesses by these. */
  guess(list: readonly { readonly ask: Ask; readonly text: string }[]): void {
    const wanted = new Set(list.map((g) => g.ask.key));
    for (const j of [...this.jobs.values()]) if (j.rank === 2 && !wanted.has(j.key)) this.end(j);
    for (const g of list) if (!this.logged.outcomes.has(g.ask.key)) this.job(g.ask, g.text, 2, 'loop');
    this.pump();
  }

  drop(asks: readonly Ask[]): void {
    for (const a of asks) {
      const j = this.jobs.get(a.key);
      if (j) this.end(j);
    }
    this.pump();
  }

  /** The outcome of a rollout that the engine waits for, or the limit that keeps it from starting. */
  async take(ask: Ask, text: string | null, line: LedgerLine): Promise<Answer> {
    if (this.paused !== null) throw this.paused;
    const job = this.job(ask, text, 0, line);
    this.pump();
    return job.done;
  }

  private job(ask: Ask, text: string | null, rank: Rank, line: LedgerLine): Job {
    const old = this.jobs.get(ask.key);
    if (old && !old.abort.signal.aborted) {
      if (rank < old.rank) old.rank = rank;
      old.line = line;
      return old;
    }
    const job = newJob(ask, text, rank, line);
    this.jobs.set(ask.key, job);
    return job;
  }

  private end(j: Job): void {
    if (j.running) j.abort.abort();
    else this.jobs.delete(j.key);
  }

  /** Starts what fits: awaited before planned before guesses. */
  pump(): void {
    if (this.closed || this.paused !== null || this.waiting !== null || !this.mayStart()) return;
    const start: Job[] = [];
    try {
      for (const rank of [0, 1, 2] as const)
        for (const j of this.jobs.values()) {
          if (j.running || j.rank !== rank || j.abort.signal.aborted || this.atWork.has(j.key)) continue;
          if (this.running >= this.o.workers || !this.mayStart()) break;
          const may = this.o.ledger.may(j.line);
          if (may === 'start') {
            if (!this.hasSlot()) return;
            start.push(this.started(j));
          } else if (may !== 'wait' && rank === 0) {
            this.jobs.delete(j.key);
            j.resolve(may);
          } // run-ahead that does not fit is not started
        }
    } finally {
      if (this.o.rollouts.batches && start.length > 0) void this.run(start);
      else for (const j of start) void this.run([j]);
    }
  }

  /** Takes a worker; without one, it is told when one may be free. */
  private hasSlot(): boolean {
    if (this.slots.take()) return true;
    this.slots.onFree(this.free);
    return false;
  }

  /** Marks a job as started, in the log first: when that fails, it has not. */
  private started(j: Job): Job {
    try {
      this.journal.append({ type: 'rollout.started', key: j.key, task: j.ask.task, line: j.line, ahead: j.rank !== 0 });
    } catch (e) {
      this.slots.give();
      throw e;
    }
    j.running = true;
    j.wave = this.wave;
    j.unansweredWave = this.unanswered.wave;
    this.running++;
    this.atWork.add(j.key);
    this.o.ledger.started++;
    this.o.ledger.running++;
    return j;
  }

  /** From a timer, where nobody would hear an exception. */
  pumpLater(): void {
    try {
      this.pump();
    } catch (e) {
      this.stop(e);
    }
  }

  private async run(jobs: readonly Job[]): Promise<void> {
    const left = new Map(jobs.map((j) => [j.key, j]));
    const all = new AbortController();
    try {
      const requests = jobs.map((j) => this.request(j));
      for await (const report of this.o.rollouts.performRollouts(requests, { signal: all.signal })) {
        const job = left.get(report.key);
        if (!job) throw new Error(`the backend reported ${report.key} twice or unasked`);
        await this.settle(job, report).catch((e: unknown) => {
          all.abort(); // before the generator is asked to end
          throw e;
        });
        left.delete(report.key);
        this.leave(job);
      }
      if (left.size > 0) throw new Error(`the backend did not report ${[...left.keys()].join(', ')}`);
    } catch (e) {
      this.stop(e);
      all.abort();
      for (const job of left.values()) this.leave(job);
    }
  }

  private request(j: Job): RolloutRequest {
    return {
      key: j.key,
      task: this.o.task(j.ask.task),
      skill: j.text === null ? null : this.o.skill(j.text, j.ask.skill),
      attempt: j.ask.attempt,
      try: j.ask.try,
      signal: j.abort.signal,
    };
  }

  private async settle(job: Job, report: RolloutReport): Promise<void> {
    switch (report.kind) {
      case 'cancelled':
        if (!job.abort.signal.aborted) throw new Error(`the backend cancelled ${job.key}, which nobody asked for`);
        this.cutOff(job, 'not needed any more', report.usage);
        if (this.jobs.get(job.key) === job) this.jobs.delete(job.key);
        return;
      case 'failed': {
        const failure = await redactFailure(report.failure, this.o.redact);
        this.cutOff(job, failure.what, report.usage, { failed: true });
        this.failed(job, failure);
        return;
      }
      case 'finished': {
        const { result } = report;
        const trajectory =
          result.trajectory === null
            ? null
            : await this.o.texts.put(JSON.stringify(await redactTrajectory(result.trajectory, this.o.redact)));
        const outcome = await redactOutcome(result.outcome, this.o.redact);
        if (this.closed) return; // the process is ending; this rollout will be found lost
        const line = this.journal.append({
          type: 'rollout.finished',
          key: job.key,
          task: job.ask.task,
          outcome,
          trajectory,
          usage: result.usage,
          exit: result.exit,
          durationMs: Math.round(result.durationMs),
          versions: result.versions,
        }).seq;
        this.performed.push(job.key);
        this.o.ledger.spending.add(result.usage, spentOn(outcome, result.exit));
        this.failuresInRow = [];
        this.o.resets?.answered();
        this.logged.outcomes.set(job.key, { outcome, trajectory, line });
        // While this one was being cancelled it may have been asked for again.
        const again = this.jobs.get(job.key);
        this.jobs.delete(job.key);
        job.resolve(outcome);
        if (again && again !== job) again.resolve(outcome);
        const blind = this.o.ledger.blind;
        if (blind !== null) this.stop(new Paused(cantHold(blind)));
        const down = this.unanswered.note(job.ask.task, outcome, job.unansweredWave);
        if (down !== null) this.stop(new Paused(down, 'rollouts'));
        return;
      }
      default:
        report satisfies never;
    }
  }

  /** It gave no outcome; what it has spent is counted all the same. */
  private cutOff(job: Job, why: string, usage: Usage | undefined, how: { readonly failed?: true } = {}): void {
    const spent = usage === undefined ? {} : { usage };
    this.journal.append({ type: 'rollout.cancelled', key: job.key, why, ...spent, ...how });
    this.o.ledger.spending.add(usage ?? unknownUsage, 'cut-off');
  }

  /** The machinery failed: wait and try again; the third alike in a row, or the sixth of any kind, pauses the session. */
  private failed(job: Job, failure: Failure): void {
    if (this.jobs.get(job.key) === job) {
      this.jobs.delete(job.key);
      if (!job.abort.signal.aborted) {
        const again = this.job(job.ask, job.text, job.rank, job.line);
        void again.done.then(job.resolve, job.reject);
      }
    }
    if (isFar(failure)) {
      if (this.o.resets?.wait(failure) !== true) this.stop(new Paused(failure, 'rollouts'));
      return;
    }
    const sameWave = job.wave < this.wave;
    if (!sameWave) {
      this.wave++;
      this.failuresInRow.push(failure);
    }
    const alike = this.failuresInRow.filter((f) => f.code === failure.code);
    if (!failure.retryable || alike.length >= PAUSE_AFTER || this.failuresInRow.length >= 2 * PAUSE_AFTER) {
      this.stop(new Paused(failure, 'rollouts'));
      return;
    }
    if (sameWave || this.waiting !== null) return;
    const backoff = this.o.backoffMs[this.failuresInRow.length - 1] ?? this.o.backoffMs.at(-1) ?? 0;
    this.waiting = setTimeout(
      () => {
        this.waiting = null;
        this.pumpLater();
      },
      Math.max(backoff, untilRetryMs(failure) ?? 0),
    );
  }

  /** Nothing goes on: every job is ended and whoever waits hears why. */
  stop(why: unknown): void {
    const first = this.paused === null;
    if (first)
      this.paused = why instanceof SkilloptError && why.failure.code === 'disk' ? new Paused(why.failure) : why;
    for (const j of [...this.jobs.values()]) {
      j.reject(this.paused);
      this.end(j);
    }
  }

  private leave(job: Job): void {
    this.running--;
    this.slots.give();
    this.o.ledger.running--;
    this.atWork.delete(job.key);
    if (this.running === 0) for (const go of this.idle.splice(0)) go();
    setImmediate(() => this.pumpLater()); // first the engine reads the answer: it may drop what would start now
  }

  /** Ends what runs and waits until all of it is gone. Nothing starts afterwards. */
  async drain(): Promise<void> {
    this.paused ??= new Error('the session has ended');
    if (this.waiting !== null) clearTimeout(this.waiting);
    this.waiting = null;
    for (const j of [...this.jobs.values()]) this.end(j);
    while (this.running > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** After this nothing is written any more. */
  close(): void {
    this.closed = true;
  }
}
