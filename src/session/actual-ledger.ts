import type { LedgerLine } from '../ports/engine.ts';
import { fail } from '../ports/failure.ts';
import type { LimitKind, Limits } from '../ports/inputs.ts';
import type { Usage } from '../ports/usage.ts';

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

/** What something was spent on. */
export type SpentOn = 'rollout' | 'call' | 'other';

/** Sums over what was spent, with what is known of single items. */
export class Spent {
  /** Sum of what is known. */
  total = 0;
  /** Rollouts whose spend is known, their sum and the dearest. */
  private count = 0;
  private sum = 0;
  private dearest = 0;
  private dearestCall = 0;
  /** Items of which nothing is known; each is taken to be as dear as the dearest known rollout. */
  private unknown = 0;
  private unknownRollouts = 0;

  /** `call`: of a model, outside rollouts. `other`: a rollout that was cut off. */
  add(amount: number | null, of: SpentOn): void {
    if (amount === null) {
      this.unknown++;
      if (of === 'rollout') this.unknownRollouts++;
      return;
    }
    this.total += amount;
    if (of === 'call') this.dearestCall = Math.max(this.dearestCall, amount);
    if (of !== 'rollout') return;
    this.count++;
    this.sum += amount;
    this.dearest = Math.max(this.dearest, amount);
  }

  /** What has to be reckoned with: what is known, and the most for what is not. */
  get reckoned(): number {
    return this.total + this.unknown * this.dearest;
  }

  /** The most that one rollout has spent; null = nothing is known of any. */
  get most(): number | null {
    return this.count === 0 ? null : this.dearest;
  }

  /** The most that one call outside rollouts has spent; 0 = nothing is known of any. */
  get mostOfCall(): number {
    return this.dearestCall;
  }

  /** Rollouts have finished, and of none is known what it cost. */
  get isBlind(): boolean {
    return this.count === 0 && this.unknownRollouts > 0;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }
}

/** What a session has spent in both currencies. */
export class Spending {
  readonly usd = new Spent();
  readonly tokens = new Spent();

  add(usage: Usage, of: SpentOn): void {
    this.usd.add(usage.costUsd, of);
    const { inputTokens, outputTokens } = usage;
    this.tokens.add(inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens, of);
  }
}

/**
 * Counts what was really started and spent, over all roles, against the limits: with run-ahead, lost and cancelled work.
 * Minutes bound the search alone: confirmation and finalize are bounded by the other limits.
 *
 * Money and tokens are reserved before a rollout starts: the most that one has cost so far, for itself and for each that
 * runs. While nothing is known of any, only one runs at a time. A call of the optimizer's model starts only where one as
 * dear as the dearest would fit. Confirmation and finalize keep the mean cost of their
 * reserved rollouts.
 */
export class ActualLedger {
  /** Rollouts that run now. */
  running = 0;

  constructor(
    public limits: Limits,
    readonly reserve: { readonly confirmation: number; readonly finalize: number },
    /** Rollouts started so far. */
    public started: number,
    private readonly minutesBefore: number,
    private readonly nowMs: () => number,
    readonly spending: Spending = new Spending(),
    private readonly startMs = nowMs(),
  ) {}

  /** Minutes of running time of the session so far. */
  get minutes(): number {
    return this.minutesBefore + (this.nowMs() - this.startMs) / 60_000;
  }

  /** May one more rollout start on this line? `wait` = when one that runs has ended; else the limit that keeps it. */
  may(line: LedgerLine): 'start' | 'wait' | LimitKind {
    const { rollouts } = this.limits;
    const over = this.spent(line);
    if (over !== null) return over;
    if (rollouts !== null && this.started + 1 > rollouts - this.kept(line)) return 'rollouts';
    for (const kind of ['usd', 'tokens'] as const) {
      const room = this.room(kind, line);
      if (room === null) continue;
      const { most } = this.spending[kind];
      if (most === null) {
        if (this.running > 0) return 'wait';
      } else if (most * (this.running + 1) > room) return most > room || this.running === 0 ? kind : 'wait';
    }
    return 'start';
  }

  /** The limit that lets nothing more start, a model call neither; null = there is room. */
  spent(line: LedgerLine): LimitKind | null {
    const { minutes } = this.limits;
    if (line === 'loop' && minutes !== null && this.minutes >= minutes) return 'minutes';
    for (const kind of ['usd', 'tokens'] as const) {
      const room = this.room(kind, line);
      if (room !== null && room <= 0) return kind;
    }
    return null;
  }

  /** The limit that lets the optimizer's model not be called once more, were that as dear as the dearest; null = it may be. */
  spentForCall(): LimitKind | null {
    const over = this.spent('loop');
    if (over !== null) return over;
    for (const kind of ['usd', 'tokens'] as const) {
      const room = this.room(kind, 'loop');
      if (room !== null && this.spending[kind].mostOfCall > room) return kind;
    }
    return null;
  }

  /** A limit is set, and of nothing that was spent is known how much: it can't be held. */
  get blind(): 'usd' | 'tokens' | null {
    for (const kind of ['usd', 'tokens'] as const)
      if (limitOf(this.limits, kind) !== null && this.spending[kind].isBlind) return kind;
    return null;
  }

  /** What of a limit is left for this line; null = there is no such limit. */
  private room(kind: 'usd' | 'tokens', line: LedgerLine): number | null {
    const limit = limitOf(this.limits, kind);
    if (limit === null) return null;
    const { reckoned, mean } = this.spending[kind];
    return limit - this.kept(line) * mean - reckoned;
  }

  /** Rollouts that later lines keep. */
  private kept(line: LedgerLine): number {
    switch (line) {
      case 'loop':
        return this.reserve.confirmation + this.reserve.finalize;
      case 'confirmation':
        return this.reserve.finalize;
      case 'finalize':
        return 0;
      default:
        return line satisfies never;
    }
  }
}

const limitOf = (limits: Limits, kind: 'usd' | 'tokens'): number | null => limits[kind] ?? null;
