import type { Edit } from '../ports/edit.ts';
import type { ProposalRequest, TriedEdit } from '../ports/proposals.ts';
import { cutMiddle } from './room.ts';

/** How much of the history is shown: most edits and drafts, newest first, and characters of each text of an edit. */
export type HistorySize = { readonly edits: number; readonly drafts: number; readonly perText: number };

/** For the first message. */
export const SHORT_HISTORY: HistorySize = { edits: 12, drafts: 2, perText: 300 };
/** For who asks for it. */
export const LONG_HISTORY: HistorySize = { edits: 60, drafts: 10, perText: 1_200 };

const fates: Readonly<Record<TriedEdit['fate'], string>> = {
  'in-draft': 'kept, stands in the draft',
  accepted: 'kept, stands in the skill',
  'failed-screening': 'did not help',
  rejected: 'refused',
  skipped: 'not tried',
};

/** What was tried before, newest first, with what came of it on the training tasks; empty when nothing was. */
export function historyText(request: ProposalRequest, size: HistorySize): string {
  const { tried, refused } = request;
  const edits = tried.slice(-size.edits).reverse();
  const drafts = refused.slice(-size.drafts).reverse();
  const parts = [
    ...edits.map((t) => `- round ${t.round}, ${fates[t.fate]}: ${t.evidence}\n${editText(t.edit, size)}`),
    ...more(tried.length - edits.length, 'older edit'),
    ...drafts.map((d) =>
      [
        `- step ${d.step}: this draft of ${d.edits.length} did not make the skill better as a whole; it says nothing against a single edit`,
        ...d.edits.map((e) => editText(e, size)),
      ].join('\n'),
    ),
    ...more(refused.length - drafts.length, 'older draft'),
  ];
  return parts.join('\n');
}

function more(count: number, what: string): readonly string[] {
  return count > 0 ? [`- and ${count} ${what}${count === 1 ? '' : 's'}`] : [];
}

function editText(edit: Edit, { perText }: HistorySize): string {
  const shown = (text: string) => JSON.stringify(cutMiddle(text, perText));
  const parts = [
    `  ${edit.op}, target ${shown(edit.target)}`,
    ...(edit.content === '' ? [] : [`  content ${shown(edit.content)}`]),
    ...(edit.reason === '' ? [] : [`  reason ${shown(edit.reason)}`]),
  ];
  return parts.join('\n');
}
