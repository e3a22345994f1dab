import type { Failure } from '../ports/failure.ts';
import { untilRetryMs } from './resets.ts';

/** Failures alike in a row after which the session pauses; of any kind twice as many. */
const PAUSE_AFTER = 3;

/** Failures of the machinery in a row; those of rollouts that were started together are one wave and count once. */
export class FailureRow {
  private row: Failure[] = [];
  private waves = 0;

  /** `backoffMs`: waits before the machinery is tried again, one for each failure in a row. */
  constructor(private readonly backoffMs: readonly number[]) {}

  /** Which wave a rollout that starts now belongs to. */
  get wave(): number {
    return this.waves;
  }

  /** A rollout gave an outcome: the machinery works. */
  answered(): void {
    this.row = [];
  }

  /** Notes the failure of a rollout that started in this wave: pause, milliseconds to wait, or null = no more of a wait. */
  note(failure: Failure, wave: number): 'pause' | number | null {
    const isCounted = wave < this.waves;
    if (!isCounted) {
      this.waves++;
      this.row.push(failure);
    }
    const alike = this.row.filter((f) => f.code === failure.code);
    if (!failure.retryable || alike.length >= PAUSE_AFTER || this.row.length >= 2 * PAUSE_AFTER) return 'pause';
    if (isCounted) return null;
    const backoff = this.backoffMs[this.row.length - 1] ?? this.backoffMs.at(-1) ?? 0;
    return Math.max(backoff, untilRetryMs(failure) ?? 0);
  }
}
