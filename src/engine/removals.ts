import type { Edit } from '../ports/edit.ts';
import { REMOVALS } from './rules.ts';

/** The removals that reflections have asked for so far. Changed only by `judgeRemoval`. */
export type Removals = {
  asked: number;
  /** Of these: the same one had been asked for not long before, in another round. */
  again: number;
  /** The newest last; those too old to matter are gone. */
  recent: readonly Asked[];
};

type Asked = { readonly round: number; readonly target: string; readonly fate: Fate };

/** `again`: into the draft without a try · `wait`: set aside until it is asked for again · `try`: like any other edit. */
export type Fate = 'again' | 'wait' | 'try';

export const noRemovals = (): Removals => ({ asked: 0, again: 0, recent: [] });

/** An edit that only takes text away. */
export function isRemoval(edit: Edit): boolean {
  return edit.op === 'delete' || (edit.op === 'replace' && edit.content.trim() === '');
}

/**
 * What becomes of a removal. One train task says little of it: text that does harm harms every task a little, and text
 * that helps helps only some. That rounds which read other trajectories ask for the same one says more. As long as
 * hardly any comes again, the optimizer is one that does not repeat itself, and a removal is tried like any other edit.
 * The same removal asked about twice in one round is judged once.
 */
export function judgeRemoval(removals: Removals, edit: Edit, round: number): Fate {
  const { target } = edit;
  const judged = removals.recent.find((a) => a.round === round && a.target === target);
  if (judged) return judged.fate;
  const recent = removals.recent.filter((a) => a.round > round - REMOVALS.within);
  const again = recent.some((a) => a.round < round && (a.target.includes(target) || target.includes(a.target)));
  removals.asked++;
  if (again) removals.again++;
  const repeats = removals.again * REMOVALS.oneIn >= removals.asked;
  const fate = again ? 'again' : repeats ? 'wait' : 'try';
  removals.recent = [...recent, { round, target, fate }];
  return fate;
}
