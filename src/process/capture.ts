/** Keeps the first and the last half of `limitBytes` of what is written, and counts what falls out between them. */
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

  get droppedBytes(): number {
    return this.#dropped;
  }

  /** As UTF-8, what is not shows as the replacement character; a line tells where bytes fell out. */
  text(): string {
    if (this.#dropped === 0) return Buffer.concat([...this.#head, ...this.#tail]).toString('utf8');
    const head = Buffer.concat(this.#head).toString('utf8');
    const tail = Buffer.concat(this.#tail).toString('utf8');
    return `${head}\n… ${this.#dropped} bytes cut …\n${tail}`;
  }
}
