import type { Edit } from '../ports/edit.ts';
import type { Failure } from '../ports/failure.ts';
import type { Model } from '../ports/model.ts';
import type { ProposalOptions, ProposalRequest, ProposalResult, Proposals } from '../ports/proposals.ts';
import { addUsage } from '../ports/usage.ts';
import { CallRoom, Calls } from './calls.ts';
import { Dialogue, type Turn } from './dialogue.ts';
import { fill } from './fill.ts';
import { distill } from './guidance.ts';
import type { HandIn } from './hand-in.ts';
import { type Judged, judge, refusalsText } from './judge.ts';
import refusedPrompt from './prompts/refused.md' with { type: 'text' };
import unreadablePrompt from './prompts/unreadable.md' with { type: 'text' };
import { type End, merged, type Sharing, shared } from './readers.ts';
import type { Form } from './requests.ts';

/** How a reflection is held. */
export type ReflectingOptions = Sharing & {
  /** A patient one: what it throws is not worth another try at once. */
  readonly model: Model;
  /** `auto` = by tools where the model takes them and may be called more than once. */
  readonly form: 'auto' | Form;
  /** Most model calls of one reader; its one repair turn, and a call that was too long for the model, come on top. */
  readonly maxCalls: number;
  /** Milliseconds. */
  readonly now: () => number;
};

/** The form that a reflection will have: by tools only where the model takes them and may be called more than once. */
export function heldForm(form: ReflectingOptions['form'], model: Pick<Model, 'takesTools'>, maxCalls: number): Form {
  return form === 'auto' ? (model.takesTools && maxCalls > 1 ? 'tools' : 'one-shot') : form;
}

/**
 * An optimizer with a model. It is shown what fails and passes on train and what was tried, and hands in small edits.
 * What it hands in is judged at once; one repair turn tells it everything that can't be used, and why. What is refused
 * even so is handed in as it is, so that its rejection can be seen.
 */
export function createReflectingOptimizer(o: ReflectingOptions): Proposals {
  const { model, form, maxCalls, now } = o;
  const lacksTools: Failure | null =
    form === 'tools' && !model.takesTools
      ? {
          code: 'config',
          what: `reflection is set to read by tools, and ${model.id} takes none`,
          where: 'reflection.form',
          fix: 'set reflection.form to auto or one-shot, or use a model that takes tools',
          retryable: false,
        }
      : null;
  const held = heldForm(form, model, maxCalls);
  return {
    async preflight() {
      const findings = await model.preflight();
      if (lacksTools === null) return findings;
      const { what, where, fix } = lacksTools;
      return [...findings, { level: 'error', what, where, fix }];
    },
    reads: (request) => shared(request, o).reduce((sum, part) => sum + part.failing.length, 0),
    async performProposal(request, options) {
      if (lacksTools !== null) return { kind: 'failed', failure: lacksTools };
      const startedAt = now();
      const room = new CallRoom(options.mayCall);
      const parts = request.kind === 'slow-update' ? [request] : shared(request, o);
      const readers = parts.map((part, at) => ({
        part,
        calls: new Calls(model, options, now, request.round, room, part.kind === 'slow-update' ? DISTILLER : at),
      }));
      const ends = await Promise.all(
        readers.map(({ part, calls }) =>
          part.kind === 'slow-update'
            ? distill(part, options, calls)
            : reflect(new Dialogue(held, calls, part, maxCalls), part, options),
        ),
      );
      const end = together(ends, request.atMost);
      if (end.kind === 'failed') return end;
      const usage = readers.map(({ calls }) => calls.usage).reduce(addUsage);
      return { ...end, usage, durationMs: now() - startedAt };
    },
  };
}

/** No place of a reader is as high, so that no call of the same round is the same draw. */
const DISTILLER = 100;

async function reflect(dialogue: Dialogue, request: ProposalRequest, options: ProposalOptions): Promise<End> {
  const judged = (handIn: HandIn, kept: readonly Edit[]) => judge(handIn, request, dialogue.shown, options.check, kept);
  const first = await dialogue.first();
  if (first.kind === 'unreadable') {
    const { problem } = first;
    const second = await dialogue.repair(fill(unreadablePrompt, { problem, again: dialogue.again }));
    if (second.kind !== 'hand-in') return inVain(second);
    return proposal(second.handIn, judged(second.handIn, []), [], request.atMost);
  }
  if (first.kind !== 'hand-in') return inVain(first);
  const one = judged(first.handIn, []);
  if (one.refused.length === 0) return proposal(first.handIn, one, [], request.atMost);
  const count = one.refused.length === 1 ? 'One edit' : `${one.refused.length} edits`;
  const refusals = refusalsText(one.refused);
  const second = await dialogue.repair(fill(refusedPrompt, { count, refusals, again: dialogue.again }));
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

type Together = Extract<ProposalResult, { readonly kind: 'failed' }> | Told<'proposal'> | Told<'unusable'>;
type Told<K> = Omit<Extract<ProposalResult, { readonly kind: K }>, 'usage' | 'durationMs'>;

/** All readers as one reflection, which came to nothing only if each of them did. */
function together(ends: readonly End[], atMost: number): Together {
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

const leftOut = (count: number, atMost: number) => `${numbered(count)} more left out: at most ${atMost} asked for.`;

const numbered = (count: number) => `${count} ${count === 1 ? 'edit' : 'edits'}`;

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
