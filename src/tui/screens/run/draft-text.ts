import type { RunState } from '../../../events/run-state.ts';
import { shortHash } from '../../../ports/hash.ts';
import { applierOf } from '../../../skill/by-part.ts';
import { remember } from '../../remember.ts';

/** The draft's text: the best skill with the draft's edits, made from the log and held against the hash that stands there; null = they disagree. */
export const draftText = (state: RunState): string | null => made(state, state.draftSkill, state.incumbent);

const made = remember((state: RunState, draftSkill: string, incumbent: string): string | null => {
  const best = state.skills.get(incumbent);
  if (best === undefined) return null;
  const apply = applierOf(state.plan?.optimize ?? 'body');
  let text: string = best.text;
  for (const hash of state.draft) {
    const edit = state.edits.get(hash)?.edit;
    const applied = edit === undefined ? null : apply(text, edit);
    if (applied === null || !applied.ok) return null;
    text = applied.text;
  }
  return shortHash(text) === draftSkill ? text : null;
});
