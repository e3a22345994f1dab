import type { Input } from './inputs.ts';

/**
 * A running session as a screen or a command sees it: what happened (each event after it stands in the log, with the
 * state that follows from it), and the ways to reach it. `E` is an event of the log, `S` the state folded from them.
 */
export interface SessionControl<E, S> {
  /** Hears every event from now on; returns the function that ends it. */
  subscribe(listener: (event: E, state: S) => void): () => void;
  /** Hands in an input; the engine takes it at its next named point. */
  send(input: Input): void;
  /** Nothing new starts, as `pause` has asked. */
  readonly isPaused: boolean;
  /** When a pause ends by itself, in milliseconds since 1970; null = it does not. */
  readonly resumesAtMs: number | null;
  /** Nothing new starts until `resume`; what runs comes to its end. The time of a pause does not count as running time. */
  pause(): void;
  resume(): void;
  /** Stops in order as soon as the gate that comes next is decided, or the search has ended; false takes it back. */
  stopAfterStep(wanted: boolean): void;
  /** Ends the process's work in order: what runs is cancelled and cleaned up, the session goes on at the next start. */
  stop(): void;
}
