/** What a rollout or a model call cost. `null` = unknown, never 0. Tokens are counts; `costUsd` is in US dollars. */
export type Usage = {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
  /** Model requests made. */
  readonly requests: number | null;
};

/** Nothing was spent, and that is known: programs without a model. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0, requests: 0 };
/** Nothing is known about the spend. */
export const unknownUsage: Usage = { inputTokens: null, outputTokens: null, costUsd: null, requests: null };
