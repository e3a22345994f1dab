import type { ModelMessage, ModelPart } from '../../../ports/model.ts';

export type ToolCall = Extract<ModelPart, { readonly kind: 'tool-call' }>;

/** What the model was shown of its work. `holdsSkill` = the skill's text is in it: it is given up last. */
type Shown = { output: string; readonly holdsSkill: boolean };

type Entry =
  | { readonly kind: 'said'; readonly parts: readonly ModelPart[] }
  | { readonly kind: 'result'; readonly call: ToolCall; readonly isError: boolean; readonly shown: Shown }
  | { readonly kind: 'told'; readonly text: string }
  | { readonly kind: 'observed'; readonly shown: Shown };

/** Characters that stay of an output that is given up, and of the newest one where nothing else is left to give. */
const KEPT_OLD = 200;
const KEPT_NEWEST = 4_000;

/** What was said between the model and its surroundings; it can be made shorter for a model that takes no more. */
export class Conversation {
  readonly #entries: Entry[];

  constructor(instruction: string) {
    this.#entries = [{ kind: 'told', text: instruction }];
  }

  /** What the model has said. Nothing at all stays as a mark: a turn has to hold something. */
  said(parts: readonly ModelPart[]): void {
    this.#entries.push({ kind: 'said', parts: parts.length > 0 ? parts : [{ kind: 'text', text: '(no answer)' }] });
  }

  result(call: ToolCall, came: { readonly output: string; readonly isError: boolean; readonly holdsSkill: boolean }) {
    const { output, holdsSkill, isError } = came;
    this.#entries.push({ kind: 'result', call, isError, shown: { output, holdsSkill } });
  }

  /** The output of a command where there are no calls that it could answer. */
  observed(output: string, holdsSkill: boolean): void {
    this.#entries.push({ kind: 'observed', shown: { output, holdsSkill } });
  }

  tell(text: string): void {
    this.#entries.push({ kind: 'told', text });
  }

  /** The messages, each side in turn. */
  messages(): readonly ModelMessage[] {
    const messages: { role: ModelMessage['role']; parts: ModelPart[] }[] = [];
    for (const entry of this.#entries) {
      const role = entry.kind === 'said' ? 'assistant' : 'user';
      const last = messages.at(-1);
      const parts = partsOf(entry);
      if (last?.role === role) last.parts.push(...parts);
      else messages.push({ role, parts: [...parts] });
    }
    return messages;
  }

  /**
   * Gives up outputs: the older ones, then what they held of the skill and most of the newest. False = there is nothing
   * left to give.
   */
  shorten(): boolean {
    const all = this.#entries.flatMap((entry) => ('shown' in entry ? [entry.shown] : []));
    const newest = all.at(-1);
    const old = all.filter((shown) => shown !== newest);
    if (
      cut(
        old.filter((shown) => !shown.holdsSkill),
        KEPT_OLD,
      )
    )
      return true;
    const skill = cut(old, KEPT_OLD);
    return cut(newest === undefined ? [] : [newest], KEPT_NEWEST) || skill;
  }
}

function partsOf(entry: Entry): readonly ModelPart[] {
  switch (entry.kind) {
    case 'said':
      return entry.parts;
    case 'told':
      return [{ kind: 'text', text: entry.text }];
    case 'observed':
      return [{ kind: 'text', text: entry.shown.output }];
    case 'result': {
      const { call, isError, shown } = entry;
      return [{ kind: 'tool-result', id: call.id, output: shown.output, isError }];
    }
    default:
      return entry satisfies never;
  }
}

const GONE = '\n… the rest of this output was given up to make room …';

/** Cuts each to its beginning; false = none was longer. */
function cut(all: readonly Shown[], length: number): boolean {
  const long = all.filter(({ output }) => output.length > length + GONE.length);
  for (const shown of long) shown.output = `${shown.output.slice(0, length).toWellFormed()}${GONE}`;
  return long.length > 0;
}
