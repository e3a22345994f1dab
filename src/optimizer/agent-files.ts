import type { OptimizedPart } from '../ports/edit.ts';
import { printableName } from '../ports/printable.ts';
import type { ProposalRequest } from '../ports/proposals.ts';
import { oneParagraph } from '../skill/description.ts';
import { readSkill } from '../skill/document.ts';
import { GUIDANCE_CHARACTERS } from '../skill/guidance.ts';
import { DataFence, plainText } from './fences.ts';
import { fileNames } from './file-names.ts';
import { fill } from './fill.ts';
import { guidanceSchema } from './guidance-hand-in.ts';
import { handInSchemas } from './hand-in.ts';
import { type HistorySize, historyText } from './history.ts';
import { type Readable, readables } from './material.ts';
import agentPrompt from './prompts/agent.md' with { type: 'text' };
import guidancePrompt from './prompts/guidance.md' with { type: 'text' };
import rulesPrompt from './prompts/rules.md' with { type: 'text' };
import descriptionRules from './prompts/rules-description.md' with { type: 'text' };
import { lockedPart, oneLine, sections, userPart } from './requests.ts';
import { cutMiddle, shares } from './room.ts';
import { triggerCourse } from './trigger-request.ts';

/** What an agent finds: texts by path, and the ids of the failing tasks among them: only these can be cited. */
export type Material = { readonly files: Readonly<Record<string, string>>; readonly shown: readonly string[] };

/** The file that an agent hands in. */
export const HAND_IN_FILE = 'proposal.json';
/** In the second turn: what is wrong, and what was handed in before. */
export const REFUSED_FILE = 'refused.md';
export const BEFORE_FILE = 'handed-in.json';

/** Failing rollouts that are laid out: more would not be read, and lead away from what they have in common. */
export const MOST_FAILING = 60;
const MOST_PASSING = 8;
/** Characters of all rollouts of a kind; what is longer than its share is cut in the middle. */
const FAILING_CHARACTERS = 8_000_000;
const PASSING_CHARACTERS = 1_000_000;
const HISTORY: HistorySize = { edits: 200, drafts: 20, perText: 4_000 };

const rules: Readonly<Record<OptimizedPart, string>> = { body: rulesPrompt, description: descriptionRules };
const hadEdit: Readonly<Record<OptimizedPart, object>> = {
  body: { op: 'insert_after', target: 'a line of the skill' },
  description: { op: 'insert_after', target: 'words of the description' },
};

/** All that an agent is given for a reflection, as files. Passing rollouts are read only as far as they are laid out. */
export function reflectionMaterial(request: ProposalRequest): Material {
  const part = request.optimizes ?? 'body';
  const fence = new DataFence(request.key);
  const all = readables(request);
  const failing = all.filter((r) => r.fails).slice(0, MOST_FAILING);
  const passing = firstOf(all, (r) => !r.fails && r.lines().length > 0, MOST_PASSING);
  const rollouts = [...named(failing, 'failing', FAILING_CHARACTERS), ...named(passing, 'passing', PASSING_CHARACTERS)];
  const documents = skillFiles(request, fence);
  const example = {
    summary: 'What you saw and what you change, in a sentence or two.',
    edits: [{ ...hadEdit[part], content: 'the new text', cites: ['id of a failing task'], reason: 'why' }],
  };
  const listed = [
    '- `index.md`: the training tasks that fail and that pass, with their ids and files',
    ...documents.list,
    '- `failing/`: for each of these tasks what was asked, and what the agent did, its last words at the end',
    ...(passing.length > 0 ? ['- `passing/`: the same of some that pass'] : []),
  ];
  const text = sections([
    rules[part].trim(),
    fill(agentPrompt, {
      files: listed.join('\n'),
      name: HAND_IN_FILE,
      schema: JSON.stringify(handInSchemas[part], null, 1),
      example: JSON.stringify(example, null, 1),
      limit: `At most ${request.atMost} edits; fewer is fine.`,
    }),
    part === 'body' ? lockedPart(request) : '',
    userPart(request),
  ]);
  return {
    files: {
      'RULES.md': `${text}\n`,
      'index.md': `${indexText(request, rollouts, fence)}\n`,
      ...documents.files,
      ...Object.fromEntries(rollouts.map((r) => [r.path, `${rolloutFile(r, part, fence)}\n`])),
    },
    shown: failing.map((r) => r.id),
  };
}

/** All that an agent is given for a slow update: the skill, and what was tried. */
export function guidanceMaterial(request: ProposalRequest): Material {
  const documents = skillFiles(request, new DataFence(request.key));
  const text = sections([
    fill(guidancePrompt, { most: String(GUIDANCE_CHARACTERS) }),
    fill(agentPrompt, {
      files: documents.list.join('\n'),
      name: HAND_IN_FILE,
      schema: JSON.stringify(guidanceSchema, null, 1),
      example: JSON.stringify({ summary: 'What you saw, in a sentence.', guidance: 'the guidance' }, null, 1),
      limit: `At most ${GUIDANCE_CHARACTERS} characters of guidance.`,
    }),
    userPart(request),
  ]);
  return { files: { 'RULES.md': `${text}\n`, ...documents.files }, shown: [] };
}

/** The texts of the skill and what was tried, with a line about each. */
function skillFiles(
  request: ProposalRequest,
  fence: DataFence,
): { readonly files: Readonly<Record<string, string>>; readonly list: readonly string[] } {
  const { text, incumbentText } = request;
  const hasTrial = text !== incumbentText;
  const history = historyText(request, HISTORY);
  const ofDescription = request.optimizes === 'description';
  const applied = 'what you hand in is applied to this text';
  return {
    files: {
      ...(ofDescription ? { 'description.md': `${oneParagraph(readSkill(text).description)}\n` } : {}),
      'skill.md': text,
      ...(hasTrial ? { 'incumbent.md': incumbentText } : {}),
      ...(history === '' ? {} : { 'history.md': `${historyIntro}\n\n${fence.wrap(history)}\n` }),
    },
    list: [
      ...(ofDescription ? [`- \`description.md\`: the description as it stands; ${applied}`] : []),
      `- \`skill.md\`: the skill as it stands${ofDescription ? ', for you to know what it is for' : `; ${applied}`}`,
      ...(hasTrial
        ? ['- `incumbent.md`: the best skill that was confirmed; `skill.md` is it with edits that are on trial']
        : []),
      ...(history === '' ? [] : ['- `history.md`: the edits that were tried before, with what came of them']),
    ],
  };
}

const historyIntro =
  'What was tried before, newest first. What did not help will not help when it is sent again; another way may.';

type Laid = { readonly rollout: Readable; readonly path: string; readonly text: string };

/** The rollouts with their files; together they have so many characters at most. */
function named(rollouts: readonly Readable[], folder: string, characters: number): readonly Laid[] {
  const names = fileNames(
    rollouts.map((r) => r.id),
    '.md',
  );
  const texts = rollouts.map((r) => r.lines().join('\n'));
  const room = shares(
    texts.map((t) => t.length),
    characters,
  );
  return rollouts.map((rollout, at) => ({
    rollout,
    path: `${folder}/${names[at]}`,
    text: cutMiddle(texts[at] ?? '', room[at] ?? 0),
  }));
}

/** The first ones that fit, without looking at those behind them. */
function firstOf<T>(all: readonly T[], fits: (one: T) => boolean, most: number): readonly T[] {
  const found: T[] = [];
  for (const one of all) {
    if (found.length === most) break;
    if (fits(one)) found.push(one);
  }
  return found;
}

function rolloutFile({ rollout, text }: Laid, part: OptimizedPart, fence: DataFence): string {
  const course = part === 'description' ? triggerCourse(rollout) : '';
  return sections([
    `# ${rollout.fails ? 'Failing' : 'Passing'} task ${rollout.id}`,
    course,
    `What was asked:\n${fence.wrap(rollout.instruction.trim())}`,
    text === ''
      ? 'What the agent did is no longer at hand.'
      : `What the agent did, step by step; its last words stand at the end:\n${fence.wrap(text)}`,
  ]);
}

function indexText(request: ProposalRequest, laid: readonly Laid[], fence: DataFence): string {
  const lines = (fails: boolean) =>
    laid
      .filter((l) => l.rollout.fails === fails)
      .map((l) => `${l.rollout.id} · ${l.path} · ${sizeText(l.text)} · ${oneLine(l.rollout.instruction)}`);
  const failing = lines(true);
  const passing = lines(false);
  const hidden = request.failing.length - failing.length;
  const more = hidden > 0 ? ` There are ${hidden} more that fail; these are shown first.` : '';
  const files = new Set(laid.map((l) => l.rollout.id));
  const others = request.passing.map((id) => printableName(id)).filter((id) => !files.has(id));
  return sections([
    `Failing training tasks (id · file · size · the start of what is asked).${more}\n${failing.length === 0 ? 'None.' : fence.wrap(failing.join('\n'))}`,
    passing.length === 0 ? '' : `These pass, and must go on passing:\n${fence.wrap(passing.join('\n'))}`,
    others.length === 0
      ? ''
      : `These pass${passing.length === 0 ? '' : ', too'}, and must go on passing; they have no file: ${others.join(', ')}`,
    request.passing.length === 0 ? 'No training task passes yet.' : '',
  ]);
}

function sizeText(text: string): string {
  const plain = plainText(text);
  return plain === '' ? 'no longer at hand' : `${plain.split('\n').length} lines, ${plain.length} characters`;
}
