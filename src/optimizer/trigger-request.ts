import type { ProposalRequest } from '../ports/proposals.ts';
import { oneParagraph } from '../skill/description.ts';
import { readSkill, type SkillDocument } from '../skill/document.ts';
import { type DataFence, fencedDocument, plainText } from './fences.ts';
import type { Readable } from './material.ts';
import type { Form } from './requests.ts';
import { historyPart, type Opening, sections, userPart } from './requests.ts';
import { cutMiddle } from './room.ts';

/** Most characters of a prompt that is shown, and of what was answered to it. */
const LONGEST_PROMPT = 700;
const LONGEST_ANSWER = 300;
const MOST_RIGHT = 16;

/**
 * The first message where the description is optimized: the description, what the skill is for, the prompts at which it
 * was missed or opened in vain, some at which it went right, and what was tried. It has all that there is in either form.
 */
export function triggerOpening(
  request: ProposalRequest,
  rollouts: readonly Readable[],
  fence: DataFence,
  size: number,
  form: Form,
): Opening {
  const skill = readSkill(request.text);
  const head = [descriptionPart(skill), bodyPart(skill, fence, Math.floor(size / 6))];
  const rest = [
    rightPart(request, rollouts, fence, Math.floor(size / 5)),
    historyPart(request, fence, Math.floor(size / 5)),
    userPart(request),
    `Hand in at most ${request.atMost} edits${form === 'one-shot' ? ', as one JSON object' : ''}. Fewer is fine.`,
  ];
  const room = size - sections([...head, ...rest]).length - 4 * fence.wrap('').length;
  const failing = rollouts.filter((r) => r.fails).map((r) => ({ r, text: wrongText(r) }));
  const shown = fitting(failing, room);
  const part = (title: string, meant: boolean) => {
    const of = shown.filter(({ r }) => (r.shouldTrigger === true) === meant);
    return of.length === 0 ? '' : `${title}\n${fence.wrap(of.map(({ text }) => text).join('\n\n'))}`;
  };
  const left = failing.length - shown.length;
  const text = sections([
    ...head,
    part('Missed: the skill is meant for these prompts, and it was not opened. (id: prompt)', true),
    part('False: it was opened for these prompts, or could not be told from others, and is not meant for them.', false),
    left > 0 ? `There are ${left} more that went wrong; these are shown first.` : '',
    ...rest,
  ]);
  return { text, shown: shown.map(({ r }) => r.id) };
}

function descriptionPart(skill: SkillDocument): string {
  return `The description of the skill ${skill.name} as it stands, between the fences:\n\n${fencedDocument(oneParagraph(skill.description))}`;
}

function bodyPart(skill: SkillDocument, fence: DataFence, size: number): string {
  const body = cutMiddle(skill.text.slice(skill.body.start).trim(), size);
  return `Its body, for you to know what it is for. It is read once the skill is open, and can't be changed here:\n${fence.wrap(body)}`;
}

/** The first ones of both kinds in turn, as many as there is room for; at least one. */
function fitting<T extends { readonly r: Readable; readonly text: string }>(
  all: readonly T[],
  room: number,
): readonly T[] {
  const kinds = [true, false].map((meant) => all.filter(({ r }) => (r.shouldTrigger === true) === meant));
  const inTurn = all.flatMap((_, at) => kinds.flatMap((kind) => kind[at] ?? []));
  let left = room;
  const over = inTurn.findIndex(({ text }) => {
    left -= text.length + 2;
    return left < 0;
  });
  return over === -1 ? inTurn : inTurn.slice(0, Math.max(1, over));
}

function wrongText(rollout: Readable): string {
  const prompt = cutMiddle(oneLine(rollout.instruction), LONGEST_PROMPT);
  return `${rollout.id}: ${prompt}\n  ${openedText(rollout)}`;
}

/** What was opened, as the rollout's last note says it; else its last words. */
function openedText(rollout: Readable): string {
  const trajectory = rollout.trajectory();
  if (trajectory === null) return '(what was opened is no longer at hand)';
  const note = trajectory.steps.findLast((step) => step.kind === 'note');
  return cutMiddle(oneLine(note?.kind === 'note' ? note.text : trajectory.finalText), LONGEST_ANSWER);
}

/** How a prompt went with the description as it stands, in a sentence. */
export function triggerCourse({ fails, shouldTrigger }: Readable): string {
  const meant = shouldTrigger === true;
  if (!fails) return meant ? 'The skill was opened, as meant.' : 'The skill was not opened, as meant.';
  return meant
    ? 'Missed: the skill is meant for this prompt, and it was not opened.'
    : 'False: the skill was opened for this prompt, or could not be told from others, and is not meant for it.';
}

function rightPart(request: ProposalRequest, rollouts: readonly Readable[], fence: DataFence, size: number): string {
  const right = rollouts.filter((r) => !r.fails);
  if (right.length === 0) return request.passing.length === 0 ? 'At no training prompt it went right yet.' : '';
  const of = (meant: boolean) =>
    right
      .filter((r) => (r.shouldTrigger === true) === meant)
      .slice(0, MOST_RIGHT / 2)
      .map((r) => `${r.id}: ${cutMiddle(oneLine(r.instruction), LONGEST_PROMPT / 2)}`);
  const list = [
    ...of(true).map((line) => `opened, as meant: ${line}`),
    ...of(false).map((line) => `not opened, as meant: ${line}`),
  ];
  return `It went right at these, and has to stay so:\n${fence.wrap(cutMiddle(list.join('\n'), size))}`;
}

function oneLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}
