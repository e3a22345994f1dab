import { type Edit, GUIDANCE_OP } from '../ports/edit.ts';
import type { ModelMessage, ModelReply } from '../ports/model.ts';
import type { ProposalOptions, ProposalRequest } from '../ports/proposals.ts';
import { GUIDANCE_BEGIN, GUIDANCE_CHARACTERS, GUIDANCE_END, guidanceIn } from '../skill/guidance.ts';
import type { Calls } from './calls.ts';
import { DataFence } from './fences.ts';
import { fill } from './fill.ts';
import { historyText, LONG_HISTORY } from './history.ts';
import { ruleOf } from './judge.ts';
import guidancePrompt from './prompts/guidance.md' with { type: 'text' };
import unreadablePrompt from './prompts/unreadable.md' with { type: 'text' };
import type { End } from './readers.ts';
import { readReplyText } from './reply-text.ts';
import { DIGEST_CHARACTERS, sections, skillPart, userPart } from './requests.ts';
import { cutMiddle } from './room.ts';

/** A reply that holds guidance, as an edit (null = an empty text, which changes nothing); or why it does not. */
type Said =
  | { readonly kind: 'said'; readonly edit: Edit | null; readonly summary: string }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Most characters of the model's own words that it is shown again. */
const LONGEST_SAID = 8_000;
const AGAIN = 'Answer again with one whole JSON object.';
const form = { isOne: isGuidance, keys: ['guidance', 'summary'] } as const;

/**
 * One call, and one repair turn where its reply can't be read or used. What is refused even so is handed in as it is, so
 * that its rejection can be seen.
 */
export async function distill(
  request: ProposalRequest,
  options: Pick<ProposalOptions, 'check'>,
  calls: Calls,
): Promise<End> {
  const fence = new DataFence(request.key);
  const system = fill(guidancePrompt, { most: String(GUIDANCE_CHARACTERS) }).trim();
  const messages: ModelMessage[] = [userSays(opening(request, fence, DIGEST_CHARACTERS))];
  let size = DIGEST_CHARACTERS;
  let repaired = false;
  for (;;) {
    const called = await calls.make({ system, messages: [...messages], tools: [], mustCall: null });
    if (called.kind === 'too-long' && size === DIGEST_CHARACTERS) {
      size /= 2;
      messages[0] = userSays(opening(request, fence, size));
      continue;
    }
    if (called.kind === 'failed' || called.kind === 'too-long') return { kind: 'failed', failure: called.failure };
    if (called.kind === 'limit') return unusable('a limit is spent: it ended before anything was handed in');
    if (called.kind === 'reply' && called.reply.stop === 'refused') return unusable('the model declined to answer');
    const said = called.kind === 'reply' ? read(called.reply) : called;
    const fault = said.kind === 'said' ? faultOf(said.edit, request, options.check) : said.problem;
    if (said.kind === 'said' && (fault === null || repaired)) return handedIn(said);
    if (repaired) return unusable(`no guidance that can be used, after one repair turn: ${fault}`);
    repaired = true;
    if (called.kind !== 'reply') continue;
    const text = cutMiddle(textOf(called.reply).trim(), LONGEST_SAID) || '(no answer)';
    messages.push({ role: 'assistant', parts: [{ kind: 'text', text }] });
    messages.push(userSays(fill(unreadablePrompt, { problem: fault ?? '', again: AGAIN })));
  }
}

function handedIn({ edit, summary }: Extract<Said, { readonly kind: 'said' }>): End {
  const said = summary || (edit === null ? 'No guidance was handed in.' : 'Guidance was handed in.');
  return { kind: 'handed-in', good: edit === null ? [] : [edit], refused: [], summary: said };
}

const unusable = (detail: string): End => ({ kind: 'unusable', detail });

/** What is shown: the skill with its guidance, what was tried, what the owner asks. */
function opening(request: ProposalRequest, fence: DataFence, size: number): string {
  const now =
    guidanceIn(request.text) === ''
      ? 'It has no guidance yet.'
      : `Its guidance stands between the lines ${GUIDANCE_BEGIN} and ${GUIDANCE_END}.`;
  const history = cutMiddle(historyText(request, LONG_HISTORY), size);
  return sections([
    skillPart(request),
    now,
    `What was tried, newest first:\n${fence.wrap(history)}`,
    userPart(request),
    `Write the guidance: at most ${GUIDANCE_CHARACTERS} characters, as one JSON object.`,
  ]);
}

function read(reply: ModelReply): Said {
  if (reply.stop === 'length') return { kind: 'unreadable', problem: 'the reply was cut at its limit of tokens' };
  const found = readReplyText(textOf(reply), form);
  if (!found.ok) return { kind: 'unreadable', problem: found.problem };
  const { guidance, summary } = found.value as { readonly guidance: string; readonly summary?: unknown };
  const said = typeof summary === 'string' ? summary.trim() : '';
  const content = guidance.trim();
  const edit: Edit | null = content === '' ? null : { op: GUIDANCE_OP, target: '', content, cites: [], reason: said };
  return { kind: 'said', edit, summary: said };
}

function isGuidance(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'guidance' in value &&
    typeof (value as { readonly guidance: unknown }).guidance === 'string'
  );
}

/** Why guidance can't be used, with the rule; null = it can. */
function faultOf(edit: Edit | null, request: ProposalRequest, check: ProposalOptions['check']): string | null {
  if (edit === null) return null;
  const applied = check(edit);
  if (!applied.ok) return `${applied.detail}. ${ruleOf(applied.reason)}`.replace(/\.\.? ?$/, '');
  const banned = request.banned.find((b) => edit.content.includes(b));
  return banned === undefined ? null : `it brings in ${JSON.stringify(banned)}, which the owner does not want`;
}

function textOf(reply: ModelReply): string {
  return reply.parts.map((p) => (p.kind === 'text' ? p.text : '')).join('');
}

function userSays(text: string): ModelMessage {
  return { role: 'user', parts: [{ kind: 'text', text }] };
}
