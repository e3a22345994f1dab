import { type Usage, unknownUsage } from '../../../ports/usage.ts';
import type { CliOutput, CliReading, CliTrouble } from './cli-kind.ts';
import { amountOf, type Fields, fieldsOf, jsonEvents, listOf, sumOf, textOf } from './json-events.ts';
import { namesSkillFile, StepList } from './step-list.ts';
import { oneLine } from './trouble.ts';
import { resetOf } from './used-up.ts';

/**
 * What Claude Code's events (`--output-format stream-json`) say. Its last event is `result`; `subtype` there says `success`
 * of failed requests too, and `usage` on single answers is a placeholder.
 */
export function readClaudeCode({ stdout, skillName }: CliOutput): CliReading {
  const run = new ClaudeRun(skillName);
  for (const event of jsonEvents(stdout)) run.take(event);
  return run.reading();
}

/** How the body of a skill comes to the model: as a message of the user's, behind the tool's result. */
const skillOpened = 'Base directory for this skill:';

class ClaudeRun {
  readonly #list = new StepList();
  /** Calls that open the skill, and whether they have. */
  readonly #openings = new Set<string>();
  readonly #answers = new Set<string>();
  /** The call of the tool `Skill` whose body is still to come. */
  #opening: { readonly id: string; readonly output: string } | null = null;
  #lastText = '';
  #visible: boolean | null = null;
  #read = false;
  #usedUpUntil: string | undefined;
  /** A request is being made again: what it met. */
  #retrying: CliTrouble | null = null;
  #apiError: Fields = {};
  #result: Fields | null = null;

  constructor(private readonly skillName: string | null) {}

  take(event: Fields): void {
    switch (event.type) {
      case 'system':
        this.#system(event);
        break;
      case 'assistant':
        this.#answer(event);
        break;
      case 'user':
        this.#heard(event);
        break;
      case 'rate_limit_event':
        this.#window(fieldsOf(event.rate_limit_info));
        break;
      case 'result':
        this.#result = event;
        break;
    }
  }

  reading(): CliReading {
    const result = this.#result;
    const failed = result !== null && result.is_error === true;
    return {
      steps: this.#list.steps,
      finalText: result === null || failed ? this.#lastText : textOf(result.result),
      usage: result === null ? unknownUsage : usageOf(result, this.#answers.size),
      visible: this.#visible,
      read: this.#visible === null ? null : this.#read,
      trouble: result === null ? this.#retrying : failed ? this.#failure(result) : null,
      ended: result !== null,
    };
  }

  #system(event: Fields): void {
    if (event.subtype === 'init' && this.skillName !== null)
      this.#visible = listOf(event.skills).includes(this.skillName);
    if (event.subtype === 'api_retry') {
      const detail = retryWords(event);
      this.#list.note(`A request failed and is made again: ${detail}.`);
      this.#retrying = { kind: kindOf(event, textOf(event.error), '') ?? 'provider', detail };
    }
  }

  #answer(event: Fields): void {
    const message = fieldsOf(event.message);
    const blocks = listOf(message.content).map(fieldsOf);
    if (event.is_api_error_message === true || message.model === '<synthetic>') {
      this.#apiError = event;
      this.#list.note(oneLine(blocks.map((block) => textOf(block.text)).join(' ')));
      return;
    }
    this.#retrying = null;
    if (textOf(message.id) !== '') this.#answers.add(textOf(message.id));
    for (const block of blocks) {
      if (block.type === 'text') {
        this.#lastText = textOf(block.text);
        this.#list.said(this.#lastText);
      } else if (block.type === 'thinking') this.#list.thought(textOf(block.thinking));
      else if (block.type === 'tool_use') this.#called(textOf(block.id), textOf(block.name), block.input);
    }
  }

  #called(id: string, name: string, input: unknown): void {
    this.#list.toolCalled(id, name, input);
    if (this.skillName === null) return;
    const { skill, command, file_path } = fieldsOf(input);
    const opens =
      name === 'Skill'
        ? [skill, command].includes(this.skillName)
        : namesSkillFile(`${textOf(file_path)}\n${name === 'Bash' ? textOf(command) : ''}`, this.skillName);
    if (opens) this.#openings.add(id);
  }

  #heard(event: Fields): void {
    const { content } = fieldsOf(event.message);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
    for (const block of blocks) {
      if (block.type === 'tool_result') this.#toolDone(block, fieldsOf(event.tool_use_result));
      else if (block.type === 'text') this.#told(textOf(block.text));
    }
  }

  #toolDone(block: Fields, more: Fields): void {
    const id = textOf(block.tool_use_id);
    const output = contentText(block.content);
    const failed = block.is_error === true;
    const code = /^Exit code (\d+)/.exec(output)?.[1];
    const step = this.#list.toolDone(id, output, code === undefined || !failed ? null : Number(code));
    if (step?.name === 'Bash' && !failed && more.interrupted !== true) this.#list.toolDone(id, output, 0);
    if (step?.name === 'Skill') this.#opening = { id, output };
    else if (!failed && this.#openings.has(id)) this.#read = true;
  }

  /** What comes as the user's word beside the instruction: the body of a skill, or a reminder of the agent's own. */
  #told(text: string): void {
    if (this.#opening === null || !text.startsWith(skillOpened)) {
      this.#list.heard(text);
      return;
    }
    const { id, output } = this.#opening;
    this.#list.toolDone(id, [output, text].filter((part) => part !== '').join('\n\n'), null);
    if (this.#openings.has(id)) this.#read = true;
    this.#opening = null;
  }

  #window(info: Fields): void {
    if (info.status === 'rejected') this.#usedUpUntil = resetOf(info.resetsAt) ?? undefined;
  }

  #failure(result: Fields): CliTrouble {
    const words = oneLine(textOf(result.result) || listOf(result.errors).map(textOf).join(' · '));
    const why = textOf(result.terminal_reason);
    const subtype = textOf(result.subtype);
    const detail = words === '' ? why || subtype : words;
    if (/max_turns|budget|prompt_too_long/.test(`${why} ${subtype}`)) return { kind: 'limit', detail };
    const kind = kindOf({ ...this.#apiError, ...result }, textOf(this.#apiError.error), words);
    if (kind === null) return { kind: why === 'api_error' ? 'provider' : 'crash', detail };
    if (kind !== 'rate-limit' || this.#usedUpUntil === undefined) return { kind, detail };
    return { kind: 'quota', detail, resetsAt: this.#usedUpUntil };
  }
}

/** What the vendor's typed errors mean; `rate_limit` is told by its status and by what stands of a window beside it. */
const kindByName: Readonly<Record<string, CliTrouble['kind']>> = {
  authentication_failed: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  oauth_org_not_allowed: 'auth',
  account_on_hold: 'auth',
  verification_required: 'auth',
  cloud_credential_error: 'auth',
  billing_error: 'quota',
  rate_limit: 'rate-limit',
  rate_limit_error: 'rate-limit',
  model_not_found: 'model-not-found',
  not_found_error: 'model-not-found',
  overloaded: 'provider',
  server_error: 'provider',
  prompt_too_long: 'limit',
  request_too_large: 'limit',
};

const kindByStatus: Readonly<Record<number, CliTrouble['kind']>> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'model-not-found',
  413: 'limit',
  429: 'rate-limit',
};

/** Null = nothing typed: then it is known from elsewhere whether a request failed at all. */
function kindOf(event: Fields, error: string, words: string): CliTrouble['kind'] | null {
  if (/^Credit balance is too low/.test(words)) return 'quota';
  if (/^Prompt is too long/.test(words)) return 'limit';
  if (/^(Not logged in|Invalid API key|Please run \/login|OAuth (token|session))/.test(words)) return 'auth';
  const status = amountOf(event.api_error_status) ?? amountOf(event.error_status);
  for (const name of [error, textOf(event.api_error_type)]) {
    const kind = Object.hasOwn(kindByName, name) ? kindByName[name] : undefined;
    if (kind !== undefined && !(kind === 'provider' && status !== null)) return kind;
  }
  if (status === null) return null;
  return kindByStatus[status] ?? 'provider';
}

function retryWords(event: Fields): string {
  const status = amountOf(event.error_status);
  const error = textOf(event.error);
  const named = error === '' || error === 'unknown' ? 'no answer' : error.replaceAll('_', ' ');
  return status === null ? named : `${status} ${named}`;
}

/** By model, side requests included. It names a price for every model: for one that it does not know, a guess. */
function usageOf(result: Fields, answers: number): Usage {
  const models = Object.values(fieldsOf(result.modelUsage)).map(fieldsOf);
  const whole = fieldsOf(result.usage);
  const counts =
    models.length === 0
      ? {
          inputTokens: sumOf(whole.input_tokens, whole.cache_creation_input_tokens, whole.cache_read_input_tokens),
          outputTokens: amountOf(whole.output_tokens),
        }
      : {
          inputTokens: sumOf(
            ...models.flatMap((m) => [m.inputTokens, m.cacheReadInputTokens, m.cacheCreationInputTokens]),
          ),
          outputTokens: sumOf(...models.map((m) => m.outputTokens)),
        };
  const priced = models.every((model) => model.costBasis === undefined || model.costBasis === 'list');
  return {
    ...counts,
    costUsd: priced ? amountOf(result.total_cost_usd) : null,
    requests: answers === 0 ? null : answers,
  };
}

/** Content is a text or a list of parts; of a picture its kind alone is kept. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(fieldsOf)
    .map((part) => (part.type === 'text' ? textOf(part.text) : `[${textOf(part.type)}]`))
    .join('\n');
}
