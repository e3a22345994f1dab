import type { LedgerLine } from '../ports/engine.ts';
import { fail } from '../ports/failure.ts';
import type { Limits } from '../ports/inputs.ts';

/** Share by which confirmation and finalize may exceed their rollouts, for tries; one more a worker, for a kill. */
const SLACK = 1.25;

/** What confirmation and finalize keep for themselves in the actual ledger, in rollouts. */
export function reserves(sizes: {
  readonly selection: number;
  readonly test: number;
  readonly attempts: number;
  readonly workers: number;
}) {
  return {
    confirmation: Math.ceil(SLACK * 2 * sizes.selection) + sizes.workers,
    finalize: Math.ceil(SLACK * 3 * sizes.test * sizes.attempts) + sizes.workers,
  };
}

/** A limit that leaves too little for what is still to come is refused before anything is spent. */
export function checkLimit(
  limits: Limits,
  sizes: { readonly train: number; readonly selection: number },
  kept: { readonly confirmation: number; readonly finalize: number },
  now: { readonly started: number; readonly measured: boolean; readonly confirming: boolean },
): void {
  if (limits.rollouts === null) return;
  const reserved = (now.confirming ? 2 : kept.confirmation) + kept.finalize;
  const measuring = now.measured ? 1 : sizes.selection + sizes.train + 1; // a fork has measured the seed without starting
  const least = reserved + Math.max(now.started, measuring);
  if (limits.rollouts >= least) return;
  const first =
    now.started > measuring
      ? `${now.started} were started`
      : now.measured
        ? 'one tries an edit'
        : `${measuring} measure the seed and try one edit`;
  throw fail(
    'config',
    `a limit of ${limits.rollouts} rollouts is too small: ${first}, ${reserved} are kept for confirmation and sealed test`,
    'limits.rollouts',
    `give at least ${least}; some hundreds are useful`,
  );
}

/**
 * Counts what was really started, over all roles, against the limits: with run-ahead, lost and cancelled work.
 * Minutes bound the search alone: confirmation and finalize are bounded by their rollouts.
 */
export class ActualLedger {
  constructor(
    public limits: Limits,
    readonly reserve: { readonly confirmation: number; readonly finalize: number },
    /** Rollouts started so far. */
    public started: number,
    private readonly minutesBefore: number,
    private readonly nowMs: () => number,
    private readonly startMs = nowMs(),
  ) {}

  /** Minutes of running time of the session so far. */
  get minutes(): number {
    return this.minutesBefore + (this.nowMs() - this.startMs) / 60_000;
  }

  /** The limit that keeps one more rollout (or a reflection) from starting on this line, or null. */
  spent(line: LedgerLine): 'rollouts' | 'minutes' | null {
    const { rollouts, minutes } = this.limits;
    if (line === 'loop' && minutes !== null && this.minutes >= minutes) return 'minutes';
    if (rollouts === null) return null;
    const kept =
      line === 'loop'
        ? this.reserve.confirmation + this.reserve.finalize
        : line === 'confirmation'
          ? this.reserve.finalize
          : 0;
    return this.started + 1 > rollouts - kept ? 'rollouts' : null;
  }
}
