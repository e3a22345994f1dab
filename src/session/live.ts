import type { Journal } from '../journal/journal.ts';
import type { OptimizedPart } from '../ports/edit.ts';
import type { Interruption, SkillOps } from '../ports/engine.ts';
import type { InputSource } from '../ports/inputs.ts';
import type { LeakScan } from '../ports/leak.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Hold } from './hold.ts';
import type { PoolOptions } from './pool-options.ts';

/** What is needed to perform what the log does not hold. */
export type Live = PoolOptions & {
  readonly journal: Journal;
  readonly proposals: Proposals;
  readonly ops: SkillOps;
  /** What edits are for; absent = the body. */
  readonly optimizes?: OptimizedPart;
  readonly leaks: LeakScan;
  readonly inputs: InputSource;
  /** The environment is not the one of the outcomes in the log. */
  readonly drift: Extract<Interruption, { kind: 'environment.changed' }> | null;
  /** Ends the process's work at once; the session stays as it is. */
  readonly signal: AbortSignal;
  /** While it is held nothing starts. */
  readonly hold: Hold;
};
