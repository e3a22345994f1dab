import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import { PlainLines } from '../plain/lines.ts';
import type { SessionControl } from '../ports/session.ts';
import type { Io } from './io.ts';

/** How a run shows itself: on the live screen, or as plain lines. */
export interface Surface {
  /** Tells something that is no event. */
  say(text: string): void;
  /** The session was begun before and has work left: asks whether it goes on. False = it stays as it is, or `signal` came. */
  mayGoOn(state: RunState, signal: AbortSignal): Promise<boolean>;
  /** Shows the session as it runs; `state` is what has happened before. */
  follow(state: RunState, control: SessionControl<LoggedEvent, RunState>): void;
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
    follow(_state, control) {
      const plain = new PlainLines();
      control.subscribe((event, state) => {
        for (const line of plain.after(event, state)) io.line(line);
      });
    },
    stopping: () => io.line('stopping    what runs is ended and cleaned up; once more ends at once'),
    close: async () => {},
  };
}
