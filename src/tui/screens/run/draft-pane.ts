import type { EditState } from '../../../events/run-state.ts';
import { editTitle } from '../../../events/words.ts';
import { type Line, line, span, wrap } from '../../text.ts';
import type { Facts } from './facts.ts';

const ops: Readonly<Record<EditState['edit']['op'], string>> = {
  replace: 'replace',
  insert_after: 'insert after',
  insert_before: 'insert before',
  delete: 'delete',
  guidance: 'guidance',
  append_section: 'append',
};

/** The draft as it grows: each edit, what it was seen to fix; `brief` = a line each. */
export function draftLines(f: Facts, width: number, brief: boolean): readonly Line[] {
  const { state } = f;
  const edits = state.draft.map((hash) => state.edits.get(hash)).filter((e) => e !== undefined);
  if (edits.length === 0)
    return [line(state.ended ? ' the search is over: there is no draft' : ' nothing in the draft yet', 'quiet')];
  return edits.flatMap((e, at): Line[] => {
    const number = String(at + 1).padStart(2);
    if (brief) return [[span(` ${number} `, 'quiet'), span('+ ', 'good'), span(editTitle(e, Math.max(12, width - 8)))]];
    return [
      [span(` ${number} `, 'quiet'), span('+ ', 'good'), span(editTitle(e, Math.max(12, width - 8)), 'strong')],
      ...wrap(`${ops[e.edit.op]} · round ${e.round} · ${e.why}`, width - 7).map(
        (t): Line => [span(`       ${t}`, 'quiet')],
      ),
      ...(e.edit.reason === ''
        ? []
        : wrap(`why: ${e.edit.reason}`, width - 7).map((t): Line => [span(`       ${t}`, 'quiet')])),
    ];
  });
}
