import { type Refusal, refusalOf, retryAfterMs } from './refusal.ts';

/** What was waited for in vain. */
export type Silence = 'first-byte' | 'next-byte';

/** Where a server sent a request. `to` = origin and path, without password and query; null = it did not say. */
export type Redirect = { readonly status: number; readonly to: string | null };

/** How long a server may be silent. */
export type Deadlines = { readonly firstByteMs: number; readonly betweenMs: number };

const longestErrorBody = 64_000;
const newline = 10;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * The wire of one call: the `fetch` that a client of a provider is given. It sees the bytes before the client does, so
 * that deadlines hold for every kind of byte (an event that says only that the server lives counts), and it notes what
 * went wrong as it was, before a client puts it into words.
 */
export class Wire {
  /** The answer was an HTTP error. */
  refusal: Refusal | null = null;
  /** The server sent the request elsewhere. It is not followed: the key and the prompt are for this server alone. */
  redirect: Redirect | null = null;
  /** No answer came, or it broke off: the error of the runtime. */
  networkError: unknown = null;
  silence: Silence | null = null;
  /** The content type of an answer that was no error. */
  contentType: string | null = null;
  /** The answer was closed in the middle of a line. */
  endedMidLine = false;
  /** Rejects when the caller cancels or the server is silent for too long; never resolves. */
  readonly stopped: Promise<never>;

  readonly #stop = new AbortController();
  readonly #giveUp: (reason: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastByte: number | null = null;

  constructor(
    private readonly deadlines: Deadlines,
    private readonly caller: AbortSignal,
  ) {
    let giveUp: (reason: unknown) => void = () => undefined;
    this.stopped = new Promise<never>((_resolve, reject) => {
      giveUp = reject;
    });
    this.stopped.catch(() => undefined);
    this.#giveUp = giveUp;
    caller.addEventListener('abort', this.#onAbort, { once: true });
    if (caller.aborted) this.#onAbort();
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    this.#arm('first-byte');
    const signals = [this.#stop.signal, ...(init?.signal ? [init.signal] : [])];
    let response: Response;
    try {
      // the deadlines of this wire are the only ones
      const options: BunFetchRequestInit & { timeout: false } = {
        ...init,
        signal: AbortSignal.any(signals),
        timeout: false,
        redirect: 'manual',
      };
      response = await fetch(input, options);
    } catch (error) {
      this.#disarm();
      this.networkError = error;
      throw error;
    }
    if (redirects.includes(response.status)) {
      this.#disarm();
      this.redirect = redirectOf(response.status, response.url, response.headers.get('location'));
      throw new Error(`sent elsewhere with status ${response.status}`);
    }
    if (!response.ok) {
      await this.#noteRefusal(response);
      throw new Error(`refused with status ${response.status}`);
    }
    this.contentType = response.headers.get('content-type');
    if (response.body === null) return response;
    return new Response(this.#watched(response.body), { status: response.status, headers: response.headers });
  };

  /** Ends the call: no timer and no connection is left. */
  close(): void {
    this.#disarm();
    this.caller.removeEventListener('abort', this.#onAbort);
    this.#stop.abort();
  }

  readonly #onAbort = (): void => {
    this.#end(this.caller.reason);
  };

  #end(reason: unknown): void {
    this.#disarm();
    this.#giveUp(reason);
    this.#stop.abort();
  }

  #arm(silence: Silence): void {
    this.#disarm();
    const ms = silence === 'first-byte' ? this.deadlines.firstByteMs : this.deadlines.betweenMs;
    this.#timer = setTimeout(() => {
      this.silence = silence;
      this.#end(new Error(`no ${silence}`));
    }, ms);
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #noteRefusal(response: Response): Promise<void> {
    const after = retryAfterMs(response.headers, Date.now());
    this.refusal = refusalOf(response.status, null, after);
    const text = await beginning(response).catch(() => '');
    this.#disarm();
    this.refusal = refusalOf(response.status, errorBody(text), after);
  }

  #watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (this.#lastByte !== null) this.#arm('next-byte');
        try {
          const { done, value } = await reader.read();
          this.#disarm();
          if (done) {
            this.endedMidLine = this.#lastByte !== null && this.#lastByte !== newline;
            return controller.close();
          }
          this.#lastByte = value.at(-1) ?? this.#lastByte;
          controller.enqueue(value);
        } catch (error) {
          this.#disarm();
          this.networkError = error;
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        this.#disarm();
        await reader.cancel(reason);
      },
    });
  }
}

/** Where a server that was asked at `from` sends to by its `location`. */
export function redirectOf(status: number, from: string, location: string | null): Redirect {
  if (location === null || location === '' || !URL.canParse(location, from)) return { status, to: null };
  const { origin, pathname } = new URL(location, from);
  return { status, to: `${origin}${pathname}` };
}

/** The body as far as an error may reach. */
async function beginning(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of response.body) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > longestErrorBody) break;
  }
  return text;
}

/** The body of an error as JSON; a text that is none says what it says only when it is short and no page. */
export function errorBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.length < 500 && !text.trimStart().startsWith('<') ? text : null;
  }
}
