import { type Protocol, type TokenCounts, unknownCounts } from '../ports/gateway.ts';

// What the usage objects of the APIs say. Any field may be missing, or of another kind than the API has it.

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;

/**
 * Messages: the counts of the start (`start` null), or those of the end over them; of a whole answer over unknown ones.
 * The start's count of output tokens is a placeholder. `input_tokens` leaves out what the cache had a part in.
 */
export function messagesCounts(usage: unknown, start: TokenCounts | null): TokenCounts {
  const told = fields(usage);
  const read = count(told.cache_read_input_tokens) ?? start?.cacheReadTokens ?? 0;
  const written = count(told.cache_creation_input_tokens) ?? start?.cacheWriteTokens ?? 0;
  const input = count(told.input_tokens);
  return {
    inputTokens: input === null ? (start?.inputTokens ?? null) : input + read + written,
    outputTokens: start === null ? null : count(told.output_tokens),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    cacheWriteHourTokens:
      count(fields(told.cache_creation).ephemeral_1h_input_tokens) ?? start?.cacheWriteHourTokens ?? 0,
    toldUsd: null,
  };
}

/**
 * Chat Completions. A prompt of no tokens is a count that was not made, and so is nothing written beside it. Some
 * services leave reasoning out of the completion; the total has it.
 */
export function chatCounts(usage: unknown): TokenCounts {
  const told = fields(usage);
  const details = fields(told.prompt_tokens_details);
  return {
    ...inAndOut(count(told.prompt_tokens), count(told.completion_tokens), count(told.total_tokens)),
    cacheReadTokens: count(details.cached_tokens) ?? count(told.prompt_cache_hit_tokens) ?? 0,
    cacheWriteTokens: count(details.cache_write_tokens) ?? 0,
    toldUsd: count(told.cost),
  };
}

/** Responses: the same under other names. */
function responsesCounts(usage: unknown): TokenCounts {
  const told = fields(usage);
  const details = fields(told.input_tokens_details);
  return {
    ...inAndOut(count(told.input_tokens), count(told.output_tokens), count(told.total_tokens)),
    cacheReadTokens: count(details.cached_tokens) ?? 0,
    cacheWriteTokens: count(details.cache_write_tokens) ?? 0,
    toldUsd: count(told.cost),
  };
}

/** Gemini: a count of 0 is left out; thoughts stand beside the candidates, what tools brought beside the prompt. */
function geminiCounts(usage: unknown): TokenCounts {
  const told = fields(usage);
  const prompt = count(told.promptTokenCount);
  const input = prompt === null ? null : prompt + (count(told.toolUsePromptTokenCount) ?? 0);
  const written = (count(told.candidatesTokenCount) ?? 0) + (count(told.thoughtsTokenCount) ?? 0);
  return {
    ...inAndOut(input, input === null ? null : written, count(told.totalTokenCount)),
    cacheReadTokens: count(told.cachedContentTokenCount) ?? 0,
  };
}

function inAndOut(told: number | null, written: number | null, total: number | null): TokenCounts {
  const input = told || null;
  const output = input === null && written === 0 ? null : written;
  return {
    ...unknownCounts,
    inputTokens: input,
    outputTokens: output === null || input === null || total === null ? output : Math.max(output, total - input),
  };
}

/** See `Upstream.counts`. */
export function toldCounts(protocol: Protocol, usage: unknown, before: TokenCounts | null): TokenCounts {
  switch (protocol) {
    case 'messages':
      return messagesCounts(usage, before);
    case 'chat':
      return chatCounts(usage);
    case 'responses':
      return responsesCounts(usage);
    case 'gemini':
      return geminiCounts(usage);
    default:
      return protocol satisfies never;
  }
}
