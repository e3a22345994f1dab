import { type Conversation, Stop } from './conversation.ts';
import type { LoopPlan } from './plan.ts';
import { LEAST_COVERAGE } from './rules.ts';
import { type Cell, cellOf, noteTrain, type SearchState, scoreOf, shown } from './state.ts';

/**
 * Rolls train tasks out under the draft and notes what fails; says whether enough of them could be scored. A full sweep
 * below the least coverage counts as indecisive: three in a row end the run.
 */
export async function sweep(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  tasks: readonly string[],
  why: string,
): Promise<boolean> {
  if (tasks.length === 0) return true;
  const text = s.draftText;
  const got: (readonly [string, Cell])[] = [];
  await talk.roll(text, tasks, (task, settled) => {
    noteTrain(s, task, settled);
    if (settled.hard !== null) s.train.set(task, settled.hard);
    got.push([task, cellOf(settled)]);
    return undefined;
  });
  const score = scoreOf(got.map(([, c]) => c));
  await talk.decide({
    type: 'evaluation.finished',
    split: 'train',
    why,
    skill: talk.hash(text),
    score,
    tasks: got.map(([t, c]) => [t, shown(c)]),
  });
  const covered = score.scored >= LEAST_COVERAGE * score.of;
  if (!covered && tasks.length === plan.train.length) {
    s.indecisive++;
    if (s.indecisive >= 3) throw new Stop('measurement-broken');
  }
  return covered;
}

/** Block `r` of the incumbent's outcomes on selection; what is missing is rolled out. */
export async function incumbentBlock(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  r: number,
): Promise<ReadonlyMap<string, Cell>> {
  const bank = s.bank;
  const cells = (task: string): Cell[] => bank.get(task) ?? [];
  const missing = plan.selection.map((t) => t.id).filter((t) => cells(t).length <= r);
  await talk.roll(s.incumbent, missing, (task, settled) => {
    cells(task).push(cellOf(settled));
    return undefined;
  });
  return new Map(plan.selection.map((t) => [t.id, cells(t.id)[r] ?? null]));
}

/** Closes a phase that was cut off, so that every consumed effect and input stands in a decision. */
export async function closeOpen(s: SearchState, talk: Conversation, why: string): Promise<void> {
  if (!talk.open) return;
  await talk.decide({
    type: 'evaluation.finished',
    split: 'open',
    why,
    skill: talk.hash(s.draftText),
    score: scoreOf([]),
    tasks: [],
  });
}
