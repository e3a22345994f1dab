import { type Protocol, type TokenCounts, type Upstream, unknownCounts } from '../ports/gateway.ts';
import { eventFacts, type Facts, wholeFacts } from './answer-facts.ts';
import { EventLines } from './event-lines.ts';

/** Longer answers in one piece are passed on unread. */
const mostWholeBytes = 32_000_000;

/** How an answer ended: as one, with a failure that the server told in it, too early, or as none of this API. */
export type AnswerEnd =
  | { readonly kind: 'answer' | 'ended-early' | 'bad-reply' }
  | { readonly kind: 'error'; readonly body: unknown };

/** Reads an answer beside its way to the agent: what it cost, and whether it came to its end. */
export class AnswerReader {
  /** The server is at work: an event or a comment came, or (of an answer in one piece) all of it. */
  get begun(): boolean {
    return this.#events?.begun ?? false;
  }
  /** Characters that the model wrote so far. */
  chars = 0;
  /** Something was paid beside tokens: no price of tokens tells the cost. */
  beyondTokens = false;
  #counts: TokenCounts = unknownCounts;
  #ended = false;
  #error: { readonly body: unknown } | null = null;
  #wellFormed = 0;
  #malformed = 0;
  #unread = false;
  #events: EventLines | null = null;
  /** The content type does not tell whether it comes in events. */
  #isUnsure = false;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(
    private readonly protocol: Protocol,
    private readonly upstream: Pick<Upstream, 'counts'>,
    readonly contentType: string | null,
  ) {
    if (/event-stream/i.test(contentType ?? '')) this.#events = this.#newEvents();
    else if (!/json|html/i.test(contentType ?? '')) this.#isUnsure = true;
  }

  /** It comes in events; else in one piece. */
  get isStream(): boolean {
    return this.#events !== null;
  }

  /** The server has told a failure in its answer. */
  get error(): { readonly body: unknown } | null {
    return this.#error;
  }

  push(bytes: Uint8Array): void {
    if (this.#isUnsure) this.#decide(bytes);
    this.#bytes += bytes.byteLength;
    if (this.#events !== null) this.#events.push(bytes);
    else if (this.#bytes <= mostWholeBytes) this.#pieces.push(bytes);
  }

  /** The answer is over; nothing is pushed any more. */
  end(): void {
    if (this.#events !== null) this.#events.end();
    else if (this.#bytes > mostWholeBytes) this.#unread = true;
    else this.#endWhole();
  }

  #endWhole(): void {
    let facts: Facts | null = null;
    try {
      facts = wholeFacts(this.protocol, JSON.parse(Buffer.concat(this.#pieces).toString()));
    } catch {
      // no JSON: no answer
    }
    if (facts === null) this.#malformed += 1;
    else this.#note(facts, true);
  }

  /** What is known of the spend: of an answer that did not come to its end nobody knows what was written. */
  get counts(): TokenCounts {
    return this.#ended ? this.#counts : { ...this.#counts, outputTokens: null };
  }

  verdict(): AnswerEnd {
    if (this.#error !== null) return { kind: 'error', body: this.#error.body };
    if (this.#ended || this.#unread) return { kind: 'answer' };
    return { kind: this.#malformed > 0 && this.#bytes > 0 ? 'bad-reply' : 'ended-early' };
  }

  #newEvents(): EventLines {
    return new EventLines((data) => this.#event(data));
  }

  /** Without a content type the first character tells: no stream of events begins with a bracket. */
  #decide(bytes: Uint8Array): void {
    const first = new TextDecoder().decode(bytes).trimStart()[0];
    if (first === undefined) return;
    this.#isUnsure = false;
    if (first !== '{' && first !== '[' && first !== '<') {
      this.#events = this.#newEvents();
      for (const piece of this.#pieces.splice(0)) this.#events.push(piece);
    }
  }

  #event(data: string): void {
    if (data.trim() === '[DONE]') {
      if (this.protocol === 'chat' && this.#wellFormed > 0 && this.#error === null) this.#ended = true;
      return;
    }
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      this.#malformed += 1;
      return;
    }
    const facts = eventFacts(this.protocol, event);
    if (facts === null) this.#malformed += 1;
    else this.#note(facts, false);
  }

  #note({ usage, ended, error, chars = 0, beyondTokens = false }: Facts, isWhole: boolean): void {
    this.#wellFormed += 1;
    if (usage !== undefined) {
      const before = usage.part === 'start' ? null : isWhole ? unknownCounts : this.#counts;
      this.#counts = this.upstream.counts(this.protocol, usage.told, before);
    }
    this.chars += chars;
    this.beyondTokens ||= beyondTokens;
    if (error !== undefined) this.#error ??= { body: error };
    if (ended === true) this.#ended = true;
  }
}
