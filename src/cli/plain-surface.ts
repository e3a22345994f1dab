import { PlainLines } from '../plain/lines.ts';
import type { Io } from './io.ts';
import { powerOf } from './power-of.ts';
import type { Surface } from './surface.ts';

/** What a pipe or a CI log gets. Nothing is asked: a command that is piped goes on. */
export function plainSurface(io: Io): Surface {
  return {
    say: io.line,
    mayGoOn: async () => true,
    follow(_state, control) {
      const plain = new PlainLines(powerOf);
      control.subscribe((event, state) => {
        for (const line of plain.after(event, state)) io.line(line);
      });
    },
    stopping: () => io.line('stopping    what runs is ended and cleaned up; once more ends at once'),
    close: async () => {},
  };
}
