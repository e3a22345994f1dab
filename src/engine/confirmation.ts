import type { SearchResult } from '../events/shapes.ts';
import type { Ask } from '../ports/engine.ts';
import { type Conversation, EnvironmentChanged, Stop } from './conversation.ts';
import { Tally } from './gate.ts';
import type { LoopPlan } from './plan.ts';
import { LEAST_COVERAGE } from './rules.ts';
import { cellOf, type SearchState } from './state.ts';

/** What is handed over: the text and what may be said of it. */
export type Confirmed = { readonly result: SearchResult; readonly text: string };

/**
 * The result once more over selection, fresh, against the seed's attempt that was set aside and decided nothing.
 * Pair by pair, so that a limit leaves whole pairs. More losses than wins, or pairs below 60 %, hand back the seed.
 */
export async function confirm(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  setAside: readonly Ask[] | null,
): Promise<Confirmed> {
  const ids = plan.selection.map((t) => t.id);
  const anew = () => ids.map((t) => talk.number(plan.seedText, t));
  let seedAsks = setAside ?? anew();
  try {
    await talk.point('confirmation');
  } catch (e) {
    if (e instanceof EnvironmentChanged) seedAsks = anew();
    else if (!(e instanceof Stop)) throw e; // `finish` here says nothing new: the loop has ended
  }
  let tally = await compare(plan, s, talk, seedAsks);
  while (tally === null) tally = await compare(plan, s, talk, anew());
  const pairs = whole(tally);
  const result: SearchResult =
    !enough(tally, plan) || tally.worse ? 'not-confirmed' : tally.better ? 'improved' : 'no-measurable-difference';
  const text = result === 'not-confirmed' ? plan.seedText : s.incumbent;
  await talk.decide({
    type: 'confirmation.finished',
    wins: tally.wins,
    losses: tally.losses,
    pairs,
    of: ids.length,
    confidence: tally.confidence,
    result,
    shipped: talk.hash(text),
    seed: tally.scores.incumbent,
    final: tally.scores.candidate,
    tasks: tally.shownPairs,
  });
  if (result === 'not-confirmed')
    await talk.decide({
      type: 'incumbent.changed',
      from: talk.hash(s.incumbent),
      to: talk.hash(text),
      why: 'not-confirmed',
    });
  return { result, text };
}

/** Seed against result, pair by pair. Null: the environment moved on the way, so that all of it has to be rolled anew. */
async function compare(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  seedAsks: readonly Ask[],
): Promise<Tally | null> {
  const tally = new Tally(plan.gate.metric);
  let left = plan.selection.flatMap((t, i) => {
    const seed = seedAsks[i];
    return seed ? [{ task: t.id, seed, final: talk.number(s.incumbent, t.id) }] : [];
  });
  try {
    while (!(await pairUp(plan, s, talk, tally, left))) {
      // a limit: what a raised one allows is taken up; the pair that was cut in two is rolled anew on both sides
      if (enough(tally, plan) || !(await talk.limitRaised())) break;
      const done = tally.pairs.length - (plan.selection.length - left.length);
      left = left.slice(done).map((pair, i) => {
        if (i > 0) return pair;
        return { ...pair, seed: talk.number(plan.seedText, pair.task), final: talk.number(s.incumbent, pair.task) };
      });
    }
  } catch (e) {
    if (e instanceof EnvironmentChanged) return null;
    throw e;
  }
  return tally;
}

/** Rolls these pairs; false = a limit cut them off. */
async function pairUp(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  tally: Tally,
  pairs: readonly { readonly task: string; readonly seed: Ask; readonly final: Ask }[],
): Promise<boolean> {
  for (const { seed, final } of pairs) {
    talk.layOut([seed], plan.seedText);
    talk.layOut([final], s.incumbent);
  }
  let done = 0;
  try {
    for (const { task, seed, final } of pairs) {
      const before = await talk.settle(seed, plan.seedText);
      tally.add(task, 0, cellOf(before), await talk.settle(final, s.incumbent));
      done++;
    }
    return true;
  } catch (e) {
    if (!(e instanceof Stop)) throw e;
    return false;
  } finally {
    talk.drop(pairs.slice(done).flatMap(({ seed, final }) => [seed, final]));
  }
}

function whole(tally: Tally): number {
  return tally.pairs.filter((p) => p.before !== null && p.after !== null).length;
}

function enough(tally: Tally, plan: LoopPlan): boolean {
  return whole(tally) >= LEAST_COVERAGE * plan.selection.length;
}
