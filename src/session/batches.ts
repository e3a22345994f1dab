import type { Job } from './pool-job.ts';

/** Rollouts that a batch may hold for each worker: those behind the first begin as the ones before them end. */
export const DEPTH = 4;

/** Rollouts that are given to the backend in one call. */
export class Batch {
  private readonly left: Map<string, Job>;
  private readonly unseen: Set<string>;
  /** Ends all of it. */
  readonly abort = new AbortController();

  constructor(
    readonly jobs: readonly Job[],
    /** Workers that it has: so many of its rollouts may run at a time. */
    public width: number,
  ) {
    this.left = new Map(jobs.map((j) => [j.key, j]));
    this.unseen = new Set(this.left.keys());
  }

  /** The job that a report is about; undefined = it has been reported, or was never asked for. */
  get(key: string): Job | undefined {
    return this.left.get(key);
  }

  /** What is not reported yet. */
  get rest(): readonly Job[] {
    return [...this.left.values()];
  }

  /** Hears of each sign that a rollout is at work: at the first one it has come to its turn. */
  seen(key: string, unansweredWave: number): void {
    const job = this.left.get(key);
    if (this.unseen.delete(key) && job !== undefined) job.unansweredWave = unansweredWave;
  }

  /** One of them is over. True: fewer are left than it has workers, and one of these is given back. */
  leave(key: string): boolean {
    this.left.delete(key);
    if (this.left.size >= this.width) return false;
    this.width--;
    return true;
  }
}
