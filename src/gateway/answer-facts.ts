import type { Protocol } from '../ports/gateway.ts';

/** What one event, or a whole answer, tells. */
export type Facts = {
  /** The usage object; `part`: `start` = at the beginning of an answer, `end` = so far or at its end. */
  readonly usage?: { readonly told: unknown; readonly part: 'start' | 'end' };
  /** The model has told why it ended. */
  readonly ended?: boolean;
  /** The server failed, in the form of an error's body. */
  readonly error?: unknown;
  /** Characters that the model wrote. */
  readonly chars?: number;
  /** Something is paid beside tokens: a search, a run of code at the provider. */
  readonly beyondTokens?: boolean;
};

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : []);
const present = (value: unknown): boolean => value !== undefined && value !== null;

/** The sum of the lengths of all texts. */
function lengthOf(...values: readonly unknown[]): number {
  let sum = 0;
  for (const value of values)
    if (typeof value === 'string') sum += value.length;
    else if (typeof value === 'object' && value !== null) sum += lengthOf(...Object.values(value));
  return sum;
}

/** What an event of a streamed answer tells; null = it is none of this API. */
export function eventFacts(protocol: Protocol, event: unknown): Facts | null {
  if (typeof event !== 'object' || event === null) return null;
  if (fields(event).error) return { error: event };
  switch (protocol) {
    case 'messages':
      return messagesEvent(fields(event));
    case 'chat':
      return chatEvent(fields(event));
    case 'responses':
      return responsesEvent(fields(event));
    case 'gemini':
      return geminiPart(fields(event));
    default:
      return protocol satisfies never;
  }
}

/** What an answer that came whole tells; null = it is none of this API. */
export function wholeFacts(protocol: Protocol, answer: unknown): Facts | null {
  if (protocol === 'gemini' && Array.isArray(answer)) return joined(answer);
  const body = fields(answer);
  if (body.error) return { error: body };
  switch (protocol) {
    case 'messages':
      return Array.isArray(body.content)
        ? { ...messagesEnd(body.usage), ended: true, chars: lengthOf(texts(body.content)) }
        : null;
    case 'chat':
      return Array.isArray(body.choices) ? chatWhole(body) : null;
    case 'responses':
      return Array.isArray(body.output) ? responsesEnd(body, lengthOf(texts(body.output))) : null;
    case 'gemini':
      return geminiPart(body);
    default:
      return protocol satisfies never;
  }
}

function messagesEvent(event: Fields): Facts {
  switch (event.type) {
    case 'message_start': {
      const { usage } = fields(event.message);
      return present(usage) ? { usage: { told: usage, part: 'start' } } : {};
    }
    case 'content_block_delta': {
      const { text, thinking, partial_json } = fields(event.delta);
      return { chars: lengthOf(text, thinking, partial_json) };
    }
    case 'message_delta':
      return {
        ...(present(event.usage) ? messagesEnd(event.usage) : {}),
        ...(present(fields(event.delta).stop_reason) ? { ended: true } : {}),
      };
    case 'message_stop':
      return { ended: true };
    case 'error':
      return { error: {} };
    default:
      return {};
  }
}

function messagesEnd(usage: unknown): Facts {
  const tools = Object.values(fields(fields(usage).server_tool_use));
  const beyondTokens = tools.some((n) => typeof n === 'number' && n > 0);
  return { usage: { told: usage, part: 'end' }, ...(beyondTokens ? { beyondTokens } : {}) };
}

/** What servers say when they broke off by themselves. */
const brokeOff: readonly unknown[] = ['error', 'abort'];

function chatEvent(event: Fields): Facts {
  const choices = list(event.choices);
  const usage = present(event.usage) ? { usage: { told: event.usage, part: 'end' as const } } : {};
  const ended = choices.some((c) => present(c.finish_reason) && !brokeOff.includes(c.finish_reason));
  const chars = lengthOf(...choices.map((c) => texts(c.delta)));
  return { ...usage, ...(ended ? { ended } : {}), chars };
}

function chatWhole(body: Fields): Facts {
  const usage = present(body.usage) ? { usage: { told: body.usage, part: 'end' as const } } : {};
  return { ...usage, ended: true, chars: lengthOf(...list(body.choices).map((c) => texts(c.message))) };
}

function responsesEvent(event: Fields): Facts {
  switch (event.type) {
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return responsesEnd(fields(event.response), 0);
    case 'error':
      return { error: { error: event } };
    default:
      return typeof event.delta === 'string' ? { chars: event.delta.length } : {};
  }
}

/** Tools that run at the provider have prices of their own. */
const ownTools = /^(web_search|file_search|code_interpreter|image_generation|computer)\w*_call$/;

function responsesEnd(response: Fields, chars: number): Facts {
  const beyondTokens = list(response.output).some((item) => ownTools.test(String(item.type)));
  return {
    ...(present(response.usage) ? { usage: { told: response.usage, part: 'end' } } : {}),
    ...(response.status === 'failed' ? { error: { error: response.error ?? {} } } : {}),
    ended: true,
    ...(beyondTokens ? { beyondTokens } : {}),
    chars,
  };
}

function geminiPart(part: Fields): Facts | null {
  const candidates = list(part.candidates);
  const blocked = present(fields(part.promptFeedback).blockReason);
  if (!Array.isArray(part.candidates) && !blocked && !present(part.usageMetadata)) return null;
  const searched = candidates.some((c) => list(fields(c.groundingMetadata).groundingChunks).length > 0);
  return {
    ...(present(part.usageMetadata) ? { usage: { told: part.usageMetadata, part: 'end' } } : {}),
    ...(blocked || candidates.some((c) => present(c.finishReason)) ? { ended: true } : {}),
    ...(searched ? { beyondTokens: true } : {}),
    chars: lengthOf(...candidates.map((c) => texts(fields(c.content).parts))),
  };
}

/** The parts of an answer that came as one list: the last usage stands for all. */
function joined(parts: readonly unknown[]): Facts | null {
  const known = parts.map((part) => eventFacts('gemini', part)).filter((facts) => facts !== null);
  if (known.length === 0) return null;
  return { ...Object.assign({}, ...known), chars: known.reduce((sum, { chars = 0 }) => sum + chars, 0) } as Facts;
}

/** Names and marks that no model has written. */
const notWritten = new Set([
  'id',
  'type',
  'role',
  'call_id',
  'status',
  'object',
  'signature',
  'encrypted_content',
  'thoughtSignature',
]);

function texts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(texts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, inner]) => (notWritten.has(key) ? null : texts(inner)));
}
