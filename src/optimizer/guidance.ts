import type { ModelMessage, ModelReply } from '../ports/model.ts';
import type { ProposalOptions, ProposalRequest } from '../ports/proposals.ts';
import { GUIDANCE_BEGIN, GUIDANCE_CHARACTERS, GUIDANCE_END, guidanceIn } from '../skill/guidance.ts';
import type { Calls } from './calls.ts';
import { DataFence } from './fences.ts';
import { fill } from './fill.ts';
import { faultOf, guidanceForm, handedIn, readGuidance, type SaidGuidance } from './guidance-hand-in.ts';
import { historyText, LONG_HISTORY } from './history.ts';
import guidancePrompt from './prompts/guidance.md' with { type: 'text' };
import answerPrompt from './prompts/guidance-one-shot.md' with { type: 'text' };
import unreadablePrompt from './prompts/unreadable.md' with { type: 'text' };
import type { End } from './readers.ts';
import { readReplyText } from './reply-text.ts';
import { DIGEST_CHARACTERS, sections, skillPart, userPart } from './requests.ts';
import { cutMiddle } from './room.ts';

/** Most characters of the model's own words that it is shown again. */
const LONGEST_SAID = 8_000;
const AGAIN = 'Answer again with one whole JSON object.';

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
  const rules = fill(guidancePrompt, { most: String(GUIDANCE_CHARACTERS) });
  const system = [rules, answerPrompt.trim()].join('\n\n');
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

function read(reply: ModelReply): SaidGuidance {
  if (reply.stop === 'length') return { kind: 'unreadable', problem: 'the reply was cut at its limit of tokens' };
  return readGuidance(readReplyText(textOf(reply), guidanceForm));
}

function textOf(reply: ModelReply): string {
  return reply.parts.map((p) => (p.kind === 'text' ? p.text : '')).join('');
}

function userSays(text: string): ModelMessage {
  return { role: 'user', parts: [{ kind: 'text', text }] };
}
