import type { OptimizedPart } from '../ports/edit.ts';
import type { ModelMessage, ModelPart, ModelReply } from '../ports/model.ts';
import type { ProposalRequest } from '../ports/proposals.ts';
import type { Called, Calls } from './calls.ts';
import type { Conversation, Turn } from './conversation.ts';
import { DataFence } from './fences.ts';
import { type HandIn, joined, readHandIn } from './hand-in.ts';
import { readables } from './material.ts';
import oneShotPrompt from './prompts/one-shot.md' with { type: 'text' };
import descriptionOneShot from './prompts/one-shot-description.md' with { type: 'text' };
import rulesPrompt from './prompts/rules.md' with { type: 'text' };
import descriptionRules from './prompts/rules-description.md' with { type: 'text' };
import toolsPrompt from './prompts/tools.md' with { type: 'text' };
import descriptionTools from './prompts/tools-description.md' with { type: 'text' };
import { HAND_IN, Reader, toolsFor } from './reading-tools.ts';
import { readReplyText } from './reply-text.ts';
import { DIGEST_CHARACTERS, digest, type Form, type Opening, toolsOpening } from './requests.ts';
import { cutMiddle } from './room.ts';
import { triggerOpening } from './trigger-request.ts';

type ToolCall = Extract<ModelPart, { readonly kind: 'tool-call' }>;
type Read = Turn | { readonly kind: 'reading' };

/** Most characters of a text of the model that it is shown again. */
const LONGEST_SAID = 8_000;

/** Answers of tools that are not longer than this stay as they are. */
const SHORT_ANSWER = 400;

/** What the model is told first, by what is optimized: the rules, and how it hands in. */
const systems: Readonly<Record<OptimizedPart, Readonly<Record<'rules' | Form, string>>>> = {
  body: { rules: rulesPrompt, tools: toolsPrompt, 'one-shot': oneShotPrompt },
  description: { rules: descriptionRules, tools: descriptionTools, 'one-shot': descriptionOneShot },
};

/** One conversation with the model: its first message, the reading in between, and the repair turn. */
export class Dialogue implements Conversation {
  private readonly messages: ModelMessage[];
  private readonly reader: Reader;
  private readonly fence: DataFence;
  private readonly part: OptimizedPart;
  private readonly open: (size: number) => Opening;
  private opening: Opening;
  /** Calls of tools in the newest reply that have no answer yet. */
  private pending: readonly ToolCall[] = [];
  private openingHalved = false;
  private resultsHalved = false;

  constructor(
    private readonly form: Form,
    private readonly calls: Calls,
    request: ProposalRequest,
    private readonly maxCalls: number,
  ) {
    const rollouts = readables(request);
    this.fence = new DataFence(request.key);
    this.part = request.optimizes ?? 'body';
    const write = this.part === 'description' ? triggerOpening : form === 'tools' ? toolsOpening : digest;
    this.open = (size) => write(request, rollouts, this.fence, size, form);
    this.opening = this.open(DIGEST_CHARACTERS);
    this.messages = [userSays(this.opening.text)];
    this.reader = new Reader(request, rollouts, this.fence);
  }

  /** Ids of the failing tasks that can be cited. */
  get shown(): readonly string[] {
    return this.opening.shown;
  }

  /** How the model is told to hand in once more. */
  get again(): string {
    return this.form === 'tools' ? `Call \`${HAND_IN}\` again.` : 'Answer again with one whole JSON object.';
  }

  /** Until the first hand-in: with tools the model reads as long as calls and characters last. */
  async first(): Promise<Turn> {
    for (;;) {
      const mustEnd = this.calls.made >= this.maxCalls - 1 || this.reader.spent || this.resultsHalved;
      const turn = await this.turn(mustEnd);
      if (turn.kind !== 'reading') return turn;
      if (mustEnd) return { kind: 'unreadable', problem: `only \`${HAND_IN}\` can be called now` };
      this.answer((call) => this.reader.answer(call.name, call.input));
    }
  }

  /** One turn more, in which the model has to hand in. */
  async repair(text: string): Promise<Turn> {
    if (this.pending.length === 0) this.say(text);
    else {
      const answered = this.pending.find((c) => c.name === HAND_IN) ?? this.pending[0];
      this.answer((call) => ({ output: call === answered ? text : 'Not looked at.', isError: true }));
    }
    const turn = await this.turn(true);
    return turn.kind === 'reading' ? { kind: 'unreadable', problem: 'it went on reading' } : turn;
  }

  private async turn(mustHandIn: boolean): Promise<Read> {
    const called = await this.call(mustHandIn);
    switch (called.kind) {
      case 'reply':
        return this.take(called.reply);
      case 'too-long':
        return { kind: 'failed', failure: called.failure };
      default:
        return called;
    }
  }

  /** A request that is too long for the model is sent again, half as long. */
  private async call(mustHandIn: boolean): Promise<Called> {
    const byTools = this.form === 'tools';
    const told = systems[this.part];
    const system = [told.rules, told[this.form]].map((p) => p.trim()).join('\n\n');
    let must = mustHandIn;
    for (;;) {
      const called = await this.calls.make({
        system,
        messages: [...this.messages],
        tools: byTools ? toolsFor[this.part] : [],
        mustCall: byTools && must ? HAND_IN : null,
      });
      if (called.kind !== 'too-long' || !this.halve()) return called;
      must ||= this.resultsHalved;
    }
  }

  private take(reply: ModelReply): Read {
    const parts = reply.parts.flatMap((part) => this.kept(part));
    this.messages.push({ role: 'assistant', parts: parts.length > 0 ? parts : [textPart('(no answer)')] });
    this.pending = parts.filter((p) => p.kind === 'tool-call');
    if (reply.stop === 'refused') return { kind: 'declined' };
    const handIns = this.pending.filter((c) => c.name === HAND_IN).map((c) => readHandIn(c.input));
    if (handIns.length > 0) return joinedTurn(handIns);
    if (this.pending.length > 0) return { kind: 'reading' };
    if (reply.stop === 'length') return { kind: 'unreadable', problem: 'the reply was cut at its limit of tokens' };
    const text = reply.parts.map((p) => (p.kind === 'text' ? p.text : '')).join('');
    if (this.form === 'tools' && text.trim() === '')
      return { kind: 'unreadable', problem: 'the reply holds neither text nor a call whose arguments are whole JSON' };
    const read = readReplyText(text);
    return read.ok ? joinedTurn([readHandIn(read.value)]) : { kind: 'unreadable', problem: read.problem };
  }

  /** A part of a reply as it stays in the conversation. */
  private kept(part: ModelPart): readonly ModelPart[] {
    if (part.kind === 'tool-call') return this.form === 'tools' ? [part] : [];
    if (part.kind !== 'text' || part.text.trim() === '') return [];
    return [textPart(cutMiddle(part.text, LONGEST_SAID))];
  }

  /** Every call of the newest reply gets its answer, in one message. */
  private answer(answerTo: (call: ToolCall) => { readonly output: string; readonly isError: boolean }): void {
    const parts = this.pending.map((call) => ({ kind: 'tool-result' as const, id: call.id, ...answerTo(call) }));
    this.pending = [];
    this.messages.push({ role: 'user', parts });
  }

  private say(text: string): void {
    const last = this.messages.at(-1);
    if (last?.role !== 'user') this.messages.push(userSays(text));
    else this.messages[this.messages.length - 1] = { ...last, parts: [...last.parts, textPart(text)] };
  }

  /** Halves what was read, else the first message; false when both were halved before. */
  private halve(): boolean {
    if (!this.resultsHalved && this.messages.some((m) => m.parts.some((p) => p.kind === 'tool-result'))) {
      this.resultsHalved = true;
      for (const [at, message] of this.messages.entries())
        this.messages[at] = { ...message, parts: message.parts.map((p) => halved(p, this.fence)) };
      return true;
    }
    if (this.openingHalved) return false;
    this.openingHalved = true;
    this.opening = this.open(DIGEST_CHARACTERS / 2);
    const [, ...more] = this.messages[0]?.parts ?? [];
    this.messages[0] = { role: 'user', parts: [textPart(this.opening.text), ...more] };
    return true;
  }
}

/** What a tool answered, cut in the middle. It gets a fence of its own, since the cut may go through those inside. */
function halved(part: ModelPart, fence: DataFence): ModelPart {
  if (part.kind !== 'tool-result' || part.output.length <= SHORT_ANSWER) return part;
  return {
    ...part,
    output: fence.wrap(cutMiddle(part.output, Math.floor(part.output.length / 2) - fence.wrap('').length)),
  };
}

function joinedTurn(read: readonly ReturnType<typeof readHandIn>[]): Turn {
  const handIns: HandIn[] = [];
  for (const one of read) {
    if ('problem' in one) return { kind: 'unreadable', problem: one.problem };
    handIns.push(one);
  }
  return { kind: 'hand-in', handIn: joined(handIns) };
}

function textPart(text: string): ModelPart {
  return { kind: 'text', text };
}

function userSays(text: string): ModelMessage {
  return { role: 'user', parts: [textPart(text)] };
}
