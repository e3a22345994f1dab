import type { ModelReply } from '../ports/model.ts';
import type { Draft } from './draft.ts';
import { BadStream } from './http-errors.ts';
import { chatCounts } from './told-counts.ts';

type Slot = { readonly index: number | null; id: string; name: string; json: string };

/** What of a chunk is read; every field may be missing, or of another kind than the protocol has it. */
type Chunk = {
  readonly choices?:
    | readonly {
        readonly delta?: {
          readonly content?: unknown;
          readonly refusal?: unknown;
          readonly tool_calls?: readonly ToolDelta[] | null;
        } | null;
        readonly finish_reason?: string | null;
      }[]
    | null;
  readonly usage?: unknown;
};
type ToolDelta = {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
};

/** Reads the chunks of one streamed answer into a draft. Reasoning has fields of its own and is no part of the text. */
export class ChatReader {
  readonly #slots: Slot[] = [];
  #refused = false;

  constructor(private readonly draft: Draft) {}

  /** Throws `BadStream` when the server says that it failed, or when the chunk is none. */
  read(given: unknown): void {
    if (typeof given !== 'object' || given === null) throw new BadStream('no chunk');
    const chunk = given as Chunk;
    if (chunk.usage !== undefined && chunk.usage !== null) this.draft.counts = chatCounts(chunk.usage);
    const choice = Array.isArray(chunk.choices) ? (chunk.choices as NonNullable<Chunk['choices']>)[0] : undefined;
    if (choice === undefined) return;
    const delta = choice.delta ?? {};
    if (typeof delta.content === 'string') this.draft.addText(delta.content);
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      this.#refused = true;
      this.draft.addText(delta.refusal);
    }
    for (const part of delta.tool_calls ?? []) this.#addToSlot(part);
    if (choice.finish_reason) this.#end(choice.finish_reason);
  }

  #addToSlot(part: ToolDelta): void {
    const { id, name, args } = {
      id: part.id ?? '',
      name: part.function?.name ?? '',
      args: textOf(part.function?.arguments),
    };
    const index = part.index ?? null;
    const slot =
      index === null && id === ''
        ? this.#slots.at(-1)
        : this.#slots.findLast((s) => (index === null ? s.id === id : s.index === index));
    // some servers give every call the same index: another id with a name is another call
    if (slot === undefined || (id !== '' && slot.id !== '' && slot.id !== id && name !== '')) {
      this.#slots.push({ index, id, name, json: args });
      return;
    }
    if (slot.id === '') slot.id = id;
    if (slot.name === '') slot.name = name;
    slot.json += args;
  }

  #end(reason: string): void {
    if (this.draft.ended) return;
    // what servers say when they broke off by themselves
    if (reason === 'error' || reason === 'abort') return;
    for (const slot of this.#slots) this.draft.addCall(slot.id, slot.name, slot.json);
    this.draft.end(this.#refused ? 'refused' : (stops[reason] ?? 'end'));
  }
}

const stops: Readonly<Record<string, ModelReply['stop']>> = {
  stop: 'end',
  tool_calls: 'tool',
  function_call: 'tool',
  length: 'length',
  content_filter: 'refused',
};

/** Arguments are a text; some servers hand over the object itself. */
function textOf(args: unknown): string {
  if (typeof args === 'string') return args;
  return typeof args === 'object' && args !== null ? JSON.stringify(args) : '';
}
