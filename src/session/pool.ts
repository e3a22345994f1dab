import type { Journal } from '../journal/journal.ts';
import { redactFailure } from '../journal/redact.ts';
import type { Ask, LedgerLine } from '../ports/engine.ts';
import { type Failure, SkilloptError } from '../ports/failure.ts';
import type { PerformOptions, RolloutReport } from '../ports/rollouts.ts';
import { unknownUsage } from '../ports/usage.ts';
import { spentOn } from './actual-ledger.ts';
import { Batch, DEPTH } from './batches.ts';
import { Paused } from './ends.ts';
import { FailureRow } from './failure-row.ts';
import { finishedEvent } from './finished-event.ts';
import { cantHold } from './limit-failures.ts';
import type { Logged } from './logged.ts';
import { type Answer, type Job, newJob, type Rank, requestOf } from './pool-job.ts';
import type { PoolOptions } from './pool-options.ts';
import { RecoveredRollouts } from './recovered.ts';
import { isFar } from './resets.ts';
import { Slots } from './slots.ts';
import { Unanswered } from './unanswered.ts';

/**
 * Performs rollouts with a bounded number of workers and writes each answer into the log before anyone sees it.
 * The next rollout starts only after the engine has read the answer at hand, which may drop what would start now.
 */
export class Pool {
  private readonly jobs = new Map<string, Job>();
  /** Keys at work, those that are being cancelled included: one key is never at work twice. */
  private readonly atWork = new Set<string>();
  private readonly recovered: RecoveredRollouts;
  /** Workers that are in use. */
  private running = 0;
  private readonly slots: Slots;
  private readonly free = () => setImmediate(() => this.pumpLater());
  private closed = false;
  private readonly failures: FailureRow;
  private readonly unanswered = new Unanswered();
  private waiting: ReturnType<typeof setTimeout> | null = null;
  private due: ReturnType<typeof setImmediate> | null = null;
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
    this.recovered = new RecoveredRollouts(logged.open, o.ledger);
    this.failures = new FailureRow(o.backoffMs);
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

  /** Starts what fits; a batch first when the engine has said all that it wants now, as it may say it one by one. */
  pump(): void {
    if (!this.o.rollouts.batches) this.fill();
    else
      this.due ??= setImmediate(() => {
        this.due = null;
        this.pumpLater();
      });
  }

  /**
   * Starts what fits: awaited before planned before guesses. A batch may hold more than runs at once, as starting one
   * takes its time; guesses have batches of their own, so that giving them up ends these.
   */
  private fill(): void {
    if (this.closed || this.paused !== null || this.waiting !== null || !this.mayStart()) return;
    const { batches } = this.o.rollouts;
    if (batches) this.start([0, 1], DEPTH);
    else this.start([0, 1, 2], 1);
    if (batches && ![...this.jobs.values()].some((j) => j.rank < 2 && this.waits(j))) this.start([2], 1);
  }

  private waits(j: Job): boolean {
    return !j.running && !j.abort.signal.aborted && !this.atWork.has(j.key);
  }

  /** Starts what fits of these ranks: up to `depth` rollouts for each worker that is free. */
  private start(ranks: readonly Rank[], depth: number): void {
    const start: Job[] = [];
    let width = 0;
    try {
      for (const rank of ranks)
        for (const j of this.jobs.values()) {
          if (j.rank !== rank || !this.waits(j)) continue;
          const isFull = start.length >= depth * width;
          if ((isFull && this.running >= this.o.workers) || !this.mayStart()) break;
          const may = this.recovered.has(j.key) ? 'start' : this.o.ledger.may(j.line);
          if (may === 'start') {
            const worker = this.running < this.o.workers && this.hasSlot();
            if (isFull && !worker) return;
            start.push(this.started(j, worker));
            if (worker) width++;
          } else if (may !== 'wait' && rank === 0) {
            this.jobs.delete(j.key);
            j.resolve(may);
          } // run-ahead that does not fit is not started
        }
    } finally {
      if (!this.o.rollouts.batches) for (const j of start) void this.run(new Batch([j], 1));
      else if (start.length > 0) void this.run(new Batch(start, width));
    }
  }

  /** Takes a worker; without one, it is told when one may be free. */
  private hasSlot(): boolean {
    if (this.slots.take()) return true;
    this.slots.onFree(this.free);
    return false;
  }

  /** Marks a job as started, in the log first: when that fails, it has not. */
  private started(j: Job, worker: boolean): Job {
    const { ledger } = this.o;
    if (!this.recovered.take(j.key)) {
      try {
        const { line, rank } = j;
        this.journal.append({ type: 'rollout.started', key: j.key, task: j.ask.task, line, ahead: rank !== 0 });
      } catch (e) {
        if (worker) this.slots.give();
        throw e;
      }
      ledger.started++;
    }
    j.running = true;
    j.wave = this.failures.wave;
    j.unansweredWave = this.unanswered.wave;
    if (worker) this.running++;
    this.atWork.add(j.key);
    ledger.running++;
    return j;
  }

  /** From a timer, where nobody would hear an exception. */
  pumpLater(): void {
    try {
      this.fill();
    } catch (e) {
      this.stop(e);
    }
  }

  private async run(batch: Batch): Promise<void> {
    try {
      const requests = batch.jobs.map((j) => requestOf(j, this.o));
      for await (const report of this.o.rollouts.performRollouts(requests, this.optionsOf(batch))) {
        const job = batch.get(report.key);
        if (!job) throw new Error(`the backend reported ${report.key} twice or unasked`);
        await this.settle(job, report).catch((e: unknown) => {
          batch.abort.abort(); // before the generator is asked to end
          throw e;
        });
        this.leave(batch, job);
      }
      const missing = batch.rest.map((j) => j.key);
      if (missing.length > 0) throw new Error(`the backend did not report ${missing.join(', ')}`);
    } catch (e) {
      this.stop(e);
      batch.abort.abort();
      for (const job of batch.rest) this.leave(batch, job);
    }
  }

  private optionsOf(batch: Batch): PerformOptions {
    const { signal } = batch.abort;
    if (!this.o.rollouts.batches) return { signal };
    return {
      signal,
      concurrency: batch.width,
      onProgress: ({ key }) => batch.seen(key, this.unanswered.wave),
    };
  }

  private async settle(job: Job, report: RolloutReport): Promise<void> {
    switch (report.kind) {
      case 'cancelled':
        if (!job.abort.signal.aborted) throw new Error(`the backend cancelled ${job.key}, which nobody asked for`);
        this.cutOff(job, 'not needed any more', report);
        if (this.jobs.get(job.key) === job) this.jobs.delete(job.key);
        return;
      case 'failed': {
        const failure = await redactFailure(report.failure, this.o.redact);
        this.cutOff(job, failure.what, report, { failed: true });
        this.failed(job, failure);
        return;
      }
      case 'finished': {
        const of = { key: job.key, task: job.ask.task };
        const event = await finishedEvent(of, report.result, this.o.texts, this.o.redact);
        if (this.closed) return; // the process is ending; this rollout will be found lost
        const line = this.journal.append(event).seq;
        const { outcome, trajectory, usage, exit } = event;
        this.performed.push(job.key);
        this.o.ledger.spending.add(usage, spentOn(outcome, exit));
        this.failures.answered();
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

  /** It gave no outcome; what it has spent is counted all the same. One that had not begun was never started. */
  private cutOff(
    job: Job,
    why: string,
    { usage, begun }: Exclude<RolloutReport, { kind: 'finished' }>,
    how: { readonly failed?: true } = {},
  ): void {
    const { ledger } = this.o;
    const spent = begun === false ? { begun } : usage === undefined ? {} : { usage };
    this.journal.append({ type: 'rollout.cancelled', key: job.key, why, ...spent, ...how });
    if (begun === false) ledger.started--;
    else ledger.spending.add(usage ?? unknownUsage, 'cut-off');
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
    const then = this.failures.note(failure, job.wave);
    if (then === 'pause') this.stop(new Paused(failure, 'rollouts'));
    if (typeof then !== 'number' || this.waiting !== null) return;
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.pumpLater();
    }, then);
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

  private leave(batch: Batch, job: Job): void {
    if (batch.leave(job.key)) {
      this.running--;
      this.slots.give();
    }
    this.o.ledger.running--;
    this.atWork.delete(job.key);
    if (this.running === 0) for (const go of this.idle.splice(0)) go();
    setImmediate(() => this.pumpLater()); // first the engine reads the answer: it may drop what would start now
  }

  /** The engine has come to its end, and asks for nothing more. */
  forgo(): void {
    this.recovered.forgo(this.journal);
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
