import { type Edit, editHash } from '../ports/edit.ts';
import { shortHash } from '../ports/hash.ts';
import { applyEdit } from '../skill/edits.ts';
import type { RunState } from './run-state.ts';

/** The skill that guidance makes of the incumbent's text; null = there is no guidance, or no text. */
export function guidedSkill(edit: Edit | undefined, incumbent: string | undefined): RunState['guidance'] {
  if (edit === undefined || incumbent === undefined) return null;
  const applied = applyEdit(incumbent, edit);
  return { edit: editHash(edit), skill: applied.ok ? shortHash(applied.text) : '' };
}
