import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import type { ModelWait } from '../ports/model.ts';
import type { SessionControl } from '../ports/session.ts';

/** What a surface is told of a run. */
export type Following = { readonly finalizes: boolean; readonly slowedMs: number };

/** What a new session is and will come to, in lines for people. */
export type Beginning = { readonly title: string; readonly estimate: readonly string[] };

/** How a run shows itself: on the live screen, or as plain lines. */
export interface Surface {
  /** Tells something that is no event. */
  say(text: string): void;
  /** The session was begun before and has work left: asks whether it goes on. False = it stays as it is, or `signal` came. */
  mayGoOn(state: RunState, signal: AbortSignal): Promise<boolean>;
  /** A new session would cost something: shows the estimate and asks whether it begins. False = nothing is begun, or `signal` came. */
  mayBegin(of: Beginning, signal: AbortSignal): Promise<boolean>;
  /** Shows the session as it runs; `state` is what has happened before. `finalizes`: the sealed test follows by itself. `slowedMs`: milliseconds by which the rehearsal is slowed down. */
  follow(state: RunState, control: SessionControl<LoggedEvent, RunState>, o: Following): void;
  /** A provider makes a call of a model wait. */
  waits(wait: ModelWait, model: string): void;
  /** A signal has asked for the orderly stop. */
  stopping(): void;
  /** Gives the terminal back. `over`: the run came to its end; else it is cut short and nobody is waited for. */
  close(how: 'over' | 'cut'): Promise<void>;
}
