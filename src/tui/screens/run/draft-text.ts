import type { RunState } from '../../../events/run-state.ts';
import { shortHash } from '../../../ports/hash.ts';
import { applyEdit } from '../../../skill/edits.ts';

let last: { readonly skill: string; readonly text: string } | null = null;

/** The draft's text: the best skill with the draft's edits, made from the log and held against the hash that stands there; null = they disagree. */
export function draftText(state: RunState): string | null {
  if (last?.skill === state.draftSkill) return last.text;
  const best = state.skills.get(state.incumbent);
  if (best === undefined) return null;
  let text: string = best.text;
  for (const hash of state.draft) {
    const edit = state.edits.get(hash)?.edit;
    const applied = edit === undefined ? null : applyEdit(text, edit);
    if (applied === null || !applied.ok) return null;
    text = applied.text;
  }
  if (shortHash(text) !== state.draftSkill) return null;
  last = { skill: state.draftSkill, text };
  return text;
}
