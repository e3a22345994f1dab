import { type Usage, unknownUsage } from '../../../ports/usage.ts';
import type { CliOutput, CliReading, CliTrouble } from './cli-kind.ts';
import { amountOf, type Fields, fieldsOf, jsonEvents, textOf } from './json-events.ts';
import { namesSkillFile, StepList } from './step-list.ts';
import { crashOf, oneLine, troubleOf } from './trouble.ts';

/**
 * What gemini-cli's events (`--output-format stream-json`) say. Answers come in pieces. While it asks again and again it
 * writes no event: then the last failed attempt on stderr is what kept it.
 */
export function readGemini({ stdout, stderr, skillName }: CliOutput): CliReading {
  const events = jsonEvents(stdout);
  const run = new GeminiRun(skillName);
  for (const event of events) run.take(event);
  return run.reading(events.length, stderr);
}

class GeminiRun {
  readonly #skillName: string | null;
  readonly #list = new StepList();
  readonly #skillCalls = new Map<string, boolean>();
  #pieces = '';
  #finalText = '';
  #acted = false;
  #instructed = false;
  #read = false;
  #result: Fields | null = null;

  constructor(skillName: string | null) {
    this.#skillName = skillName;
  }

  take(event: Fields): void {
    if (event.type === 'message' && event.role === 'assistant') {
      this.#acted = true;
      this.#pieces += textOf(event.content);
      return;
    }
    this.#said();
    switch (event.type) {
      case 'message':
        // the first is the instruction, which is no step of the agent
        if (this.#instructed) this.#list.heard(textOf(event.content));
        this.#instructed = true;
        break;
      case 'tool_use':
        this.#acted = true;
        this.#finalText = '';
        this.#toolCalled(textOf(event.tool_id), textOf(event.tool_name), fieldsOf(event.parameters));
        break;
      case 'tool_result':
        this.#toolDone(event);
        break;
      case 'error':
        this.#list.note(oneLine(textOf(event.message)));
        break;
      case 'result':
        this.#result = event;
    }
  }

  reading(events: number, stderr: string): CliReading {
    this.#said();
    const tellsSkill = this.#skillName !== null && events > 0;
    return {
      steps: this.#list.steps,
      finalText: this.#finalText,
      usage: spentIn(this.#result),
      visible: tellsSkill && this.#read ? true : null,
      read: tellsSkill ? this.#read : null,
      trouble: events === 0 ? silentEnd(stderr) : this.#trouble(stderr),
      ended: this.#result !== null,
    };
  }

  /** The pieces so far are one message, and the last words if no call follows. */
  #said(): void {
    if (this.#pieces === '') return;
    this.#list.said(this.#pieces);
    this.#finalText = this.#pieces;
    this.#pieces = '';
  }

  #toolCalled(id: string, name: string, parameters: Fields): void {
    this.#list.toolCalled(id, name, parameters);
    if (this.#skillName === null) return;
    const opens =
      name === 'activate_skill'
        ? parameters.name === this.#skillName
        : ['read_file', 'run_shell_command'].includes(name) &&
          namesSkillFile(textOf(parameters.command) || textOf(parameters.file_path), this.#skillName);
    this.#skillCalls.set(id, opens);
  }

  /** A shell's command that failed is a success to it, and has no exit code. */
  #toolDone(event: Fields): void {
    const id = textOf(event.tool_id);
    const output = textOf(event.output) || textOf(fieldsOf(event.error).message);
    const step = this.#list.toolDone(id, output, null);
    if (event.status !== 'success') return;
    const byFolder =
      step?.name === 'activate_skill' && this.#skillName !== null && output.includes(`/skills/${this.#skillName}\``);
    if (byFolder || this.#skillCalls.get(id) === true) this.#read = true;
  }

  /** An empty answer ends as an error without one: that is no trouble, but an answer. */
  #trouble(stderr: string): CliTrouble | null {
    if (this.#result === null) return this.#acted ? null : lastAttempt(stderr);
    const error = fieldsOf(this.#result.error);
    const message = textOf(error.message);
    if (this.#result.status !== 'error' || message === '') return null;
    if (error.type === 'FatalTurnLimitedError') return { kind: 'limit', detail: oneLine(message) };
    const said = message.replace(/^\[API Error: /, '');
    return troubleOf(said.replace(/\](?=\s|$)/, ''), statusIn(stderr));
  }
}

function spentIn(result: Fields | null): Usage {
  const stats = fieldsOf(result?.stats);
  const inputTokens = amountOf(stats.input_tokens);
  const outputTokens = amountOf(stats.output_tokens);
  // a run whose every request failed tells zeros
  if (inputTokens === null || outputTokens === null || inputTokens + outputTokens === 0) return unknownUsage;
  // what was thought stands in the total alone
  const rest = (amountOf(stats.total_tokens) ?? 0) - inputTokens;
  return { inputTokens, outputTokens: Math.max(outputTokens, rest), costUsd: null, requests: null };
}

/** Some messages have lost their status: the report of the error on stderr has it. */
function statusIn(stderr: string): number | null {
  const reportAt = stderr.lastIndexOf('Error when talking to Gemini API');
  const report = reportAt < 0 ? '' : stderr.slice(reportAt);
  const [, status] = /^\s*(?:cause: \{ )?(?:status|code): (\d{3})\b/m.exec(report) ?? [];
  return status === undefined ? null : Number(status);
}

/** It ended before it began. */
function silentEnd(stderr: string): CliTrouble | null {
  const [, refused] = /^Error authenticating: (.*)$/m.exec(stderr) ?? [];
  return refused === undefined ? crashOf(stderr) : { kind: 'auth', detail: oneLine(refused) };
}

function lastAttempt(stderr: string): CliTrouble | null {
  const line = stderr.split('\n').findLast((l) => /^Attempt \d+ failed/.test(l));
  if (line === undefined) return null;
  const [, status] = /^Attempt \d+ failed with status (\d{3})/.exec(line) ?? [];
  const said = line.replace(/^.*?Retrying with backoff\.\.\. /, '');
  return troubleOf(said, status === undefined ? null : Number(status));
}
