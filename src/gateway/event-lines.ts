/** Longer events are passed over: no answer of a model has one. */
const mostEventChars = 32_000_000;

/**
 * Reads a stream of events (`text/event-stream`) as it comes, whatever its pieces: it may break within a character.
 * What is not wanted is only counted.
 */
export class EventLines {
  /** An event, or a comment that says that the server lives, was there. */
  begun = false;
  readonly #decoder = new TextDecoder();
  /** The line so far, in pieces. */
  #line: string[] = [];
  #lineChars = 0;
  #data: string[] | null = null;
  #dataChars = 0;
  #endedByReturn = false;

  constructor(private readonly onEvent: (data: string) => void) {}

  push(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The stream is over. An event that no empty line follows counts: some servers end without one. */
  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#lineChars > 0) this.#endLine();
    this.#dispatch();
  }

  #take(text: string): void {
    let at = 0;
    // a line feed behind a carriage return belongs to it, also in another piece
    if (this.#endedByReturn && text !== '') {
      this.#endedByReturn = false;
      if (text[0] === '\n') at = 1;
    }
    for (let end = nextEnd(text, at); end >= 0; end = nextEnd(text, at)) {
      this.#keep(text.slice(at, end));
      this.#endLine();
      at = end + 1;
      if (text[end] !== '\r') continue;
      if (at === text.length) this.#endedByReturn = true;
      else if (text[at] === '\n') at++;
    }
    this.#keep(text.slice(at));
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#lineChars += text.length;
    if (this.#lineChars <= mostEventChars) this.#line.push(text);
  }

  #endLine(): void {
    const line = this.#line.join('');
    const isWhole = this.#lineChars <= mostEventChars;
    this.#line = [];
    this.#lineChars = 0;
    if (line === '') this.#dispatch();
    else if (line.startsWith(':')) this.begun = true;
    else if (line.startsWith('data:') && isWhole) this.#addData(line.slice(line[5] === ' ' ? 6 : 5));
  }

  #addData(text: string): void {
    this.#data ??= [];
    this.#dataChars += text.length + 1;
    if (this.#dataChars <= mostEventChars) this.#data.push(text);
  }

  #dispatch(): void {
    const data = this.#data;
    const isWhole = this.#dataChars <= mostEventChars;
    this.#data = null;
    this.#dataChars = 0;
    if (data === null) return;
    this.begun = true;
    if (isWhole) this.onEvent(data.join('\n'));
  }
}

const ends = /[\r\n]/g;

function nextEnd(text: string, from: number): number {
  ends.lastIndex = from;
  return ends.exec(text)?.index ?? -1;
}
