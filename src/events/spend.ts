import type { Usage } from '../ports/usage.ts';
import type { Spend, Spent, Work } from './run-state.ts';

/**
 * Sums of what was spent. A model that has no price tells its tokens and makes the cost unknown. What tells neither cost
 * nor all of its tokens, as when it broke off or was tried again, is counted apart: beside it the sums are the least that
 * was spent, and unknown while they are 0.
 */
export class SpendSum {
  private costUsd: number | null = 0;
  private tokens: number | null = 0;
  uncounted = 0;

  add({ costUsd, inputTokens, outputTokens }: Usage): void {
    if (costUsd === null && (inputTokens === null || outputTokens === null)) {
      this.uncounted++;
      return;
    }
    this.costUsd = sum(this.costUsd, costUsd);
    this.tokens = sum(this.tokens, sum(inputTokens, outputTokens));
  }

  get spent(): Spent {
    const told = (known: number | null) => (known === 0 && this.uncounted > 0 ? null : known);
    return { tokens: told(this.tokens), costUsd: told(this.costUsd) };
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** What rollouts or reflections came to together. */
export class WorkSum implements Work {
  private readonly sum = new SpendSum();
  count = 0;
  requests = 0;
  durationMs = 0;

  add(work: { readonly usage: Usage; readonly durationMs: number }): void {
    this.count++;
    this.requests += work.usage.requests ?? 0;
    this.durationMs += work.durationMs;
    this.sum.add(work.usage);
  }

  get tokens(): number | null {
    return this.sum.spent.tokens;
  }

  get costUsd(): number | null {
    return this.sum.spent.costUsd;
  }
}

/** Whose work a spend was; a round trip is the short call that looks at a model before anything begins. */
export type SpendRole = 'rollouts' | 'optimizer' | 'round trip';

/** What all roles have spent together, and the optimizer's part of it. */
export class RoleSpend {
  private readonly all = new SpendSum();
  private readonly optimizer = new SpendSum();
  private requests = 0;
  private roundTrips = 0;

  add(usage: Usage, role: SpendRole): void {
    this.all.add(usage);
    if (role === 'optimizer') {
      this.optimizer.add(usage);
      this.requests++;
    } else if (role === 'round trip') this.roundTrips++;
  }

  get spend(): Spend {
    const { requests, roundTrips } = this;
    const { spent, uncounted } = this.all;
    return { ...spent, optimizer: this.optimizer.spent, requests, roundTrips, uncounted };
  }
}
