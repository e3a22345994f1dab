import { type TokenCounts, unknownCounts } from '../ports/gateway.ts';
import type { ModelCallOptions, ModelPart, ModelReply } from '../ports/model.ts';

type Stop = ModelReply['stop'];

/** An answer as it grows. What stands in it when the model has told why it ended is the reply. */
export class Draft {
  counts: TokenCounts = unknownCounts;
  /** Requests sent for it. */
  requests = 1;
  #text = '';
  #stop: Stop | null = null;
  readonly #calls: Extract<ModelPart, { kind: 'tool-call' }>[] = [];

  constructor(private readonly options: Pick<ModelCallOptions, 'signal' | 'onText'>) {}

  /** Whether the model has told why it ended. */
  get ended(): boolean {
    return this.#stop !== null;
  }

  /** Who has cancelled hears nothing more. */
  addText(piece: string): void {
    if (piece === '' || this.options.signal.aborted) return;
    this.#text += piece;
    this.options.onText?.(piece);
  }

  /** Adds a whole call. One whose input is no JSON object was cut or is broken: it is no part of the reply. */
  addCall(id: string, name: string, input: string): void {
    const value = toolInput(input);
    if (value === null || name === '') return;
    this.#calls.push({ kind: 'tool-call', id: id === '' ? `call_${this.#calls.length + 1}` : id, name, input: value });
  }

  end(stop: Stop): void {
    this.#stop = stop;
  }

  parts(): readonly ModelPart[] {
    return [...(this.#text === '' ? [] : [{ kind: 'text' as const, text: this.#text }]), ...this.#calls];
  }

  /** Why the model ended; a call for tools of which none is whole is an end, whole calls make an end one for tools. */
  stop(): Stop {
    const stop = this.#stop ?? 'end';
    if (stop !== 'end' && stop !== 'tool') return stop;
    return this.#calls.length > 0 ? 'tool' : 'end';
  }
}

/** The input of a tool call; null = it is no JSON object. No text at all stands for no arguments. */
function toolInput(text: string): object | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
