import type { ModelErrorKind, ModelReply } from '../ports/model.ts';
import { type Usage, unknownUsage } from '../ports/usage.ts';
import { kindOf } from './refusal.ts';

/** What the output of a command says. `failed` carries the program's own words. */
export type CommandOutput =
  | { readonly kind: 'answer'; readonly text: string; readonly stop: ModelReply['stop']; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly error: ModelErrorKind; readonly words: string; readonly usage: Usage }
  | { readonly kind: 'unreadable' };

/** A program that is known by its name. */
export type KnownCommand = {
  readonly command: readonly [string, ...string[]];
  readonly tellsCost: boolean;
  readonly tellsTokens: boolean;
  readonly read: (stdout: string) => CommandOutput;
};

/** Programs whose switches and outputs are known. They are started without tools, and keep no session. */
export const knownCommands: Readonly<Record<string, KnownCommand>> = {
  claude: {
    // biome-ignore format: a command line
    command: ['claude', '-p', '--output-format', 'json', '--tools', '', '--strict-mcp-config', '--no-session-persistence'],
    tellsCost: true,
    tellsTokens: true,
    read: readClaude,
  },
  codex: {
    command: ['codex', 'exec', '--json', '--ephemeral', '--skip-git-repo-check', '--sandbox', 'read-only', '-'],
    tellsCost: false,
    tellsTokens: true,
    read: readCodex,
  },
  pi: {
    // biome-ignore format: a command line
    command: ['pi', '-p', '--mode', 'json', '--no-session', '--no-tools', '--no-extensions', '--no-mcp', '--no-skills',
      '--no-prompt-templates', '--no-themes', '--no-context-files'],
    tellsCost: true,
    tellsTokens: true,
    read: readPi,
  },
};

/** A program of which nothing is known: what it writes is the answer. */
export const plainCommand: Omit<KnownCommand, 'command'> = {
  tellsCost: false,
  tellsTokens: false,
  read: (stdout) => ({ kind: 'answer', text: stdout.trimEnd(), stop: 'end', usage: unknownUsage }),
};

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The sum; unknown as soon as one part is. */
const sum = (parts: readonly (number | null)[]): number | null =>
  parts.reduce((a, b) => (a === null || b === null ? null : a + b), 0);

/** A cost of nothing beside tokens is a price that is not known. */
const priceOf = (costUsd: number | null, tokens: readonly unknown[]) =>
  costUsd === 0 && tokens.some((t) => (count(t) ?? 0) > 0) ? null : costUsd;

/** The JSON objects of the lines; lines that are none are notes of the program. */
function objects(stdout: string): readonly Fields[] {
  return stdout.split('\n').flatMap((line) => {
    if (!line.trimStart().startsWith('{')) return [];
    try {
      return [fields(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}

/** Reads `--output-format json` (and `stream-json`): the last object of type `result`. */
function readClaude(stdout: string): CommandOutput {
  const result = objects(stdout).findLast((o) => o.type === 'result');
  if (result === undefined) return { kind: 'unreadable' };
  const usage = claudeUsage(result);
  if (result.is_error !== true)
    return { kind: 'answer', text: text(result.result), stop: claudeStops[text(result.stop_reason)] ?? 'end', usage };
  const status = count(result.api_error_status);
  const names = [text(result.api_error_type)].filter((n) => n !== '');
  const error: ModelErrorKind =
    result.api_error === 'connection_failed'
      ? 'refused-connection'
      : status === null && names.length === 0
        ? 'command-failed'
        : kindOf({ status, names });
  return { kind: 'failed', error, words: text(result.result) || text(result.subtype), usage };
}

const claudeStops: Readonly<Record<string, ModelReply['stop']>> = { max_tokens: 'length', refusal: 'refused' };

/** Tokens over all models that it used. It prints a cost for any name: where it says that it guesses, none is known. */
function claudeUsage(result: Fields): Usage {
  const models = Object.values(fields(result.modelUsage)).map(fields);
  const told = fields(result.usage);
  const costUsd = models.some((m) => m.costBasis === 'unknown') ? null : count(result.total_cost_usd);
  return {
    inputTokens:
      models.length > 0
        ? sum(
            models.map((m) =>
              sum([count(m.inputTokens), ...[m.cacheReadInputTokens, m.cacheCreationInputTokens].map(orZero)]),
            ),
          )
        : sum([
            count(told.input_tokens),
            ...[told.cache_read_input_tokens, told.cache_creation_input_tokens].map(orZero),
          ]),
    outputTokens: models.length > 0 ? sum(models.map((m) => count(m.outputTokens))) : count(told.output_tokens),
    costUsd,
    requests: count(result.num_turns),
  };
}

const orZero = (value: unknown) => count(value) ?? 0;

/** Reads `codex exec --json`: the last message of the agent, and the usage of the turn. How it failed it says in words alone. */
function readCodex(stdout: string): CommandOutput {
  const events = objects(stdout);
  const failed = events.findLast((e) => e.type === 'turn.failed');
  if (failed !== undefined)
    return {
      kind: 'failed',
      error: 'command-failed',
      words: text(fields(failed.error).message),
      usage: unknownUsage,
    };
  const done = events.findLast((e) => e.type === 'turn.completed');
  if (done === undefined) return { kind: 'unreadable' };
  const messages = events.map((e) => fields(e.item)).filter((item) => item.type === 'agent_message');
  const told = fields(done.usage);
  return {
    kind: 'answer',
    text: text(messages.at(-1)?.text),
    stop: 'end',
    usage: {
      inputTokens: count(told.input_tokens),
      outputTokens: count(told.output_tokens),
      costUsd: null,
      requests: null,
    },
  };
}

/** Reads `pi --mode json`: its messages. It ends with code 0 when the API failed; the last message says so. */
function readPi(stdout: string): CommandOutput {
  const answers = objects(stdout)
    .filter((e) => e.type === 'message_end')
    .map((e) => fields(e.message))
    .filter((m) => m.role === 'assistant');
  const last = answers.at(-1);
  if (last === undefined) return { kind: 'unreadable' };
  const usages = answers.map((m) => fields(m.usage));
  const usage: Usage = {
    inputTokens: sum(usages.map((u) => sum([count(u.input), orZero(u.cacheRead), orZero(u.cacheWrite)]))),
    outputTokens: sum(usages.map((u) => count(u.output))),
    // a model without a price in its list counts as free
    costUsd: sum(usages.map((u) => priceOf(count(fields(u.cost).total), [u.input, u.output]))),
    requests: answers.length,
  };
  if (last.stopReason === 'error' || last.stopReason === 'aborted')
    return { kind: 'failed', error: 'command-failed', words: text(last.errorMessage), usage };
  const parts = Array.isArray(last.content) ? last.content.map(fields) : [];
  return {
    kind: 'answer',
    text: parts
      .filter((p) => p.type === 'text')
      .map((p) => text(p.text))
      .join(''),
    stop: last.stopReason === 'length' ? 'length' : 'end',
    usage,
  };
}
