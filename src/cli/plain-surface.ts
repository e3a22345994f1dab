import { PlainLines } from '../plain/lines.ts';
import type { Io } from './io.ts';
import { powerOf } from './power-of.ts';
import type { Surface } from './surface.ts';
import { tellingWaits } from './waits.ts';

const TICK_MS = 1_000;

/** What a pipe or a CI log gets. Nothing is asked: a command that is piped goes on. */
export function plainSurface(io: Io): Surface {
  let ticking: ReturnType<typeof setInterval> | undefined;
  return {
    say: io.line,
    mayGoOn: async () => true,
    mayBegin: async () => true,
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
    waits: tellingWaits(io.line),
    stopping: () => io.line('stopping    what runs is ended and cleaned up; once more ends at once'),
    close: async () => clearInterval(ticking),
  };
}
