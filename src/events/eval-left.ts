import type { EvalState } from './eval-state.ts';
import type { CostsLeft } from './progress.ts';

/**
 * What going on with an eval costs, at the means so far; null = nothing more may be started. Further tries are on top.
 * `limit` = rollouts that may be started in all; null = no limit.
 */
export function evalLeft(state: EvalState, limit: number | null): CostsLeft | null {
  const rollouts = Math.min(state.of - state.done, (limit ?? Number.POSITIVE_INFINITY) - state.rollouts.started);
  if (rollouts <= 0) return null;
  const { finished } = state.rollouts;
  const spends = [...state.spend.values()];
  const left = (sum: number | null) => (sum === null || finished === 0 ? null : (sum / finished) * rollouts);
  const total = (of: (s: (typeof spends)[number]) => number | null) =>
    spends.reduce<number | null>((a, s) => add(a, of(s)), 0);
  return {
    rollouts,
    minutes: state.minutes > 0 ? left(state.minutes) : null,
    tokens: left(total((s) => s.tokens)),
    costUsd: left(total((s) => s.costUsd)),
    isMost: false,
  };
}

const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
