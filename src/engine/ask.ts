import type { ProposeAsk } from '../ports/engine.ts';
import { shortHash } from '../ports/hash.ts';
import type { Conversation } from './conversation.ts';
import type { LoopPlan } from './plan.ts';
import { type BudgetPlace, mostEdits } from './rules.ts';
import type { SearchState } from './state.ts';

/**
 * What a reflection is asked: edits for some of the failing train tasks, in an order drawn by the round. Only train stands
 * in it; its key names rollouts, never what lies beside the log. `hits` = what came of the reflections so far.
 */
export function reflectionAsk(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  failing: readonly string[],
  hits: BudgetPlace['hits'],
): ProposeAsk {
  const shown = [...failing]
    .map((t) => [shortHash(`${plan.sessionSeed}|${s.rounds}|show|${t}`), t] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, t]) => ({ task: t, rollout: s.newest.get(t) ?? '' }))
    .slice(0, plan.search.batchSize);
  const most = mostEdits(plan.train.length, plan.editBudget, { consumed: talk.used / talk.budget, hits });
  const body = {
    round: s.rounds,
    skill: talk.hash(s.draftText),
    atMost: Math.max(1, Math.min(most, shown.length)),
    notes: [...talk.notes],
    banned: [...talk.banned],
    failing: shown,
  };
  const { tried, refused } = s;
  const [manyTried, manyRefused] = [tried.length, refused.length];
  return {
    key: `reflection/${s.rounds}/${shortHash(JSON.stringify({ ...body, failing: shown.map((x) => x.rollout) }))}`,
    ...body,
    passing: plan.train.map((t) => t.id).filter((t) => s.train.get(t) === 1),
    // copied only where a reflection is performed: in a replay nobody reads these long lists
    get tried() {
      return tried.slice(0, manyTried);
    },
    get refused() {
      return refused.slice(0, manyRefused);
    },
  };
}
