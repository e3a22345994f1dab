import { printable } from '../ports/printable.ts';
import type { ProposalRequest } from '../ports/proposals.ts';
import { GUIDANCE_BEGIN, guidanceIn } from '../skill/guidance.ts';
import { type DataFence, fencedDocument, plainText } from './fences.ts';
import { historyText, SHORT_HISTORY } from './history.ts';
import type { Readable } from './material.ts';
import { answerFirst } from './rollout-text.ts';
import { cutMiddle, shares } from './room.ts';

/** How failures are read: by tools, or from one digest. */
export type Form = 'tools' | 'one-shot';

/** Most characters of a first message beside the skill itself. Too many rollouts at once make a reader worse. */
export const DIGEST_CHARACTERS = 24_000;
/** A rollout is shown in a digest when at least so many characters of it can be, or all of it. */
const LEAST_SHOWN = 600;
/** Characters for the lines between the parts of a digest. */
const AROUND = 400;
const MOST_PASSES_SHOWN = 3;
const MOST_LISTED = 60;
const LISTED_LINE = 160;

/** A first message, and the ids of the failing tasks that stand in it: only these can be cited. */
export type Opening = { readonly text: string; readonly shown: readonly string[] };

/** The first message to a model that reads rollouts by tools: what there is, not what is in it. */
export function toolsOpening(
  request: ProposalRequest,
  rollouts: readonly Readable[],
  fence: DataFence,
  size: number,
): Opening {
  const failing = rollouts.filter((r) => r.fails).slice(0, Math.floor((MOST_LISTED * size) / DIGEST_CHARACTERS));
  const list = failing.map((r) => `${r.id}: ${oneLine(r.instruction)}`).join('\n');
  const hidden = rollouts.filter((r) => r.fails).length - failing.length;
  const text = sections([
    skillPart(request),
    `These training tasks fail with it (id: the start of what is asked).${andMore(hidden, 'that fail')}\n${fence.wrap(list)}`,
    passingPart(request),
    historyPart(request, fence, Math.floor(size / 4)),
    userPart(request),
    `Look at what went wrong, then hand in at most ${request.atMost} edits. Fewer is fine.`,
  ]);
  return { text, shown: failing.map((r) => r.id) };
}

/** The one message to a model without tools: the skill, what failed and how, some of what passed, what was tried. */
export function digest(
  request: ProposalRequest,
  rollouts: readonly Readable[],
  fence: DataFence,
  size: number,
): Opening {
  const allFailing = rollouts.filter((r) => r.fails);
  const passes = rollouts.filter((r) => !r.fails && r.trajectory() !== null).slice(0, MOST_PASSES_SHOWN);
  const passing = blocks(passes, fence, Math.floor(size / 8));
  const rest = sections([
    passes.length === 0 ? passingPart(request) : 'These pass with it:',
    ...passes.map((r, at) => `Passing task ${r.id}\n${passing[at]}`),
    historyPart(request, fence, Math.floor(size / 5)),
    userPart(request),
    `Hand in at most ${request.atMost} edits, as one JSON object. Fewer is fine.`,
  ]);
  const room = size - rest.length - AROUND;
  const failing = allFailing.slice(0, Math.max(1, howManyFit(allFailing, fence, room)));
  const fails = blocks(failing, fence, room);
  const title =
    'These training tasks fail with it: what was asked, the last words of the agent, and what it did before.';
  const text = sections([
    skillPart(request),
    `${title}${andMore(allFailing.length - failing.length, 'that fail')}`,
    ...failing.map((r, at) => `Failing task ${r.id}\n${fails[at]}`),
    rest,
  ]);
  return { text, shown: failing.map((r) => r.id) };
}

/** What is shown of a rollout in a digest, before it is cut. */
function shownOf(rollout: Readable): { readonly asked: string; readonly did: string } {
  const trajectory = rollout.trajectory();
  const did = trajectory === null ? '' : answerFirst(trajectory, rollout.instruction);
  return { asked: plainText(rollout.instruction).trim(), did };
}

/** Characters around what is shown of one rollout. */
function aroundOne(fence: DataFence): number {
  return 2 * fence.wrap('').length + 120;
}

/** How many of the first rollouts can be shown, the short ones whole. */
function howManyFit(rollouts: readonly Readable[], fence: DataFence, room: number): number {
  let left = room;
  const overflow = rollouts.findIndex((r) => {
    const { asked, did } = shownOf(r);
    left -= aroundOne(fence) + Math.min(LEAST_SHOWN, asked.length + did.length);
    return left < 0;
  });
  return overflow === -1 ? rollouts.length : overflow;
}

/** Instruction and rollout of each, fenced; together at most `size` characters, of which instructions get a third at most. */
function blocks(rollouts: readonly Readable[], fence: DataFence, size: number): readonly string[] {
  const room = Math.max(0, size - rollouts.length * aroundOne(fence));
  const shown = rollouts.map(shownOf);
  const asked = shown.map((s) => s.asked.length);
  const did = shown.map((s) => s.did.length);
  const total = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
  const forAsked = shares(asked, Math.max(Math.floor(room / 3), room - total(did)));
  const forDid = shares(did, room - total(forAsked));
  return shown.map((s, at) => {
    const instruction = fence.wrap(cutMiddle(s.asked, forAsked[at]!));
    return `What was asked:\n${instruction}\nWhat the agent did:\n${fence.wrap(cutMiddle(s.did, forDid[at]!))}`;
  });
}

/** Parts of a message, without those that are empty. */
export function sections(parts: readonly string[]): string {
  return parts.filter((p) => p !== '').join('\n\n');
}

/** First in each message: the document whose texts edits name as their targets. */
export function skillPart(request: Pick<ProposalRequest, 'text' | 'kind'>): string {
  const shown = `The skill as it stands, between the fences:\n\n${fencedDocument(request.text)}`;
  return sections([shown, lockedPart(request)]);
}

/** Says that the guidance in the skill is locked; empty where there is none, or where it is what is asked for. */
export function lockedPart({ text, kind }: Pick<ProposalRequest, 'text' | 'kind'>): string {
  return kind === 'slow-update' || guidanceIn(text) === ''
    ? ''
    : `What stands from ${GUIDANCE_BEGIN} on is locked: edit the text above it, which may say the same more clearly.`;
}

function passingPart(request: ProposalRequest): string {
  const { passing } = request;
  if (passing.length === 0) return 'No training task passes with it yet.';
  const shown = passing.slice(0, MOST_LISTED).map((id) => printable(id));
  const hidden = passing.length - shown.length;
  return `These pass and must go on passing: ${shown.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}.`;
}

/** What was tried before, in at most so many characters; empty when nothing was. */
export function historyPart(request: ProposalRequest, fence: DataFence, size: number): string {
  const text = historyText(request, SHORT_HISTORY);
  if (text === '') return '';
  const shown = fence.wrap(cutMiddle(text, size));
  return `What was tried before, newest first. What did not help will not help when it is sent again; another way may.\n${shown}`;
}

/** What the owner of the skill asks and bans; empty when nothing. */
export function userPart({ notes, banned }: ProposalRequest): string {
  return sections([
    notes.length === 0 ? '' : `The owner of the skill asks you:\n${notes.map((n) => `- ${printable(n)}`).join('\n')}`,
    banned.length === 0
      ? ''
      : `The owner wants none of these texts in the skill:\n${banned.map((b) => `- ${JSON.stringify(b)}`).join('\n')}`,
  ]);
}

function andMore(count: number, what: string): string {
  return count > 0 ? ` There are ${count} more ${what}; these are shown first.` : '';
}

/** The start of a text as one plain line. */
export function oneLine(text: string): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  return line.length <= LISTED_LINE ? line : `${line.slice(0, LISTED_LINE - 1)}…`;
}
