import type { LoggedEvent } from '../../../events/events.ts';
import { watch } from '../../../events/played-fixture.ts';
import type { RunState } from '../../../events/run-state.ts';
import type { Line } from '../../text.ts';
import type { Facts } from './facts.ts';
import { frame, type Size } from './layout.ts';
import { type RunModel, startModel } from './model.ts';

/** A screen of a state, ten seconds after its last line. */
export function factsOf(state: RunState, model: Partial<RunModel> = {}): Facts {
  const nowMs = Date.parse(state.lastAt ?? '2026-01-01T00:00:00Z') + 10_000;
  return {
    state,
    model: { ...startModel, ...model },
    nowMs,
    slowedMs: 0,
    power: null,
    notice: '',
    waiting: '',
    paused: false,
    resumesAtMs: null,
    finalizes: false,
  };
}

export const textOf = (lines: readonly Line[]): string =>
  lines
    .map((l) =>
      l
        .map((s) => s.text)
        .join('')
        .trimEnd(),
    )
    .join('\n');

/** The frame as text, without its header and without times of day and durations, which are the machine's own. */
export function bodyOf(f: Facts, size: Size): string {
  const text = textOf(frame(f, size).slice(2));
  return text.replaceAll(/\b\d\d:\d\d /g, 'hh:mm ').replaceAll(/\b\d+:\d\d\b/g, 'm:ss');
}

/** The state before the first line of which `wanted` is true. */
export function stateBefore(
  events: readonly LoggedEvent[],
  wanted: (event: LoggedEvent, at: number) => boolean,
): RunState {
  const at = events.findIndex(wanted);
  if (at === -1) throw new Error('no such line');
  return watch(events.slice(0, at), {});
}
