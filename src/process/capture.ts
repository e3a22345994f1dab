import { endOfHead, startOfTail, wordRoom } from './half-words.ts';

/** What a stream held, within its bound. `droppedBytes` counts what is not in `text`. */
export type Captured = { readonly text: string; readonly droppedBytes: number };

/**
 * Keeps the first and the last half of `limitBytes` of what is written, and counts what falls out between them: with
 * the words that the cut goes through, so that no half of a secret stays.
 */
export class Capture {
  readonly #halfBytes: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #dropped = 0;

  constructor(limitBytes: number) {
    this.#halfBytes = Math.max(1, Math.floor(limitBytes / 2));
  }

  add(chunk: Uint8Array): void {
    const forHead = chunk.subarray(0, this.#halfBytes - this.#headBytes);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const forTail = chunk.subarray(forHead.length);
    if (forTail.length === 0) return;
    this.#tail.push(forTail);
    this.#tailBytes += forTail.length;
    this.#trimTail();
  }

  #trimTail(): void {
    let excess = this.#tailBytes - this.#halfBytes;
    if (excess <= 0) return;
    this.#dropped += excess;
    this.#tailBytes -= excess;
    let whole = 0;
    while (excess >= this.#tail[whole]!.length) excess -= this.#tail[whole++]!.length;
    this.#tail = this.#tail.slice(whole);
    if (excess > 0) this.#tail[0] = this.#tail[0]!.subarray(excess);
  }

  /** As UTF-8, what is not shows as the replacement character; a line tells where bytes fell out. */
  captured(): Captured {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#dropped === 0) return { text: Buffer.concat([head, tail]).toString('utf8'), droppedBytes: 0 };
    const room = wordRoom(this.#halfBytes);
    // A byte that fell out is not known any more, so the words at the cut count as halved.
    const headEnd = endOfHead(`${head.toString('latin1')}x`, head.length, room);
    const tailStart = startOfTail(`x${tail.toString('latin1')}`, 1, room) - 1;
    const droppedBytes = this.#dropped + (head.length - headEnd) + tailStart;
    const shown = [head.subarray(0, headEnd), tail.subarray(tailStart)].map((bytes) => bytes.toString('utf8'));
    return { text: shown.join(`\n… ${droppedBytes} bytes cut …\n`), droppedBytes };
  }
}
