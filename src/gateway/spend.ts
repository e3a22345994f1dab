import { type TokenCounts, type Upstream, type UpstreamTrouble, unknownCounts } from '../ports/gateway.ts';
import { addUsage, noUsage, type Usage } from '../ports/usage.ts';

/** Tokens (in and out) and US dollars that have to be reckoned with. */
export type Amounts = { readonly tokens: number; readonly usd: number };

/** What is known of one request that went to the provider, as it goes on. */
export type Meter = {
  /** Tokens told so far; of an answer that has not ended without what it wrote. */
  readonly counts: TokenCounts;
  /** Characters of the request and of what the model wrote, for what is never told. */
  readonly charsIn: number;
  readonly charsOut: number;
  /** Something was paid that no price of tokens tells. */
  readonly beyondTokens: boolean;
};

/** Where a provider tells no tokens, a limit reckons with one for so many characters. */
const charsOfToken = 4;

/**
 * What a rollout has spent. `usage` is what was told, null as soon as a part was not. `reckoned` is for limits: what is
 * not told counts by its characters there, and what has no price counts as nothing.
 */
export class Spend {
  #usage: Usage = noUsage;
  #ended: Amounts = { tokens: 0, usd: 0 };
  readonly #running = new Set<() => Meter>();

  constructor(private readonly upstream: Pick<Upstream, 'costUsd'>) {}

  /** Those under way are part of it with what is known of them by now. */
  get usage(): Usage {
    return [...this.#running].reduce((sum, meter) => addUsage(sum, this.usageOf(meter())), this.#usage);
  }

  get reckoned(): Amounts {
    return [...this.#running].reduce((sum, meter) => plus(sum, this.#amounts(meter())), this.#ended);
  }

  /** A request goes to the provider. To be called with its end: an answer, or what it met with instead. */
  begin(meter: () => Meter): (spent: 'answered' | UpstreamTrouble['spent']) => void {
    this.#running.add(meter);
    return (spent) => {
      if (!this.#running.delete(meter)) return;
      if (spent === 'unreached') return;
      const last = meter();
      this.#usage = addUsage(this.#usage, spent === 'nothing' ? { ...noUsage, requests: 1 } : this.usageOf(last));
      if (spent !== 'nothing') this.#ended = plus(this.#ended, this.#amounts(last));
    };
  }

  usageOf({ counts, beyondTokens }: Meter): Usage {
    const { inputTokens, outputTokens } = counts;
    return { inputTokens, outputTokens, costUsd: beyondTokens ? null : this.upstream.costUsd(counts), requests: 1 };
  }

  #amounts({ counts, charsIn, charsOut }: Meter): Amounts {
    const inputTokens = counts.inputTokens ?? Math.ceil(charsIn / charsOfToken);
    const outputTokens = counts.outputTokens ?? Math.ceil(charsOut / charsOfToken);
    const usd = this.upstream.costUsd({ ...unknownCounts, ...counts, inputTokens, outputTokens }) ?? 0;
    return { tokens: inputTokens + outputTokens, usd };
  }
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return { tokens: a.tokens + b.tokens, usd: a.usd + b.usd };
}
