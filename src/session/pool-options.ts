import type { Redactor } from '../journal/redact.ts';
import type { Texts } from '../journal/texts.ts';
import type { MountedSkill, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import type { ActualLedger } from './actual-ledger.ts';
import type { Resets } from './resets.ts';
import type { Slots } from './slots.ts';

export type PoolOptions = {
  readonly rollouts: Rollouts;
  readonly workers: number;
  /** Workers that are shared with other sessions of this process; absent = `workers` of its own. */
  readonly slots?: Slots | undefined;
  readonly task: (id: string) => Task;
  /** `name` = what stands for it in keys. */
  readonly skill: (text: string, name: string) => MountedSkill;
  readonly texts: Texts;
  readonly redact: Redactor;
  readonly ledger: ActualLedger;
  /** Waits before the machinery is tried again, in ms, one for each failure in a row. */
  readonly backoffMs: readonly number[];
  /** Waits for what will be taken again; absent = the session pauses. */
  readonly resets?: Resets | undefined;
};
