/** What a rollout or a model call cost. `null` = unknown, never 0. Tokens are counts; `costUsd` is in US dollars. */
export type Usage = {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
  /** Model requests made. */
  readonly requests: number | null;
};

/** The sum of two spends; unknown as soon as one part is. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | null, y: number | null) => (x === null || y === null ? null : x + y);
  return {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    costUsd: sum(a.costUsd, b.costUsd),
    requests: sum(a.requests, b.requests),
  };
}

/** Nothing was spent, and that is known: programs without a model. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0, requests: 0 };
/** Nothing is known about the spend. */
export const unknownUsage: Usage = { inputTokens: null, outputTokens: null, costUsd: null, requests: null };
