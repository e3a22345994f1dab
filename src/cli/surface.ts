import { PlainLines } from '../plain/lines.ts';
import type { Control } from '../session/control.ts';
import type { Session } from '../session/session.ts';
import type { Io } from './io.ts';

/** How a run shows itself: on the live screen, or as plain lines. */
export interface Surface {
  /** Tells something that is no event. */
  say(text: string): void;
  /** The session was begun before and has work left: asks whether it goes on. False = it stays as it is. */
  mayGoOn(session: Session): Promise<boolean>;
  /** Shows the session as it runs. */
  follow(session: Session, control: Control): void;
  /** A signal has asked for the orderly stop. */
  stopping(): void;
  /** Gives the terminal back. `over`: the run came to its end; else it is cut short and nobody is waited for. */
  close(how: 'over' | 'cut'): Promise<void>;
}

/** What a pipe or a CI log gets. Nothing is asked: a command that is piped goes on. */
export function plainSurface(io: Io): Surface {
  return {
    say: io.line,
    mayGoOn: async () => true,
    follow(_session, control) {
      const plain = new PlainLines();
      control.subscribe((event, state) => {
        for (const line of plain.after(event, state)) io.line(line);
      });
    },
    stopping: () => io.line('stopping    what runs is ended and cleaned up; once more ends at once'),
    close: async () => {},
  };
}
