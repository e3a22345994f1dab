import type { EventOf } from '../events/events.ts';
import type { LedgerLine } from '../ports/engine.ts';
import { fail } from '../ports/failure.ts';
import type { LimitKind, Limits } from '../ports/inputs.ts';
import type { ExitCause, Outcome } from '../ports/outcome.ts';
import type { Usage } from '../ports/usage.ts';

/** Share by which confirmation and finalize may exceed their rollouts, for tries; one more a worker, for a kill. */
const SLACK = 1.25;

/** What confirmation and finalize keep for themselves in the actual ledger, in rollouts. */
export function reserves(sizes: {
  readonly selection: number;
  readonly test: number;
  /** Arms of the sealed test; 3 unless given. */
  readonly arms?: number;
  readonly attempts: number;
  readonly workers: number;
}) {
  return {
    confirmation: Math.ceil(SLACK * 2 * sizes.selection) + sizes.workers,
    finalize: Math.ceil(SLACK * (sizes.arms ?? 3) * sizes.test * sizes.attempts) + sizes.workers,
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
 * What something was spent on. `broken`: a rollout that gave an answer, though its agent did not end by itself or nothing
 * could be scored · `cut-off`: a rollout that gave none · `call`: a model call outside rollouts · `round trip`: a short
 * one before the work began, which says nothing of what others will spend.
 */
export type SpentOn = 'rollout' | 'broken' | 'cut-off' | 'call' | 'round trip';

/** What a call outside rollouts was. */
export function callOf({ preflight }: Pick<EventOf<'model.called'>, 'preflight'>): SpentOn {
  return preflight ? 'round trip' : 'call';
}

/** What a rollout that gave an outcome was. */
export function spentOn(outcome: Outcome, exit: ExitCause): SpentOn {
  return outcome.status === 'scored' && exit === 'finished' ? 'rollout' : 'broken';
}

/**
 * Rollouts of unknown spend, whole ones and any, after which nobody can be expected to tell it. One says little: where a
 * call broke off and was made again, what both cost together is unknown, too.
 */
const IN_THE_DARK = { whole: 2, any: 3 } as const;

/** Sums over what was spent, with what is known of single items. */
export class Spent {
  /** Sum of what is known. */
  total = 0;
  /** Rollouts whose spend is known, their sum and the dearest. */
  private count = 0;
  private sum = 0;
  private dearest = 0;
  /** The dearest call outside rollouts. */
  private dearestOfCalls = 0;
  private knowsCall = false;
  /** Items of which nothing is known; each is taken to be as dear as the dearest known one. */
  private unknown = 0;
  private unknownCalls = 0;
  private unknownWhole = 0;
  private unknownBroken = 0;

  add(amount: number | null, on: SpentOn): void {
    if (amount === null) {
      if (on === 'call' || on === 'round trip') this.unknownCalls++;
      else this.unknown++;
      if (on === 'rollout') this.unknownWhole++;
      if (on === 'broken') this.unknownBroken++;
      return;
    }
    this.total += amount;
    if (on === 'round trip') return;
    if (on === 'call') {
      this.dearestOfCalls = Math.max(this.dearestOfCalls, amount);
      this.knowsCall = true;
    }
    // one that a server refused cost nothing, which says nothing of the next
    if (on === 'call' || on === 'cut-off' || (on === 'broken' && amount === 0)) return;
    this.count++;
    this.sum += amount;
    this.dearest = Math.max(this.dearest, amount);
  }

  /** What has to be reckoned with: what is known, and the most for what is not. */
  get reckoned(): number {
    return this.total + this.unknown * this.dearest + this.unknownCalls * this.mostOfCalls;
  }

  /** The most that a call outside rollouts is taken to spend; 0 = nothing is known. */
  get mostOfCall(): number {
    return this.unknownCalls > 0 ? this.mostOfCalls : this.dearestOfCalls;
  }

  /** It is known of one call outside rollouts what it spent. */
  get isCallKnown(): boolean {
    return this.knowsCall;
  }

  private get mostOfCalls(): number {
    return Math.max(this.dearest, this.dearestOfCalls);
  }

  /** The most that one rollout has spent; null = nothing is known of any. */
  get most(): number | null {
    return this.count === 0 ? null : this.dearest;
  }

  /** Rollouts have finished, and of none is known what it cost. */
  get isBlind(): boolean {
    const { unknownWhole: whole, unknownBroken: broken } = this;
    return this.count === 0 && (whole >= IN_THE_DARK.whole || whole + broken >= IN_THE_DARK.any);
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }
}

/** What a session has spent in both currencies. */
export class Spending {
  readonly usd = new Spent();
  readonly tokens = new Spent();

  add(usage: Usage, on: SpentOn): void {
    this.usd.add(usage.costUsd, on);
    const { inputTokens, outputTokens } = usage;
    this.tokens.add(inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens, on);
  }
}

/**
 * Counts what was really started and spent, over all roles, against the limits: with run-ahead, lost and cancelled work.
 * Minutes bound a search or an eval: confirmation and finalize are bounded by the other limits.
 *
 * Money and tokens are reserved before a rollout starts: the most that one has cost so far, for itself and for each that
 * runs. While nothing is known of any, only one runs at a time. A call of the optimizer's model is reserved as the most
 * that one has cost. Confirmation and finalize keep the mean cost of their reserved rollouts.
 */
export class ActualLedger {
  /** Rollouts that run now, or wait for their turn in a batch. */
  running = 0;
  /** Rollouts that an earlier process had finished, and of which it is not known yet what they spent. */
  recovered = 0;

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

  /**
   * The limit that lets no further call of the optimizer's model start; null = there is room for the dearest so far,
   * beside `calls` as dear ones that run. While it is not known what one costs, none starts beside another.
   */
  spentForCall(calls = 0): LimitKind | null {
    const over = this.spent('loop');
    if (over !== null) return over;
    for (const kind of ['usd', 'tokens'] as const) {
      const room = this.room(kind, 'loop');
      const { most, mostOfCall, isCallKnown } = this.spending[kind];
      if (room === null) continue;
      if (calls > 0 && !isCallKnown) return kind;
      if (mostOfCall * (calls + 1) + this.running * (most ?? 0) > room) return kind;
    }
    return null;
  }

  /**
   * What a limit has to be, about, for this line, `rollouts` more rollouts on it, and what comes after it; on the loop
   * for a call of the optimizer's model, too. More than the limit that stands, by what one of these may cost.
   */
  needs(kind: 'usd' | 'tokens', line: LedgerLine, rollouts: number): number {
    const { reckoned, mean, most, mostOfCall } = this.spending[kind];
    const call = line === 'loop' ? mostOfCall : 0;
    const needed = reckoned + (this.kept(line) + rollouts) * mean + call;
    return Math.max(needed, (limitOf(this.limits, kind) ?? 0) + Math.max(most ?? 0, call));
  }

  /** The limit that lets nothing more start; null = there is room. */
  spent(line: LedgerLine): LimitKind | null {
    const { minutes } = this.limits;
    if ((line === 'loop' || line === 'eval') && minutes !== null && this.minutes >= minutes) return 'minutes';
    for (const kind of ['usd', 'tokens'] as const) {
      const room = this.room(kind, line);
      if (room !== null && room <= 0) return kind;
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
    const { reckoned, mean, most } = this.spending[kind];
    return limit - this.kept(line) * mean - reckoned - this.recovered * (most ?? 0);
  }

  /** Rollouts that later lines keep. */
  private kept(line: LedgerLine): number {
    switch (line) {
      case 'loop':
        return this.reserve.confirmation + this.reserve.finalize;
      case 'confirmation':
        return this.reserve.finalize;
      case 'finalize':
      case 'eval':
        return 0;
      default:
        return line satisfies never;
    }
  }
}

const limitOf = (limits: Limits, kind: 'usd' | 'tokens'): number | null => limits[kind] ?? null;
