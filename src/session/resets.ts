import type { Failure } from '../ports/failure.ts';
import type { Hold } from './hold.ts';

/** What is taken again within this time is waited for as any failure of the machinery is. */
const SOON_MS = 5 * 60_000;
/** Clocks differ, and a window that is reset is not open to the second. */
const GRACE_MS = 5_000;
/** A window that should be open and is not is looked at again no sooner. */
const LEAST_MS = 60_000;
/** Windows of a week are waited for, those of a month are not. */
const MOST_MS = 8 * 86_400_000;
/** Waits in a row, without a rollout or a proposal between them, after which something else is the matter. */
const MOST_IN_ROW = 3;
/** The clock on the wall is looked at so often: a machine may have slept in between. */
const LOOK_MS = 15_000;

/** Milliseconds until what refused takes it again, 0 when that has passed; null = it did not say. */
export function untilRetryMs({ retryAt }: Failure, nowMs = Date.now()): number | null {
  const at = retryAt === undefined ? Number.NaN : Date.parse(retryAt);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** A try before then is worth nothing, and then is far away: the session pauses at once, or waits. */
export function isFar(failure: Failure): boolean {
  const ms = untilRetryMs(failure);
  return ms !== null && ms > SOON_MS;
}

export type ResetsOptions = {
  readonly hold: Hold;
  readonly signal: AbortSignal;
  /** A pause within the process and its end, into the log. */
  readonly markPaused: (why: string, fix: string) => void;
  readonly markResumed: () => void;
  /** Default: the clock on the wall. */
  readonly nowMs?: () => number;
  /** Calls back after so many milliseconds; returned: takes it back. Default: a timer. */
  readonly later?: (go: () => void, ms: number) => () => void;
};

/**
 * Waits for the reset of a login's used-up window, in place of a pause that ends the process: nothing new starts until
 * then, what was refused is tried again, and the time does not count as running time.
 */
export class Resets {
  private until: number | null = null;
  private takeBack: (() => void) | null = null;
  private inRow = 0;
  private readonly nowMs: () => number;
  private readonly later: NonNullable<ResetsOptions['later']>;

  constructor(private readonly o: ResetsOptions) {
    this.nowMs = o.nowMs ?? Date.now;
    this.later = o.later ?? byTimer;
    o.signal.addEventListener('abort', () => this.forget(), { once: true });
  }

  /** When it goes on by itself, in milliseconds since 1970; null = it does not wait. */
  get untilMs(): number | null {
    return this.until;
  }

  /** True: it is waited for, and what failed is tried again when the hold is over. False: the session has to pause. */
  wait(failure: Failure): boolean {
    const { hold, signal } = this.o;
    const now = this.nowMs();
    const leftMs = untilRetryMs(failure, now);
    if (leftMs === null || leftMs > MOST_MS || signal.aborted) return false;
    const until = now + Math.max(leftMs + GRACE_MS, LEAST_MS);
    if (this.until !== null) {
      this.until = Math.max(this.until, until);
      return true;
    }
    if (hold.isHeld) return true; // its user has paused it: it goes on when they say so
    if (this.inRow >= MOST_IN_ROW) return false;
    this.inRow++;
    hold.hold();
    this.until = until;
    try {
      this.o.markPaused(failure.what, 'it goes on by itself then; on its screen it can be resumed sooner');
    } catch (e) {
      this.forget();
      hold.release();
      throw e;
    }
    this.look();
    return true;
  }

  /** Something was answered: the next window is a new one. */
  answered(): void {
    this.inRow = 0;
  }

  /** It goes on at once, as its user wants. */
  goOn(): void {
    if (this.until === null) return;
    this.forget();
    try {
      this.o.markResumed();
    } finally {
      this.o.hold.release(); // a log that can't be written ends the run by itself
    }
  }

  private look(): void {
    if (this.until === null) return;
    const leftMs = this.until - this.nowMs();
    if (leftMs > 0) {
      this.takeBack = this.later(() => this.look(), Math.min(leftMs, LOOK_MS));
      return;
    }
    try {
      this.goOn();
    } catch {
      // nobody would hear it from a timer; the next line that can't be written ends the run
    }
  }

  private forget(): void {
    this.takeBack?.();
    this.takeBack = null;
    this.until = null;
  }
}

function byTimer(go: () => void, ms: number): () => void {
  const timer = setTimeout(go, ms);
  return () => clearTimeout(timer);
}
