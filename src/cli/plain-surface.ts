import { PlainLines } from '../plain/lines.ts';
import type { Io } from './io.ts';
import { powerOf } from './power-of.ts';
import type { Surface } from './surface.ts';
import { Waits, waitText } from './waits.ts';

/** Milliseconds in which one wait is told at most. */
const WAITS_MS = 10_000;

const TICK_MS = 1_000;

/** What a pipe or a CI log gets. Nothing is asked: a command that is piped goes on. */
export function plainSurface(io: Io): Surface {
  const waits = new Waits(() => performance.now());
  let ticking: ReturnType<typeof setInterval> | undefined;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    say: io.line,
    mayGoOn: async () => true,
    follow(atStart, control) {
      const plain = new PlainLines(powerOf);
      let now = atStart;
      control.subscribe((event, state) => {
        now = state;
        for (const line of plain.after(event, state)) io.line(line);
      });
      ticking = setInterval(() => {
        for (const line of plain.still(now, Date.now())) io.line(line);
      }, TICK_MS);
      ticking.unref();
    },
    waits(wait, model) {
      if (!waits.add(wait) || performance.now() - toldAtMs < WAITS_MS) return;
      toldAtMs = performance.now();
      io.line(`waiting     ${waitText(wait)} (${model})`);
    },
    stopping: () => io.line('stopping    what runs is ended and cleaned up; once more ends at once'),
    close: async () => clearInterval(ticking),
  };
}
