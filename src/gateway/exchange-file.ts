import { appendFile } from 'node:fs/promises';
import type { Protocol, TokenCounts } from '../ports/gateway.ts';

/** What is kept of a request, of its answer (in bytes), and of all of a rollout. */
const mostChars = 2_000_000;
const mostAnswerBytes = 1_900_000;
const mostFileChars = 64_000_000;

/** One request that went to the provider. */
export type Exchange = {
  /** When it was sent, ISO 8601. */
  readonly at: string;
  /** Number of the agent's request, and of the try. */
  readonly request: number;
  readonly attempt: number;
  readonly protocol: Protocol;
  readonly path: string;
  /** Null = no answer came. */
  readonly status: number | null;
  /** What kept an answer from its end, in one word; null = nothing. */
  readonly trouble: string | null;
  /** Milliseconds that it had waited before it was sent, and that it took. */
  readonly waitedMs: number;
  readonly tookMs: number;
  readonly counts: TokenCounts;
  readonly costUsd: number | null;
  /** As it was sent: JSON. */
  readonly body: string;
  /** What came, as far as it is kept. */
  readonly answer: string;
};

/**
 * The raw exchange of a rollout, one JSON line a request. No header stands in it, and where an answer holds the key, the
 * key is taken out.
 */
export class ExchangeFile {
  #writing: Promise<void> = Promise.resolve();
  #chars = 0;
  #problem: string | undefined;

  constructor(
    private readonly path: string | null,
    private readonly secrets: readonly string[],
  ) {}

  /** Why it is not whole, for people; undefined = it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  add(exchange: Exchange): void {
    const { path } = this;
    if (path === null || this.#problem !== undefined) return;
    const line = `${withoutSecrets(this.#line(exchange), this.secrets)}\n`;
    this.#chars += line.length;
    this.#writing = this.#writing
      .then(() => (this.#problem === undefined ? appendFile(path, line, { mode: 0o600 }) : undefined))
      .catch((error: unknown) => {
        this.#problem = `the exchange file could not be written: ${error instanceof Error ? error.message : String(error)}`;
      });
  }

  /** Settles when all that was added is written. */
  async whole(): Promise<void> {
    await this.#writing;
  }

  #line({ body, answer, ...head }: Exchange): string {
    const left = Math.max(0, mostFileChars - this.#chars);
    const kept = { body: bounded(body, left), answer: bounded(answer, left - body.length) };
    const request = kept.body === body ? onOneLine(body) : JSON.stringify(kept.body);
    return `${JSON.stringify(head).slice(0, -1)},"body":${request},"answer":${JSON.stringify(kept.answer)}}`;
  }
}

/** A text with a note where it is cut. */
function bounded(text: string, left: number): string {
  const most = Math.max(0, Math.min(mostChars, left));
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

/** JSON has line breaks only where they mean nothing. */
function onOneLine(json: string): string {
  return /[\r\n]/.test(json) ? JSON.stringify(JSON.parse(json)) : json;
}

/** A text without the values that must never be shown, also where they stand in JSON. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .reduce((t, secret) => t.replaceAll(secret, '[key]'), text);
}

/** Keeps the beginning of an answer as it passes. */
export class Keeper {
  readonly #pieces: Uint8Array[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(private readonly mostBytes = mostAnswerBytes) {}

  push(piece: Uint8Array): void {
    this.#bytes += piece.byteLength;
    const room = this.mostBytes - this.#kept;
    if (room <= 0) return;
    this.#pieces.push(piece.subarray(0, room));
    this.#kept += Math.min(room, piece.byteLength);
  }

  get text(): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#pieces));
    return this.#bytes > this.#kept ? `${text}… (${this.#bytes - this.#kept} more bytes)` : text;
  }
}
