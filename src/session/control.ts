import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import type { Input, InputSource } from '../ports/inputs.ts';
import type { SessionControl } from '../ports/session.ts';
import type { Session } from './session.ts';

/** The one way into a session that runs: listeners, waiting inputs and the signal to stop. */
export class Control implements SessionControl<LoggedEvent, RunState> {
  private readonly listeners = new Set<(event: LoggedEvent, state: RunState) => void>();
  private readonly waiting: Input[] = [];
  private readonly abort = new AbortController();

  constructor(session: Session) {
    session.onEvent((event, state) => {
      for (const listener of this.listeners) listener(event, state);
    });
  }

  subscribe(listener: (event: LoggedEvent, state: RunState) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  send(input: Input): void {
    this.waiting.push(input);
  }

  stop(): void {
    this.abort.abort();
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** What waits is handed over at the first point that comes. */
  readonly inputs: InputSource = () => this.waiting.splice(0);
}
