import type { LoggedEvent } from '../events/events.ts';
import { countText, namesText } from '../events/words.ts';

/** Milliseconds without a line after which one is due; twice as long each time, up to the longest. */
const FIRST_MS = 15_000;
const LONGEST_MS = 120_000;
/** Rollouts told by their task. */
const MOST_NAMES = 3;

/** The line that is due when an eval has said nothing for long, as with a slow model. It has no timer: who has one asks `due`. */
export class EvalStill {
  private readonly running = new Map<string, { readonly task: string; readonly sinceMs: number }>();
  private quietMs = FIRST_MS;

  /** `nowMs`, here and below, is of one clock that only goes forward. */
  constructor(private lastLineMs: number) {}

  /** Keeps what runs. */
  note(event: LoggedEvent, nowMs: number): void {
    if (event.type === 'rollout.started') this.running.set(event.key, { task: event.task, sinceMs: nowMs });
    if (event.type === 'rollout.finished' || event.type === 'rollout.cancelled' || event.type === 'rollout.lost')
      this.running.delete(event.key);
  }

  /** A line was written. */
  told(nowMs: number): void {
    this.lastLineMs = nowMs;
    this.quietMs = FIRST_MS;
  }

  /** `still       2 rollouts run, the longest for 60 s: count-reefers, sort-grain`; null = nothing is due. */
  due(nowMs: number): string | null {
    if (this.running.size === 0 || nowMs - this.lastLineMs < this.quietMs) return null;
    this.lastLineMs = nowMs;
    this.quietMs = Math.min(LONGEST_MS, 2 * this.quietMs);
    const all = [...this.running.values()];
    const seconds = Math.round((nowMs - Math.min(...all.map((r) => r.sinceMs))) / 1000);
    const names = namesText(
      all.map((r) => r.task),
      MOST_NAMES,
    );
    return all.length === 1
      ? `still       1 rollout runs, for ${seconds} s: ${names}`
      : `still       ${countText(all.length, 'rollout')} run, the longest for ${seconds} s: ${names}`;
  }
}
