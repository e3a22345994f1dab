import type { Preflight } from './preflight.ts';
import type { Usage } from './usage.ts';

/** One part of a message. */
export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'tool-result'; readonly id: string; readonly output: string; readonly isError: boolean };

export type ModelMessage = { readonly role: 'user' | 'assistant'; readonly parts: readonly ModelPart[] };

/** A tool that the model may call; `schema` is JSON Schema. */
export type ModelTool = { readonly name: string; readonly description: string; readonly schema: object };

export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Name of the one tool that must be called; null = the model's choice. */
  readonly mustCall: string | null;
  readonly maxOutputTokens: number;
};

export type ModelReply = {
  readonly parts: readonly ModelPart[];
  readonly stop: 'end' | 'tool' | 'length' | 'refused';
  readonly usage: Usage;
};

/** A model behind a provider. Errors are `SkilloptError`s with the provider's own code mapped at its edge. */
export interface Model extends Preflight {
  readonly id: string;
  performCompletion(
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly onText?: (piece: string) => void },
  ): Promise<ModelReply>;
}
