import type { ProposalResult } from '../ports/proposals.ts';
import { leftOut } from './conversation.ts';
import { type End, merged } from './readers.ts';

type Together = Extract<ProposalResult, { readonly kind: 'failed' }> | Told<'proposal'> | Told<'unusable'>;
type Told<K> = Omit<Extract<ProposalResult, { readonly kind: K }>, 'usage' | 'durationMs'>;

/** All readers as one reflection, which came to nothing only if each of them did. */
export function together(ends: readonly End[], atMost: number): Together {
  const [only] = ends;
  if (only !== undefined && ends.length === 1) {
    if (only.kind !== 'handed-in') return only;
    return { kind: 'proposal', proposal: { edits: [...only.good, ...only.refused], summary: only.summary } };
  }
  const handed = ends.filter((end) => end.kind === 'handed-in');
  if (handed.length === 0) {
    const failed = ends.find((end) => end.kind === 'failed');
    return failed ?? { kind: 'unusable', detail: ends.map(told).join(' ') };
  }
  const { edits, beyond } = merged(handed, atMost);
  const notes = [...ends.map(told), ...(beyond > 0 ? [leftOut(beyond, atMost)] : [])];
  return { kind: 'proposal', proposal: { edits, summary: notes.join(' ') } };
}

function told(end: End, at: number): string {
  const reader = `Reader ${at + 1}:`;
  switch (end.kind) {
    case 'handed-in':
      return `${reader} ${end.summary}`;
    case 'unusable':
      return `${reader} nothing, ${end.detail}.`;
    case 'failed':
      return `${reader} nothing, ${end.failure.what}.`;
    default:
      return end satisfies never;
  }
}
