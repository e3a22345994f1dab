import { InvalidArgumentError } from 'commander';

/** How a run shows itself, as the flags of `demo`, `run` and `finalize` say. */
export type Show = {
  /** Lines in place of the live screen. */
  readonly plain?: boolean;
  /** No questions. */
  readonly yes?: boolean;
  /** Milliseconds that the rehearsal's agent waits before each rollout. */
  readonly delay?: number;
  /** Waits for the reset of a login's used-up window, in place of a pause that ends the command. */
  readonly waitForReset?: boolean;
};

/** Helps of the flags that `demo`, `run` and `finalize` share. */
export const YES = 'no questions: begin, also without a limit on what it spends, or go on where it stopped';
export const PLAIN = 'lines in place of the live screen';
export const DELAY =
  'milliseconds that the rehearsal’s agent waits before each rollout (333 on the live screen, else 0)';

export const WAIT_FOR_RESET =
  'when the agent’s own login is used up, wait until it is reset and go on, in place of a pause that ends the command';

/** A number of milliseconds from the command line. */
export function milliseconds(text: string): number {
  const n = Number(text);
  if (text.trim() === '' || !Number.isInteger(n) || n < 0 || n > 600_000)
    throw new InvalidArgumentError('give a whole number of milliseconds, at most 600000');
  return n;
}
