import { addUsage, noUsage, type Usage, unknownUsage } from '../../../ports/usage.ts';
import type { CliOutput, CliReading, CliTrouble } from './cli-kind.ts';
import { amountOf, exitCodeOf, type Fields, fieldsOf, jsonEvents, listOf, sumOf, textOf } from './json-events.ts';
import { namesSkillFile, StepList } from './step-list.ts';
import { crashOf, oneLine, troubleOf } from './trouble.ts';

/**
 * What pi's events (`--mode json`) say. Its exit code says nothing: a run whose every request failed ends with 0. Only
 * finished messages and tools are read; what streams before them says the same in pieces.
 */
export function readPi({ stdout, stderr, skillName }: CliOutput): CliReading {
  const events = jsonEvents(stdout);
  const run = new PiRun(skillName);
  for (const event of events) run.take(event);
  return run.reading(events.length === 0 ? crashOf(stderr) : null);
}

class PiRun {
  readonly #skillName: string | null;
  readonly #list = new StepList();
  readonly #spent: Usage[] = [];
  #requests = 0;
  #finalText = '';
  #visible: boolean | null = null;
  #read = false;
  #trouble: CliTrouble | null = null;
  #settled = false;
  #spoke = false;
  #instructed = false;

  constructor(skillName: string | null) {
    this.#skillName = skillName;
  }

  take(event: Fields): void {
    this.#spoke = true;
    switch (event.type) {
      case 'message_end':
        this.#message(fieldsOf(event.message));
        break;
      case 'tool_execution_start':
        this.#list.toolCalled(textOf(event.toolCallId), textOf(event.toolName), event.args);
        break;
      case 'tool_execution_end':
        this.#toolDone(event);
        break;
      case 'auto_retry_end':
        this.#trouble = event.success === false ? troubleOf(textOf(event.finalError)) : null;
        break;
      case 'compaction_end':
        this.#summedUp(event);
        break;
      case 'agent_settled':
        this.#settled = true;
    }
  }

  reading(crash: CliTrouble | null): CliReading {
    const tokens = this.#spent.length === 0 ? unknownUsage : this.#spent.reduce(addUsage, noUsage);
    return {
      steps: this.#list.steps,
      finalText: this.#finalText,
      usage: { ...tokens, requests: this.#spoke ? this.#requests : null },
      visible: this.#skillName === null ? null : this.#visible,
      read: this.#skillName === null || !this.#spoke ? null : this.#read,
      trouble: this.#trouble ?? crash,
      ended: this.#settled,
    };
  }

  #message(message: Fields): void {
    switch (message.role) {
      case 'system':
        this.#prompt(message);
        break;
      case 'user':
        // the first is the instruction, which is no step of the agent
        if (this.#instructed) this.#list.heard(contentText(message.content));
        this.#instructed = true;
        break;
      case 'assistant':
        this.#answer(message);
        break;
    }
  }

  /** The system text stands in the output by sections; skills have one of their own, where there are any. */
  #prompt(message: Fields): void {
    if (this.#visible !== null) return;
    const skills = textOf(fieldsOf(message.sections).skills);
    this.#visible =
      skills.includes(`<name>${this.#skillName}</name>`) || skills.includes(`/${this.#skillName}/SKILL.md</location>`);
  }

  #answer(message: Fields): void {
    const blocks = listOf(message.content).map(fieldsOf);
    for (const block of blocks) {
      if (block.type === 'text') this.#list.said(textOf(block.text));
      else if (block.type === 'thinking') this.#list.thought(textOf(block.thinking));
      else if (block.type === 'toolCall') this.#list.toolCalled(textOf(block.id), textOf(block.name), block.arguments);
    }
    const last = blocks.every((block) => block.type !== 'toolCall');
    this.#finalText = last ? contentText(blocks.filter((block) => block.type === 'text')) : '';
    const why = message.stopReason === 'error' ? textOf(message.errorMessage) : null;
    this.#trouble = why === null ? null : troubleOf(why);
    if (why !== null) this.#list.note(`Request failed: ${oneLine(why)}`);
    this.#requests++;
    this.#spend(fieldsOf(message.usage));
  }

  #toolDone(event: Fields): void {
    const id = textOf(event.toolCallId);
    this.#list.toolCalled(id, textOf(event.toolName), undefined);
    const result = fieldsOf(event.result);
    const exitCode = exitCodeOf(fieldsOf(result.structuredContent).exit_code);
    const step = this.#list.toolDone(id, contentText(result.content), exitCode);
    const reads = step?.name === 'read' || step?.name === 'bash';
    if (reads && event.isError === false && this.#skillName !== null)
      this.#read ||= namesSkillFile(step.input, this.#skillName);
    this.#spend(fieldsOf(result.usage));
  }

  #summedUp(event: Fields): void {
    const why = textOf(event.errorMessage);
    this.#list.note(why === '' ? 'The conversation was summed up to make room.' : `Summing up failed: ${oneLine(why)}`);
    this.#spend(fieldsOf(fieldsOf(event.result).usage));
  }

  /** A request that failed tells zeros: what it spent is not known and left out. */
  #spend(usage: Fields): void {
    const inputTokens = sumOf(usage.input, usage.cacheRead ?? 0, usage.cacheWrite ?? 0);
    const outputTokens = amountOf(usage.output);
    if (inputTokens === null || outputTokens === null || inputTokens + outputTokens === 0) return;
    // zero is the price of a model whose price it does not know
    const costUsd = amountOf(fieldsOf(usage.cost).total) || null;
    this.#spent.push({ inputTokens, outputTokens, costUsd, requests: null });
  }
}

/** Content is a text or a list of parts; of a picture its kind alone is kept. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(fieldsOf)
    .map((part) => (part.type === 'text' ? textOf(part.text) : `[${textOf(part.type)}]`))
    .join('\n');
}
