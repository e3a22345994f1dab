import type { FailureCode } from '../ports/failure.ts';

/** One table from failure to exit code; the README shows it. */
export const exitCodes: Readonly<Record<FailureCode, number>> = {
  usage: 2,
  config: 2,
  skill: 3,
  pack: 3,
  splits: 3,
  preflight: 4,
  auth: 4,
  quota: 4,
  'environment-down': 4,
  optimizer: 4,
  'session-busy': 5,
  'session-mismatch': 5,
  'source-moved': 5,
  'log-broken': 6,
  'log-diverged': 6,
  disk: 7,
  interrupted: 130,
  internal: 70,
};

/** `--exit-code`: the run came to its end and found no improvement. */
export const NO_IMPROVEMENT = 10;
