import type { AgentLimits } from '../../../config/agent.ts';
import type { Failure } from '../../../ports/failure.ts';
import type { Model, ModelError, ModelReply, ModelRequest } from '../../../ports/model.ts';
import type { UnscoredReason } from '../../../ports/outcome.ts';
import type { TrajectoryStep } from '../../../ports/trajectory.ts';
import { unknownUsage } from '../../../ports/usage.ts';
import { troubleOf } from '../../model-trouble.ts';
import type { AgentEnd, AgentRun } from '../agent.ts';
import { ask } from './ask.ts';
import { runBash } from './bash.ts';
import { Conversation, type ToolCall } from './conversation.ts';
import { CannotStart, Hands } from './hands.ts';
import { type Form, type Opening, offeredNote, open, systemText } from './opening.ts';
import { shows } from './reading.ts';
import { type Block, lastBlock, withoutThoughts } from './replies.ts';
import { Spending } from './spending.ts';
import type { Performed, ToolStep } from './tool-inputs.ts';
import { modelTools, performCall } from './tools.ts';
import { CUT, EMPTY, FALLS_BACK, nothingDone } from './words.ts';

/** Replies in a row that were cut, or empty, after which the model is taken to get no further. */
const MOST_CUT = 3;
const MOST_EMPTY = 2;

/** One rollout: asks the model, does what it says, until it says that it is done or something ends it. */
export class Work {
  readonly #steps: TrajectoryStep[] = [];
  readonly #spending: Spending;
  readonly #hands: Hands;
  readonly #conversation: Conversation;
  #opening: Opening = { offered: [], skill: null, notes: [] };
  #form: Form;
  /** It has called a tool; it has done anything at all; it has said anything at all. */
  #called = false;
  #acted = false;
  #spoke = false;
  #read = false;
  #wasAsked = false;
  #wasShortened = false;
  #cut = 0;
  #empty = 0;
  #finalText = '';

  constructor(
    private readonly run: AgentRun,
    private readonly model: Model,
    limits: AgentLimits,
  ) {
    this.#form = model.takesTools ? 'tools' : 'text';
    this.#spending = new Spending(limits, model.id);
    this.#hands = new Hands(run);
    this.#conversation = new Conversation(run.instruction);
  }

  /** Rejects only with what is a fault of this program. */
  async perform(): Promise<AgentEnd> {
    this.#steps.push({ kind: 'message', role: 'user', text: this.run.instruction });
    try {
      return (await this.#begin()) ?? (await this.#go());
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error;
      return this.#troubled('environment', error.message);
    }
  }

  async #begin(): Promise<AgentEnd | null> {
    const opened = await open(this.run, this.#hands);
    switch (opened.kind) {
      case 'over':
        return this.#late('');
      case 'unreadable':
        return { ...this.#troubled('skill-not-visible', opened.detail), read: false, visible: false };
      case 'opened': {
        this.#opening = opened.opening;
        const offered = offeredNote(opened.opening);
        for (const text of [...(offered === null ? [] : [offered]), ...opened.opening.notes]) this.#note(text);
        return null;
      }
      default:
        return opened satisfies never;
    }
  }

  async #go(): Promise<AgentEnd> {
    for (;;) {
      if (this.run.signal.aborted) return this.#late('');
      const reached = this.#spending.reached();
      if (reached !== null) return this.#stopped(reached);
      const unheld = this.#spending.unheld();
      if (unheld !== null) return this.#failed(unheld.failure);
      const answer = await ask(this.model, this.#request(), this.run);
      const end = await this.#take(answer);
      if (end !== null) return end;
    }
  }

  #request(): ModelRequest {
    return {
      system: systemText(this.#opening, this.#form),
      messages: this.#conversation.messages(),
      tools: this.#form === 'tools' ? modelTools : [],
      mustCall: null,
      maxOutputTokens: null,
      draw: this.run.draw ?? null,
    };
  }

  async #take(answer: Awaited<ReturnType<typeof ask>>): Promise<AgentEnd | null> {
    switch (answer.kind) {
      case 'over':
        this.#spending.add(unknownUsage);
        return this.#late(answer.said);
      case 'error':
        return this.#takeError(answer.error);
      case 'reply':
        return this.#takeReply(answer.reply);
      default:
        return answer satisfies never;
    }
  }

  /** Null = it is asked again, in another form. */
  #takeError(error: ModelError): AgentEnd | null {
    this.#spending.add(error.usage);
    const { failure } = error;
    const told = `${failure.what} (${failure.where})`;
    const trouble = troubleOf(error);
    switch (trouble.kind) {
      case 'unscored':
        return this.#troubled(trouble.reason, told);
      case 'too-long':
        return this.#shortened() ? null : this.#stopped(`The conversation is longer than the model takes: ${told}.`);
      case 'stop':
        return error.kind === 'bad-request' ? this.#refused(failure, told) : this.#failed(failure);
      default:
        return trouble satisfies never;
    }
  }

  /**
   * The first request with tools was refused: the server may take none. A later one: many servers say so when a
   * conversation has grown too long for the model.
   */
  #refused(failure: Failure, told: string): AgentEnd | null {
    if (this.#spending.replies > 0) return this.#shortened() ? null : this.#troubled('provider-error', told);
    if (this.#form === 'text') return this.#failed(failure);
    this.#form = 'text';
    const hint = 'with "tools": false of the model it is not asked for first';
    this.#note(`The server refused a request with tools: ${told}. The model works by commands in its text; ${hint}.`);
    return null;
  }

  #shortened(): boolean {
    const could = this.#conversation.shorten();
    if (could && !this.#wasShortened)
      this.#note('The conversation was longer than the model takes: outputs of commands were given up.');
    this.#wasShortened ||= could;
    return could;
  }

  async #takeReply(reply: ModelReply): Promise<AgentEnd | null> {
    this.#spending.replied(reply.usage);
    const text = reply.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const calls = reply.parts.filter((part) => part.kind === 'tool-call');
    const { thought, said } = withoutThoughts(text);
    if (thought !== '') this.#steps.push({ kind: 'thought', text: thought });
    const isCut = reply.stop === 'length';
    if (said.trim() === '' && calls.length === 0) return this.#takeNothing(reply);
    this.#spoke = true;
    this.#empty = 0;
    this.#conversation.said([...(said.trim() === '' ? [] : [{ kind: 'text', text: said } as const]), ...calls]);

    if (calls.length > 0) {
      this.#cut = 0;
      this.#says(said);
      const end = await this.#perform(calls);
      if (end === null && isCut) this.#conversation.tell(CUT);
      return end;
    }
    const block = this.#form === 'text' || !this.#called ? lastBlock(said) : null;
    if (block !== null && (block.closed || !isCut)) {
      this.#cut = 0;
      return this.#performBlock(block);
    }
    this.#says(said);
    if (reply.stop === 'refused') return this.#finished('The model declined.');
    if (isCut) return this.#takeCut();
    if (this.#acted || this.#wasAsked) return this.#finished(null);
    this.#wasAsked = true;
    this.#conversation.tell(nothingDone[this.#form]);
    return null;
  }

  async #perform(calls: readonly ToolCall[]): Promise<AgentEnd | null> {
    this.#called = true;
    for (const call of calls) {
      const performed = await performCall(this.#hands, call);
      const holdsSkill = this.#record(performed);
      if (performed.kind === 'over') return this.#late('');
      this.#conversation.result(call, { output: performed.step.output, isError: performed.isError, holdsSkill });
    }
    return null;
  }

  async #performBlock({ command, prose }: Block): Promise<AgentEnd | null> {
    this.#says(prose);
    const performed = await runBash(this.#hands, command);
    const holdsSkill = this.#record(performed);
    if (performed.kind === 'over') return this.#late('');
    const { output } = performed.step;
    if (this.#form === 'tools') {
      this.#note('The model called no tool and wrote its command into its text, so it works by commands there.');
      this.#form = 'text';
      this.#conversation.observed(`${FALLS_BACK}\n${output}`, holdsSkill);
    } else this.#conversation.observed(output, holdsSkill);
    return null;
  }

  /** Keeps the step, and says whether it showed the skill. */
  #record({ step }: Performed): boolean {
    this.#acted = true;
    if (step === null) return false;
    this.#steps.push(step);
    const holdsSkill = this.#shows(step);
    this.#read ||= holdsSkill;
    return holdsSkill;
  }

  #shows(step: ToolStep): boolean {
    const { skill } = this.#opening;
    if (skill === null) return false;
    if (skill.telling.length > 0) return shows(step.output, skill.telling);
    // nothing in it can be told from other texts: to have opened its file is all that can be seen
    return step.exitCode === 0 && step.input.includes(skill.file);
  }

  #takeNothing({ usage, stop }: ModelReply): AgentEnd | null {
    if (stop === 'refused') return this.#finished('The model declined.');
    if (usage.outputTokens === 0) return this.#troubled('provider-error', 'the reply is empty, and of no tokens');
    this.#conversation.said([]);
    if (stop === 'length') return this.#takeCut();
    this.#empty += 1;
    if (this.#empty < MOST_EMPTY) {
      this.#conversation.tell(EMPTY);
      return null;
    }
    if (this.#acted || this.#spoke) return this.#finished('The model said nothing more.');
    return this.#troubled('provider-error', 'every reply was empty');
  }

  #takeCut(): AgentEnd | null {
    this.#cut += 1;
    if (this.#cut >= MOST_CUT) return this.#stopped(`${MOST_CUT} replies in a row were cut at the limit of tokens.`);
    this.#conversation.tell(CUT);
    return null;
  }

  #says(text: string): void {
    if (text.trim() === '') return;
    this.#steps.push({ kind: 'message', role: 'agent', text });
    this.#finalText = text;
  }

  #note(text: string): void {
    this.#steps.push({ kind: 'note', text });
  }

  /** The model came to its end. */
  #finished(note: string | null): AgentEnd {
    if (note !== null) this.#note(note);
    return this.#end({});
  }

  /** Something of the agent's own doing ended it: the verifier looks at what it did. */
  #stopped(why: string): AgentEnd {
    this.#note(why);
    return this.#end({ exit: 'nonzero' });
  }

  #late(said: string): AgentEnd {
    const { thought, said: text } = withoutThoughts(said);
    if (thought !== '') this.#steps.push({ kind: 'thought', text: thought });
    if (said.trim() !== '') this.#spoke = true;
    this.#says(text);
    this.#note('The rollout was ended here: its time was up, or a limit was reached.');
    return this.#end({ exit: 'timeout' });
  }

  #troubled(reason: UnscoredReason, detail: string): AgentEnd {
    this.#note(`It ended here: ${detail}.`);
    return this.#end({ exit: 'crashed', trouble: { reason, detail } });
  }

  #failed(failure: Failure): AgentEnd {
    return this.#end({ exit: 'crashed', failure });
  }

  #end(more: Partial<AgentEnd>): AgentEnd {
    const { usage } = this.#spending;
    const hasSkill = this.#opening.skill !== null;
    return {
      exit: 'finished',
      trouble: null,
      steps: this.#steps,
      finalText: this.#finalText,
      usage,
      read: hasSkill ? this.#read : null,
      visible: hasSkill ? true : null,
      didWork: usage.outputTokens === null ? this.#acted || this.#spoke : usage.outputTokens > 0,
      ...more,
    };
  }
}
