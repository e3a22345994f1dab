import type { Failure } from '../ports/failure.ts';
import { type Model, ModelError, type ModelReply, type ModelRequest, type ModelTool } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';

/** How a short real call came out, by what was answered. */
export type RoundTripAnswer =
  /** What was asked for. */
  | { readonly kind: 'right' }
  /** Something else; with a tool: the tool was called all the same. */
  | { readonly kind: 'other'; readonly said: string }
  /** A text in place of the call of a tool. */
  | { readonly kind: 'no-call'; readonly said: string }
  | { readonly kind: 'nothing' }
  /** `refused`: the request itself was, which another form of it may mend. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly refused: boolean };

/** One short real call of a model, with what it took. */
export type RoundTrip = {
  readonly model: string;
  readonly answer: RoundTripAnswer;
  readonly usage: Usage;
  readonly durationMs: number;
};

/** What the check says of itself; servers of tests know it by that. */
export const ROUND_TRIP_SYSTEM =
  'This is a check of the connection, before the work begins. Do what the message asks, and nothing else.';

/** The words that may be asked for: short, and in every model’s vocabulary. */
const words = ['harbor', 'lantern', 'copper', 'meadow', 'pepper', 'violin', 'candle', 'granite', 'walnut', 'ribbon'];

/** The word that a session asks for; always the same for one session. */
export function wordOf(session: string): string {
  const sum = [...session].reduce((s, c) => (s * 31 + (c.codePointAt(0) ?? 0)) % 65_521, 7);
  return words[sum % words.length] ?? 'harbor';
}

/** The request: one word, or one call of the tool with the word in it. */
export function roundTripRequest(word: string, tool: ModelTool | null): ModelRequest {
  const text =
    tool === null
      ? `Answer with this one word: ${word}`
      : `Call the tool ${tool.name} once, with no edits and with this one word as its summary: ${word}`;
  return {
    system: ROUND_TRIP_SYSTEM,
    messages: [{ role: 'user', parts: [{ kind: 'text', text }] }],
    tools: tool === null ? [] : [tool],
    mustCall: null,
    maxOutputTokens: null,
    draw: null,
  };
}

/**
 * Asks a model once and looks at what it says. Never throws for what went wrong with the call; throws the signal's
 * reason when it was aborted.
 */
export async function roundTrip(
  model: Model,
  o: {
    readonly word: string;
    readonly tool: ModelTool | null;
    readonly signal: AbortSignal;
    readonly now: () => number;
  },
): Promise<RoundTrip> {
  const startedAt = o.now();
  const told = (answer: RoundTripAnswer, usage: Usage): RoundTrip => ({
    model: model.id,
    answer,
    usage,
    durationMs: o.now() - startedAt,
  });
  try {
    const reply = await model.performCompletion(roundTripRequest(o.word, o.tool), { signal: o.signal });
    return told(answerOf(reply, o.word, o.tool), reply.usage);
  } catch (error) {
    o.signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    const refused = error.kind === 'bad-request';
    return told({ kind: 'failed', failure: error.failure, refused }, error.usage);
  }
}

/** Is it what was asked for? Case and what stands around the word are no matter. */
export function answerOf({ parts, stop }: ModelReply, word: string, tool: ModelTool | null): RoundTripAnswer {
  const text = parts
    .map((p) => (p.kind === 'text' ? p.text : ''))
    .join('')
    .trim();
  const has = (said: string) => said.toLowerCase().includes(word);
  if (tool !== null) {
    const call = parts.find((p) => p.kind === 'tool-call' && p.name === tool.name);
    if (call?.kind === 'tool-call') {
      const input = JSON.stringify(call.input) ?? '';
      return has(input) ? { kind: 'right' } : { kind: 'other', said: input };
    }
    if (text !== '') return { kind: 'no-call', said: text };
    return parts.length > 0 ? { kind: 'no-call', said: 'a call of another tool' } : { kind: 'nothing' };
  }
  if (has(text)) return { kind: 'right' };
  if (text !== '') return { kind: 'other', said: text };
  if (stop === 'refused') return { kind: 'other', said: '(it declined)' };
  return stop === 'length' ? { kind: 'other', said: '(it was cut at its limit of tokens)' } : { kind: 'nothing' };
}
