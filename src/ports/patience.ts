/** How long somebody waits for a provider that may answer later. */
export type Patience = {
  /** Tries of one call in all. */
  readonly tries: number;
  /** Milliseconds of waiting between the tries of one call in all. */
  readonly mostWaitMs: number;
  /** Milliseconds before the second try, doubled with each. */
  readonly firstWaitMs: number;
};

export const defaultPatience: Patience = { tries: 5, mostWaitMs: 120_000, firstWaitMs: 1_000 };

/**
 * Milliseconds to wait before try `n` (2 is the first repeat): as long as the provider asks for, else ever longer, with
 * jitter by `random` (0 to below 1). Null = no more tries, or less than that is left of the patience.
 */
export function waitBeforeTry(
  n: number,
  patience: Patience,
  o: { readonly retryAfterMs: number | null; readonly leftMs: number; readonly random: () => number },
): number | null {
  if (n > patience.tries) return null;
  const ms = o.retryAfterMs ?? Math.round(patience.firstWaitMs * 2 ** (n - 2) * (0.5 + o.random() / 2));
  return ms <= o.leftMs ? ms : null;
}
