import type { Journal } from '../journal/journal.ts';
import { unknownUsage } from '../ports/usage.ts';
import type { ActualLedger } from './actual-ledger.ts';

/**
 * Rollouts that an earlier process had finished: their starts stand in the log, and the backend hands them over when the
 * engine asks for them. Until then the ledger keeps what they may have spent.
 */
export class RecoveredRollouts {
  private readonly keys: Set<string>;

  constructor(
    keys: Iterable<string>,
    private readonly ledger: ActualLedger,
  ) {
    this.keys = new Set(keys);
    ledger.recovered = this.keys.size;
  }

  has(key: string): boolean {
    return this.keys.has(key);
  }

  /** It is asked for. False: it is none of these. */
  take(key: string): boolean {
    const isOne = this.keys.delete(key);
    this.ledger.recovered = this.keys.size;
    return isOne;
  }

  /** Nothing more is asked for: what is left was spent in vain. */
  forgo(journal: Journal): void {
    for (const key of this.keys) {
      journal.append({ type: 'rollout.lost', key });
      this.take(key);
      this.ledger.spending.add(unknownUsage, 'cut-off');
    }
  }
}
