import type { Edit } from '../ports/edit.ts';
import type { Failure } from '../ports/failure.ts';
import type { ProposalOptions, ProposalRequest } from '../ports/proposals.ts';
import { fill } from './fill.ts';
import type { HandIn } from './hand-in.ts';
import { type Judged, judge, refusalsText } from './judge.ts';
import refusedPrompt from './prompts/refused.md' with { type: 'text' };
import unreadablePrompt from './prompts/unreadable.md' with { type: 'text' };
import type { End } from './readers.ts';

/** What came of asking until something was handed in, or was not. */
export type Turn =
  | { readonly kind: 'hand-in'; readonly handIn: HandIn }
  /** A repair turn may mend it. */
  | { readonly kind: 'unreadable'; readonly problem: string }
  | { readonly kind: 'declined' }
  | { readonly kind: 'limit' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** One reader of failures, a model or an agent: it hands in, and may be asked once to mend what it handed in. */
export interface Conversation {
  /** Ids of the failing tasks that can be cited. */
  readonly shown: readonly string[];
  /** How it is told to hand in once more. */
  readonly again: string;
  first(): Promise<Turn>;
  /** One turn more, in which it has to hand in; `text` says what was wrong. */
  repair(text: string): Promise<Turn>;
}

/**
 * Lets a reader hand in. What it hands in is judged at once; one repair turn tells it everything that can't be used, and
 * why. What is refused even so is handed in as it is, so that its rejection can be seen.
 */
export async function reflect(
  reader: Conversation,
  request: ProposalRequest,
  options: Pick<ProposalOptions, 'check'>,
): Promise<End> {
  const judged = (handIn: HandIn, kept: readonly Edit[]) => judge(handIn, request, reader.shown, options.check, kept);
  const first = await reader.first();
  if (first.kind === 'unreadable') {
    const { problem } = first;
    const second = await reader.repair(fill(unreadablePrompt, { problem, again: reader.again }));
    if (second.kind !== 'hand-in') return inVain(second);
    return proposal(second.handIn, judged(second.handIn, []), [], request.atMost);
  }
  if (first.kind !== 'hand-in') return inVain(first);
  const one = judged(first.handIn, []);
  if (one.refused.length === 0) return proposal(first.handIn, one, [], request.atMost);
  const count = one.refused.length === 1 ? 'One edit' : `${one.refused.length} edits`;
  const refusals = refusalsText(one.refused);
  const second = await reader.repair(fill(refusedPrompt, { count, refusals, again: reader.again }));
  // what is good was handed in, whatever became of the turn that was to mend the rest
  if (second.kind !== 'hand-in') return proposal(first.handIn, one, [], request.atMost);
  const two = judged(second.handIn, one.good);
  return proposal(first.handIn, { ...two, beyond: one.beyond + two.beyond }, one.good, request.atMost);
}

/** What was kept before, what is good now, and what is refused even so. */
function proposal(handIn: HandIn, { good, refused, beyond }: Judged, kept: readonly Edit[], atMost: number): End {
  const unusable = refused.flatMap((r) => r.edit ?? []);
  const count = kept.length + good.length + unusable.length;
  const unread = refused.filter((r) => r.edit === null).length;
  const notes = [
    handIn.summary || (count === 0 ? 'No edit was handed in.' : `${numbered(count)} handed in.`),
    ...(beyond > 0 ? [leftOut(beyond, atMost)] : []),
    ...(unread > 0 ? [`${numbered(unread)} could not be read.`] : []),
  ];
  return { kind: 'handed-in', good: [...kept, ...good], refused: unusable, summary: notes.join(' ') };
}

function inVain(turn: Exclude<Turn, { readonly kind: 'hand-in' }>): End {
  switch (turn.kind) {
    case 'failed':
      return turn;
    case 'limit':
      return { kind: 'unusable', detail: 'a limit is spent: the reflection ended before anything was handed in' };
    case 'declined':
      return { kind: 'unusable', detail: 'the model declined to answer' };
    case 'unreadable':
      return { kind: 'unusable', detail: `no hand-in that can be used, after one repair turn: ${turn.problem}` };
    default:
      return turn satisfies never;
  }
}

/** Says that edits were left out, beyond those that were asked for. */
export const leftOut = (count: number, atMost: number) =>
  `${numbered(count)} more left out: at most ${atMost} asked for.`;

const numbered = (count: number) => `${count} ${count === 1 ? 'edit' : 'edits'}`;
