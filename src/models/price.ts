import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { ModelSettings } from '../config/model.ts';
import type { TokenCounts } from '../ports/gateway.ts';
import type { Usage } from '../ports/usage.ts';

/** Tells what single requests to one model cost. Some prices have steps by the length of a prompt: never price a sum. */
export type Pricing = {
  /** Whether there is a price at all. */
  readonly known: boolean;
  /** US dollars; null = unknown. */
  costUsd(counts: TokenCounts): number | null;
};

/** The price of the settings, else what the provider tells, else the one of the list for this service, else unknown. */
export function pricingOf(
  price: ModelSettings['price'],
  model: string,
  { priceProvider, tellsCost }: { readonly priceProvider: string | null; readonly tellsCost: boolean },
): Pricing {
  if (price !== undefined)
    return {
      known: true,
      costUsd: ({ inputTokens, outputTokens }) =>
        inputTokens === null || outputTokens === null
          ? null
          : (inputTokens * price.input + outputTokens * price.output) / 1_000_000,
    };
  if (priceProvider === null || findProvider({ providerId: priceProvider }) === undefined)
    return { known: false, costUsd: () => null };
  const fromList = (usage: Readonly<Record<string, number>>) => {
    try {
      return calcPrice(usage, model, { providerId: priceProvider })?.total_price ?? null;
    } catch {
      // counts that contradict one another
      return null;
    }
  };
  return {
    known: tellsCost || fromList({ input_tokens: 1, output_tokens: 1 }) !== null,
    costUsd: (counts) => {
      if (tellsCost && counts.toldUsd !== null) return counts.toldUsd;
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens } = counts;
      if (inputTokens === null || outputTokens === null) return null;
      return fromList({
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        ...(cacheReadTokens > 0 ? { cache_read_tokens: cacheReadTokens } : {}),
        ...(cacheWriteTokens > 0 ? { cache_write_tokens: cacheWriteTokens } : {}),
        ...(cacheWriteHourTokens > 0 ? { cache_write_1h_tokens: cacheWriteHourTokens } : {}),
      });
    },
  };
}

/** What one request spent. */
export function usageOf(counts: TokenCounts, pricing: Pricing): Usage {
  return {
    inputTokens: counts.inputTokens,
    outputTokens: counts.outputTokens,
    costUsd: pricing.costUsd(counts),
    requests: 1,
  };
}

/** A request that was refused before any work: nothing was spent, and that is known. */
export const refusedUsage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0, requests: 1 };
