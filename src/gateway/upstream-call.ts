import type { Protocol, Upstream, UpstreamTrouble } from '../ports/gateway.ts';
import { AnswerReader } from './answer-reader.ts';
import { Keeper } from './exchange-file.ts';

/** One request as it goes to the provider. */
export type UpstreamRequest = {
  readonly protocol: Protocol;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
};

/** What a provider answered, as far as it is handed on. */
export type Given = { readonly status: number; readonly headers: Headers; readonly body: Uint8Array };

/** What came of a request. */
export type CallEnd =
  /** An answer has begun; `first` came already. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Headers;
      readonly first: readonly Uint8Array[];
    }
  | {
      readonly kind: 'trouble';
      readonly trouble: UpstreamTrouble;
      /** No waiting mends it, whatever its kind. */
      readonly isFinal: boolean;
      /** What came all the same, for the agent; null = nothing did. */
      readonly given: Given | null;
    };

/** An answer in one piece is held back until it is whole, so that one that breaks off can be asked for again; up to here. */
const mostHeldBytes = 8_000_000;
/** So much of a stream is held back until its first event is there. */
const mostHeldOfStream = 64_000;
const mostErrorBytes = 64_000;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** What ended a body before its end. */
class Broken extends Error {
  override readonly name = 'Broken';

  constructor(readonly trouble: UpstreamTrouble) {
    super(trouble.refusal.failure.what);
  }
}

/**
 * One request to the provider and its answer. `begin` once, then `next` until it gives null; `close` in the end, which
 * leaves no connection and no timer. Redirects are not followed: key and prompt are for this server alone.
 */
export class UpstreamCall {
  /** What it reads from the answer; null before one came. */
  reader: AnswerReader | null = null;
  status: number | null = null;
  /** The beginning of what came. */
  readonly kept = new Keeper();
  readonly #stop = new AbortController();
  readonly #onAbort = () => this.#stop.abort(this.signal.reason);
  #silence: 'first-byte' | 'next-byte' | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #body: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'> | null = null;
  #begun = false;
  #isOver = false;

  constructor(
    private readonly upstream: Upstream,
    private readonly request: UpstreamRequest,
    private readonly signal: AbortSignal,
  ) {}

  /** Sends the request and waits until an answer has begun. Rejects with the signal's reason when it is aborted. */
  async begin(): Promise<CallEnd> {
    this.signal.throwIfAborted();
    this.signal.addEventListener('abort', this.#onAbort, { once: true });
    try {
      return await this.#begin();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      return { kind: 'trouble', trouble: error.trouble, isFinal: false, given: null };
    }
  }

  /** The next piece of the answer; null = it is over. What it rejects with is told by `troubleIn`, or the signal's reason. */
  async next(): Promise<Uint8Array | null> {
    const piece = await this.#read();
    if (piece !== null) this.reader?.push(piece);
    else if (!this.#isOver) {
      this.#isOver = true;
      this.reader?.end();
    }
    return piece;
  }

  /** All of the answer has come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.signal.removeEventListener('abort', this.#onAbort);
    this.#body?.cancel().catch(() => undefined);
    this.#stop.abort();
  }

  async #begin(): Promise<CallEnd> {
    const { upstream, request } = this;
    const response = await this.#fetch();
    const { status, headers } = response;
    this.status = status;
    this.#body = response.body?.getReader() ?? null;
    if (redirects.includes(status)) {
      const how = { kind: 'redirect', status, from: request.url, to: headers.get('location') } as const;
      return { kind: 'trouble', trouble: upstream.broken(how), isFinal: true, given: null };
    }
    if (!response.ok) {
      const body = await this.#upTo(mostErrorBytes);
      const trouble = upstream.refusal(status, headers, new TextDecoder().decode(body));
      return { kind: 'trouble', trouble, isFinal: false, given: { status, headers, body } };
    }
    const reader = new AnswerReader(request.protocol, upstream, headers.get('content-type'));
    this.reader = reader;
    const first: Uint8Array[] = [];
    for (let held = 0; ; ) {
      const piece = await this.next();
      if (piece === null) break;
      first.push(piece);
      held += piece.byteLength;
      if (reader.error !== null || reader.begun || held > (reader.isStream ? mostHeldOfStream : mostHeldBytes)) break;
    }
    const trouble = this.troubleSoFar();
    if (trouble === null) return { kind: 'answer', status, headers, first };
    return { kind: 'trouble', trouble, isFinal: false, given: { status, headers, body: Buffer.concat(first) } };
  }

  /** What the answer itself says went wrong, as far as it came; of one that is over also that it has no end. */
  troubleSoFar(): UpstreamTrouble | null {
    const { reader, upstream } = this;
    if (reader === null || (!this.#isOver && reader.error === null)) return null;
    const end = reader.verdict();
    switch (end.kind) {
      case 'answer':
        return null;
      case 'error':
        return upstream.refusal(null, new Headers(), JSON.stringify(end.body));
      case 'ended-early':
        return upstream.broken({ kind: 'ended-early' });
      case 'bad-reply':
        return upstream.broken({ kind: 'bad-reply', contentType: reader.contentType });
      default:
        return end satisfies never;
    }
  }

  async #fetch(): Promise<Response> {
    const { url, headers, body } = this.request;
    this.#arm('first-byte');
    try {
      // the deadlines of this call are the only ones
      const options: BunFetchRequestInit & { timeout: false } = {
        method: 'POST',
        headers,
        body,
        signal: this.#stop.signal,
        timeout: false,
        redirect: 'manual',
      };
      return await fetch(url, options);
    } catch (error) {
      throw this.#broken(error);
    }
  }

  async #read(): Promise<Uint8Array | null> {
    if (this.#body === null || this.#isOver) return null;
    // time in which the agent does not take what is there is no silence
    if (this.#begun) this.#arm('next-byte');
    try {
      const { done, value } = await this.#body.read();
      clearTimeout(this.#timer);
      if (done) return null;
      this.#begun = true;
      this.kept.push(value);
      return value;
    } catch (error) {
      throw this.#broken(error);
    }
  }

  /** The beginning of what comes. */
  async #upTo(bytes: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    try {
      for (let length = 0; length <= bytes; ) {
        const piece = await this.#read();
        if (piece === null) break;
        pieces.push(piece);
        length += piece.byteLength;
      }
    } catch (error) {
      // what came of it says enough, and the status says most
      if (!(error instanceof Broken)) throw error;
    }
    return Buffer.concat(pieces).subarray(0, bytes);
  }

  #arm(before: 'first-byte' | 'next-byte'): void {
    clearTimeout(this.#timer);
    const ms = before === 'first-byte' ? this.upstream.firstByteMs : this.upstream.betweenMs;
    this.#timer = setTimeout(() => {
      this.#silence = before;
      this.#stop.abort();
    }, ms);
  }

  /** Why nothing more comes: the caller's own reason, or what the provider did. */
  #broken(error: unknown): unknown {
    clearTimeout(this.#timer);
    if (this.signal.aborted) return this.signal.reason;
    const { upstream } = this;
    if (this.#silence !== null) return new Broken(upstream.broken({ kind: 'silent', before: this.#silence }));
    return new Broken(upstream.broken({ kind: 'network', error, begun: this.#begun }));
  }
}

/** What the provider did to break an answer off; null = it was something else. */
export function troubleIn(error: unknown): UpstreamTrouble | null {
  return error instanceof Broken ? error.trouble : null;
}
