import type { Failure } from './failure.ts';
import type { Preflight } from './preflight.ts';
import type { Usage } from './usage.ts';

/** One part of a message. */
export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'tool-result'; readonly id: string; readonly output: string; readonly isError: boolean };

export type ModelMessage = { readonly role: 'user' | 'assistant'; readonly parts: readonly ModelPart[] };

/** A tool that the model may call; `schema` is JSON Schema of an object. */
export type ModelTool = { readonly name: string; readonly description: string; readonly schema: object };

export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Name of the one tool that must be called; null = the model's choice. */
  readonly mustCall: string | null;
  /** Most tokens of the answer; null = as the model's settings have it. */
  readonly maxOutputTokens: number | null;
  /** Number of the draw, for servers that take one: alike requests with another number are drawn anew. Null = none. */
  readonly draw: number | null;
};

/**
 * `stop` is why the model ended: `length` = its answer was cut at a limit, `refused` = the provider or the model
 * declined. A cut tool call is no part of the reply.
 */
export type ModelReply = {
  readonly parts: readonly ModelPart[];
  readonly stop: 'end' | 'tool' | 'length' | 'refused';
  readonly usage: Usage;
};

/** What went wrong with a call, told by status, code and type, never by the words of a message. */
export const modelErrorKinds = [
  'rate-limit',
  'overloaded',
  'auth',
  'quota',
  'model-not-found',
  'context-too-long',
  'bad-request',
  'server',
  'refused-connection',
  'cut-off',
  'silent',
  'bad-reply',
  'command-failed',
] as const;
export type ModelErrorKind = (typeof modelErrorKinds)[number];

/** A call that gave no reply. What it cost all the same stands in `usage`. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(
    readonly kind: ModelErrorKind,
    /** What failed, where, and the fix. `retryable` = the same call may succeed later. */
    readonly failure: Failure,
    readonly usage: Usage,
    /** Milliseconds after which the provider wants to be asked again; null = it did not say. */
    readonly retryAfterMs: number | null = null,
    options?: { readonly cause?: unknown },
  ) {
    super(`${failure.what} (${failure.where})`, options);
  }
}

/** A wait between two tries of one call, for people: try `n` of `of` follows in `ms` milliseconds. */
export type ModelWait = { readonly why: string; readonly n: number; readonly of: number; readonly ms: number };

export type ModelCallOptions = {
  readonly signal: AbortSignal;
  readonly onText?: (piece: string) => void;
  readonly onWait?: (wait: ModelWait) => void;
};

/** A model behind a provider. Throws `ModelError`, or the signal's reason when it was aborted. */
export interface Model extends Preflight {
  /** As a person names it, `provider/model`. */
  readonly id: string;
  /** Whether it takes tools; false = ask for text alone. */
  readonly takesTools: boolean;
  /** Whether the cost of a reply can be told; false = its `costUsd` is always null. */
  readonly hasPrice: boolean;
  performCompletion(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
}
