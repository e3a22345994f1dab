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
  setAside: readonly Ask[],
): Promise<Confirmed> {
  const ids = plan.selection.map((t) => t.id);
  const tally = new Tally(plan.gate.metric);
  let seedAsks = setAside;
  try {
    await talk.point('confirmation');
  } catch (e) {
    if (e instanceof EnvironmentChanged) seedAsks = ids.map((t) => talk.number(plan.seedText, t));
    else if (!(e instanceof Stop)) throw e; // `finish` here says nothing new: the loop has ended
  }
  const finalAsks = ids.map((t) => talk.number(s.incumbent, t));
  talk.layOut(seedAsks, plan.seedText);
  talk.layOut(finalAsks, s.incumbent);
  let done = 0;
  try {
    for (const [i, task] of ids.entries()) {
      const seedAsk = seedAsks[i];
      const finalAsk = finalAsks[i];
      if (!seedAsk || !finalAsk) break;
      const before = await talk.settle(seedAsk, plan.seedText);
      tally.add(task, 0, cellOf(before), await talk.settle(finalAsk, s.incumbent));
      done++;
    }
  } catch (e) {
    if (!(e instanceof Stop)) throw e;
  } finally {
    talk.drop([...seedAsks.slice(done), ...finalAsks.slice(done)]);
  }
  const pairs = tally.pairs.filter((p) => p.before !== null && p.after !== null).length;
  const result: SearchResult =
    pairs < LEAST_COVERAGE * ids.length || tally.worse
      ? 'not-confirmed'
      : tally.better
        ? 'improved'
        : 'no-measurable-difference';
  const text = result === 'not-confirmed' ? plan.seedText : s.incumbent;
  await talk.decide({
    type: 'confirmation.finished',
    wins: tally.wins,
    losses: tally.losses,
    pairs,
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
