import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import type { Input, InputSource } from '../ports/inputs.ts';
import type { SessionControl } from '../ports/session.ts';
import { Hold } from './hold.ts';
import { Resets } from './resets.ts';
import type { Session } from './session.ts';

/** The one way into a session that runs: listeners, waiting inputs, pauses and the signal to stop. */
export class Control implements SessionControl<LoggedEvent, RunState> {
  private readonly listeners = new Set<(event: LoggedEvent, state: RunState) => void>();
  private readonly waiting: Input[] = [];
  private stepIsLast = false;
  readonly hold = new Hold();
  /** Waits for the reset of a login's window; null = the session pauses. */
  readonly resets: Resets | null;

  /** `abort`: whoever holds it can stop the session before there is one. */
  constructor(
    private readonly session: Pick<Session, 'onEvent' | 'markPaused' | 'markResumed'>,
    private readonly abort = new AbortController(),
    o: { readonly waitsForReset?: boolean | undefined } = {},
  ) {
    this.resets =
      o.waitsForReset === true
        ? new Resets({
            hold: this.hold,
            signal: abort.signal,
            markPaused: (why, fix) => session.markPaused(why, fix),
            markResumed: () => session.markResumed(),
          })
        : null;
    session.onEvent((event, state) => {
      if (this.stepIsLast && (event.type === 'gate.decided' || event.type === 'session.ended')) this.stop();
      for (const listener of [...this.listeners]) listener(event, state);
    });
  }

  subscribe(listener: (event: LoggedEvent, state: RunState) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  send(input: Input): void {
    this.waiting.push(input);
  }

  get isPaused(): boolean {
    return this.hold.isHeld;
  }

  get resumesAtMs(): number | null {
    return this.resets?.untilMs ?? null;
  }

  pause(): void {
    if (this.hold.isHeld || this.signal.aborted) return;
    this.hold.hold();
    this.session.markPaused('paused by you', 'resume it on its screen, or start it again: it goes on where it stopped');
  }

  resume(): void {
    if (!this.hold.isHeld || this.signal.aborted) return;
    if (this.resumesAtMs !== null) {
      this.resets?.goOn();
      return;
    }
    try {
      this.session.markResumed();
    } finally {
      this.hold.release(); // a log that can't be written ends the run by itself
    }
  }

  stopAfterStep(wanted: boolean): void {
    this.stepIsLast = wanted;
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
