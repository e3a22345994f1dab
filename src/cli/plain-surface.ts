import { PlainLines } from '../plain/lines.ts';
import type { Io } from './io.ts';
import { powerOf } from './power-of.ts';
import type { Surface } from './surface.ts';
import { Waits, waitText } from './waits.ts';

/** Milliseconds in which one wait is told at most. */
const WAITS_MS = 10_000;

/** What a pipe or a CI log gets. Nothing is asked: a command that is piped goes on. */
export function plainSurface(io: Io): Surface {
  const waits = new Waits(() => performance.now());
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    say: io.line,
    mayGoOn: async () => true,
    follow(_state, control) {
      const plain = new PlainLines(powerOf);
      control.subscribe((event, state) => {
        for (const line of plain.after(event, state)) io.line(line);
      });
    },
    waits(wait, model) {
      if (!waits.add(wait) || performance.now() - toldAtMs < WAITS_MS) return;
      toldAtMs = performance.now();
      io.line(`waiting     ${waitText(wait)} (${model})`);
    },
    stopping: () => io.line('stopping    what runs is ended and cleaned up; once more ends at once'),
    close: async () => {},
  };
}
