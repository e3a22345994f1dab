import { closeSync, readSync } from 'node:fs';
import { sha256 } from '../ports/hash.ts';

/** The chain hash of a line (without its newline): 128 bits of SHA-256 in hex. */
export function chainHash(line: string | Uint8Array): string {
  return sha256(line).slice(0, 32);
}

/** How every log begins; a torn first line is told from a foreign text by it. */
export const FIRST = '{"v":1,"seq":1,';

/** What follows the last newline. */
type Rest = { readonly bytes: number; readonly start: string };

/** A whole line without its line feed, and its length in UTF-8. */
type Line = { readonly raw: string; readonly hash: string; readonly bytes: number };

/** Bytes that are read at a time. */
const PIECE = 1 << 20;

/** Lines one after another. No generator: a log has very many, and each passes through here. */
export interface Lines {
  /** Null behind the last whole line. */
  next(): Line | null;
  /** What follows the last newline; known when `next` has said null. */
  readonly rest: Rest;
  close(): void;
}

/** Whole lines from a file through one buffer, so that a log of any size needs little memory. Opened at the first line. */
export class LinesOfFile implements Lines {
  rest: Rest = { bytes: 0, start: '' };
  private fd: number | null = null;
  private buffer = Buffer.alloc(PIECE);
  /** The part of the buffer that is read from the file, and where in it the next line begins. */
  private read = this.buffer.subarray(0, 0);
  private from = 0;
  /** Place in the file behind the buffer. */
  private at = 0;

  constructor(
    /** Null: there is no file. */
    private readonly open: () => number | null,
  ) {}

  next(): Line | null {
    for (let searched = this.from; ; ) {
      const { read, from } = this;
      const to = read.indexOf(10, searched);
      if (to >= 0) {
        this.from = to + 1;
        return { raw: read.toString('utf8', from, to), hash: chainHash(read.subarray(from, to)), bytes: to - from };
      }
      searched = read.length - from;
      if (!this.readOn()) return null;
    }
  }

  /** Brings the line that has begun to the start of the buffer, and more behind it; false = there is no more. */
  private readOn(): boolean {
    const begun = this.read.length - this.from;
    this.read.copyWithin(0, this.from);
    this.from = 0;
    if (begun === this.buffer.length) this.buffer = Buffer.concat([this.buffer], 2 * this.buffer.length);
    this.fd ??= this.open();
    const n = this.fd === null ? 0 : readSync(this.fd, this.buffer, begun, this.buffer.length - begun, this.at);
    this.read = this.buffer.subarray(0, begun + n);
    this.at += n;
    if (n === 0) this.rest = { bytes: begun, start: this.read.toString('utf8', 0, Math.min(begun, FIRST.length)) };
    return n > 0;
  }

  close(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }
}

/** Whole lines of a text in memory. */
export class LinesOfText implements Lines {
  rest: Rest = { bytes: 0, start: '' };
  private from = 0;

  constructor(private readonly text: string) {}

  next(): Line | null {
    const { text, from } = this;
    const to = text.indexOf('\n', from);
    if (to < 0) {
      this.rest = { bytes: text.length - from, start: text.slice(from, from + FIRST.length) };
      return null;
    }
    const raw = text.slice(from, to);
    this.from = to + 1;
    return { raw, hash: chainHash(raw), bytes: Buffer.byteLength(raw) };
  }

  close(): void {}
}
