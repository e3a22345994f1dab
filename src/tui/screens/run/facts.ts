import type { Power } from '../../../events/power.ts';
import type { RunState } from '../../../events/run-state.ts';
import { clock } from '../../text.ts';
import type { RunModel } from './model.ts';

/** What the screen is drawn from: the read model, the time, and what the user has asked for. */
export type Facts = {
  readonly state: RunState;
  readonly model: RunModel;
  /** Nothing new starts: the user has paused it. */
  readonly paused: boolean;
  /** When a pause ends by itself, in milliseconds since the epoch; null = it does not. */
  readonly resumesAtMs: number | null;
  /** After the search comes the sealed test. */
  readonly finalizes: boolean;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Milliseconds by which the rehearsal's agent is slowed down so that there is something to see; 0 = not. */
  readonly slowedMs: number;
  /** What one gate can tell; null = the seed has not met selection yet. */
  readonly power: Power | null;
  /** What is going on before there is a log to read, or besides it. */
  readonly notice: string;
  /** What a provider keeps calls waiting for, and how long yet; '' = nobody waits. */
  readonly waiting: string;
};

/** What is left of a pause that ends by itself, `goes on in 2:51:07`; '' = it does not. */
export function goesOnIn({ resumesAtMs, nowMs }: Facts): string {
  return resumesAtMs === null ? '' : `goes on in ${clock(resumesAtMs - nowMs)}`;
}

/** Milliseconds since a time in the log; 0 when the clock was set back. */
export const since = (f: Facts, at: string): number => Math.max(0, f.nowMs - Date.parse(at));
