import { type Usage, unknownUsage } from '../../../ports/usage.ts';
import type { CliOutput, CliReading, CliTrouble } from './cli-kind.ts';
import { amountOf, exitCodeOf, type Fields, fieldsOf, jsonEvents, jsonWithin, listOf, textOf } from './json-events.ts';
import { namesSkillFile, StepList } from './step-list.ts';
import { oneLine, troubleOf } from './trouble.ts';

/**
 * What Codex's events (`exec --json`) say. It ends with `turn.completed` or `turn.failed`; an item of the type `error` is
 * a warning. It does not tell which skills it offers, and opens one by a command that names its file.
 */
export function readCodex({ stdout, stderr, skillName }: CliOutput): CliReading {
  const run = new CodexRun(skillName);
  for (const event of jsonEvents(stdout)) run.take(event);
  return run.reading(notLoaded(stderr, skillName));
}

class CodexRun {
  readonly #list = new StepList();
  #finalText = '';
  #usage: Usage = unknownUsage;
  #began = false;
  #read = false;
  /** The last error of a request that nothing has followed. */
  #met: string | null = null;
  #failed: string | null = null;
  #ended = false;

  constructor(private readonly skillName: string | null) {}

  take(event: Fields): void {
    switch (event.type) {
      case 'thread.started':
        this.#began = true;
        break;
      case 'item.started':
      case 'item.updated':
        this.#item(fieldsOf(event.item), false);
        break;
      case 'item.completed':
        this.#item(fieldsOf(event.item), true);
        break;
      case 'error':
        this.#met = textOf(event.message);
        break;
      case 'turn.completed':
        this.#met = null;
        this.#ended = true;
        this.#usage = usageOf(fieldsOf(event.usage));
        break;
      case 'turn.failed':
        this.#ended = true;
        this.#failed = textOf(fieldsOf(event.error).message) || (this.#met ?? '');
        break;
    }
  }

  reading(isNotLoaded: boolean): CliReading {
    const why = this.#failed ?? (this.#ended ? null : this.#met);
    const canTell = this.skillName !== null && this.#began;
    return {
      steps: this.#list.steps,
      finalText: this.#finalText,
      usage: this.#usage,
      visible: canTell ? (isNotLoaded ? false : this.#read || null) : null,
      read: canTell ? this.#read : null,
      trouble: why === null ? null : codexTrouble(why),
      ended: this.#ended,
    };
  }

  #item(item: Fields, done: boolean): void {
    const id = textOf(item.id);
    if (item.type !== 'error') this.#met = null;
    switch (item.type) {
      case 'agent_message':
        if (!done) break;
        this.#finalText = textOf(item.text);
        this.#list.said(this.#finalText);
        break;
      case 'reasoning':
        if (done) this.#list.thought(textOf(item.text));
        break;
      case 'command_execution':
        this.#command(id, item, done);
        break;
      case 'file_change':
        this.#list.toolCalled(id, 'apply_patch', changesText(item.changes));
        if (done) this.#list.toolDone(id, textOf(item.status), null);
        break;
      case 'mcp_tool_call':
        this.#list.toolCalled(id, `${textOf(item.server)}.${textOf(item.tool)}`, item.arguments);
        if (done) this.#list.toolDone(id, mcpText(item), null);
        break;
      case 'web_search':
        this.#list.toolCalled(id, 'web_search', textOf(item.query));
        break;
      case 'todo_list':
        if (done) this.#list.note(todoText(item.items));
        break;
      case 'error':
        if (done) this.#warned(textOf(item.message));
        break;
      default:
        this.#other(id, item, done);
    }
  }

  /** What it may do beside, such as sending an agent of its own: as it told it. */
  #other(id: string, { id: _, type, status, ...what }: Fields, done: boolean): void {
    if (textOf(type) === '') return;
    this.#list.toolCalled(id, textOf(type), what);
    if (done) this.#list.toolDone(id, textOf(status), null);
  }

  /** That it does not know a model is so for each that is no vendor's own. */
  #warned(message: string): void {
    if (!message.startsWith('Model metadata for ')) this.#list.note(oneLine(message));
  }

  #command(id: string, item: Fields, done: boolean): void {
    this.#list.toolCalled(id, 'shell', { command: textOf(item.command) });
    if (!done) return;
    const output = textOf(item.aggregated_output);
    const code = exitCodeOf(item.exit_code);
    this.#list.toolDone(id, output, code);
    if (this.skillName !== null && code === 0 && output.trim() !== '')
      this.#read ||= namesSkillFile(textOf(item.command), this.skillName);
  }
}

/** It says on stderr when it can't load a skill. */
function notLoaded(stderr: string, skillName: string | null): boolean {
  if (skillName === null) return false;
  return stderr.split('\n').some((line) => /failed to load skill/i.test(line) && namesSkillFile(line, skillName));
}

/** Its messages wrap statuses in words of its own; a body comes as it is. */
function codexTrouble(message: string): CliTrouble {
  const said = message
    .replace(/^Reconnecting\.\.\. (?:\d+\/\d+|waiting for network) \((.*)\)$/s, '$1')
    // the rollout's own way to its model
    .replace(/, url: https?:\/\/\S+/, '');
  const detail = oneLine(said);
  if (/ran out of room in the model's context window/.test(said)) return { kind: 'limit', detail };
  if (/^Quota exceeded\.|hit your usage limit|To use Codex with your ChatGPT plan/.test(said.replaceAll('’', "'")))
    return { kind: 'quota', detail };
  if (/access token could not be refreshed|sign in again|auth is missing/i.test(said)) return { kind: 'auth', detail };
  if (/^The model .{0,200} does not exist/.test(said)) return { kind: 'model-not-found', detail };
  const status = /(?:unexpected status|last status:) (\d{3})/.exec(said)?.[1];
  const told = troubleOf(said, status === undefined ? null : Number(status));
  return jsonWithin(said) === null ? { ...told, detail } : told;
}

function usageOf(usage: Fields): Usage {
  return {
    inputTokens: amountOf(usage.input_tokens),
    outputTokens: amountOf(usage.output_tokens),
    costUsd: null,
    requests: null,
  };
}

function changesText(changes: unknown): string {
  const lines = listOf(changes).map(fieldsOf);
  return lines.map(({ kind, path }) => `${textOf(kind)} ${textOf(path)}`).join('\n');
}

function mcpText(item: Fields): string {
  const error = textOf(fieldsOf(item.error).message);
  if (error !== '') return error;
  const parts = listOf(fieldsOf(item.result).content).map(fieldsOf);
  return parts.map((part) => (part.type === 'text' ? textOf(part.text) : `[${textOf(part.type)}]`)).join('\n');
}

function todoText(items: unknown): string {
  return listOf(items)
    .map(fieldsOf)
    .map(({ completed, text }) => `${completed === true ? '[x]' : '[ ]'} ${textOf(text)}`)
    .join('\n');
}
