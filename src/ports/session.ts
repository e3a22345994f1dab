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
  /** Ends the process's work in order: what runs is cancelled and cleaned up, the session goes on at the next start. */
  stop(): void;
}
