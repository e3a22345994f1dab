import type { Failure } from '../ports/failure.ts';
/** Replay without ports came to the end of a log that is not finished. */
export class EndOfLog extends Error {
  override readonly name = 'EndOfLog';
}

/** The process was told to stop; the session goes on at the next start. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Another decision than the logged one; whoever catches it shows the logged side, read again by its line. */
export class OtherDecision extends Error {
  override readonly name = 'OtherDecision';
  constructor(
    readonly line: number,
    readonly type: string,
    readonly drawn: string,
  ) {
    super(`another decision at line ${line}`);
  }
}

/** The session can't go on for a reason that is no outcome; the fix is in the failure. `role` = whose work failed. */
export class Paused extends Error {
  override readonly name = 'Paused';
  constructor(
    readonly failure: Failure,
    readonly role: 'rollouts' | 'optimizer' | null = null,
  ) {
    super(failure.what);
  }
}
