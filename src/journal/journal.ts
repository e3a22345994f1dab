import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { type Event, type LoggedEvent, type SyncBy, syncBy } from '../events/events.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { chainHash, FIRST, type Lines, LinesOfFile, LinesOfText } from './lines.ts';

/** Hash that stands as `prev` in the first line. */
export const GENESIS = '0'.repeat(32);

/** Where a log stands: number of whole lines and hash of the last one. */
export type Head = { readonly lines: number; readonly hash: string };

/** One whole line: the event as it stands, its text, and its chain hash. */
export class ReadLine {
  constructor(
    readonly event: LoggedEvent,
    readonly raw: string,
    readonly hash: string,
  ) {}

  /** Its text from `"type"` on, which is what decisions are compared by. */
  get body(): string {
    return `{${this.raw.slice(this.raw.indexOf('"type":'))}`;
  }
}

/** What reading found: lines handed out, where the good part ends, and whether a torn last line follows it. */
export type ReadEnd = { readonly head: Head; readonly goodBytes: number; readonly torn: boolean };

/** For a log that need not be there yet. */
function openIfThere(path: string): number | null {
  requireFile(path);
  try {
    return openSync(path, 'r');
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ENOENT') return null;
    throw diskFailure('the log can’t be read', path, cause);
  }
}

function cutTornLine(path: string, goodBytes: number): void {
  try {
    truncateSync(path, goodBytes);
  } catch (cause) {
    throw diskFailure('the log can’t be written', path, cause);
  }
}

/** Reads whole lines, holds them against the chain and closes. A break in the middle is refused with its line. */
function* checked(lines: Lines, where: string): Generator<ReadLine, ReadEnd> {
  try {
    for (let head: Head = { lines: 0, hash: GENESIS }, goodBytes = 0; ; ) {
      const next = lines.next();
      if (next === null) {
        const { bytes, start } = lines.rest;
        if (bytes > 0 && head.lines === 0 && !FIRST.startsWith(start))
          throw fail('log-broken', 'what stands in the log’s place is no log of this program', where, 'move it away');
        return { head, goodBytes, torn: bytes > 0 };
      }
      const { raw, hash, bytes } = next;
      const line = head.lines + 1;
      const broken = (what: string) =>
        fail(
          'log-broken',
          `the log is broken at line ${line}: ${what}`,
          `${where}:${line}`,
          'restore the file from a copy; skillopt never changes a line that it wrote',
        );
      let event: LoggedEvent;
      try {
        event = JSON.parse(raw) as LoggedEvent;
      } catch {
        throw broken('not JSON');
      }
      if (typeof event !== 'object' || event === null || event.seq !== line || event.prev !== head.hash)
        throw broken('it does not continue the line before (changed, dropped or inserted)');
      if (typeof event.at !== 'string') throw broken('it says no time');
      if (event.v !== 1) throw broken(`version ${String(event.v)} is not known to this program; use a newer one`);
      head = { lines: line, hash };
      goodBytes += bytes + 1;
      yield new ReadLine(event, raw, hash);
    }
  } finally {
    lines.close();
  }
}

/** Reads a log file without changing it. The generator's return value says where the good part ends. */
export function readLog(path: string): Generator<ReadLine, ReadEnd> {
  return checked(new LinesOfFile(() => openForReading(path)), path);
}

function openForReading(path: string): number {
  requireFile(path);
  try {
    return openSync(path, 'r');
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ENOENT') throw diskFailure('the log can’t be read', path, cause);
    throw fail(
      'usage',
      'there is no session here: it has no log',
      path,
      'name the session’s directory, or start one with `skillopt run`',
      { cause },
    );
  }
}

/** A folder, a pipe or a device in the log's place is not touched (and would block). */
function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile())
    throw fail('log-broken', 'what stands in the log’s place is not a file', path, 'move it away');
}

/** The head after each line of a text: for tests and for looking up prefixes. */
export function readText(text: string, where = 'log'): { readonly lines: readonly ReadLine[]; readonly end: ReadEnd } {
  const reader = checked(new LinesOfText(text), where);
  const lines: ReadLine[] = [];
  for (;;) {
    const next = reader.next();
    if (next.done) return { lines, end: next.value };
    lines.push(next.value);
  }
}

type Listener = (event: LoggedEvent) => void;

/** Milliseconds within which what is synced *soon* is on its way to the disk. */
const SOON_MS = 5;

/**
 * The append-only log. One writer: sequence number and hash are taken at the write, one O_APPEND write a line, synced
 * as `syncBy` says. `read()` comes first, once. Listeners hear of an event only when it is in the log.
 */
export class Journal {
  private head: Head = { lines: 0, hash: GENESIS };
  private bytes = 0;
  private fd: number | null = null;
  private started = false;
  private readonly listeners: Listener[] = [];
  private readonly kept: string[] = [];
  /** Something was written that a power cut could still take away. */
  private unsynced = false;
  private broken: SkilloptError | null = null;

  private constructor(
    private readonly source: () => Lines,
    /** Null: in memory. */
    private readonly path: string | null,
    readonly where: string,
    private readonly now: () => string,
    /** Called before each line is written; a test ends the session here. */
    private readonly beforeWrite: (line: string) => void,
  ) {}

  /** A log file for appending; it comes into being with its first line. */
  static open(path: string, options: { readonly now: () => string }): Journal {
    return new Journal(
      () => new LinesOfFile(() => openIfThere(path)),
      path,
      path,
      options.now,
      () => {},
    );
  }

  /** A log in memory, for tests: starts from `text`. */
  static memory(
    text: string,
    options: { readonly now?: () => string; readonly beforeWrite?: (line: string) => void } = {},
  ): Journal {
    return new Journal(
      () => new LinesOfText(text),
      null,
      'memory',
      options.now ?? (() => '2000-01-01T00:00:00.000Z'),
      options.beforeWrite ?? (() => {}),
    );
  }

  /** Every whole line, held against the chain; a torn last line is cut off so that appending can go on. */
  *read(): Generator<ReadLine, ReadEnd> {
    this.started = true;
    const reader = checked(this.source(), this.where);
    for (;;) {
      const next = reader.next();
      if (next.done) {
        const end = next.value;
        this.head = end.head;
        this.bytes = end.goodBytes;
        if (end.torn && this.path !== null) cutTornLine(this.path, end.goodBytes);
        return end;
      }
      if (this.path === null) this.kept.push(next.value.raw);
      yield next.value;
    }
  }

  /** Hears every event from now on, after it was written. */
  onAppend(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Appends one event; throws `disk` (and leaves the log as it was) when it can’t be written whole. */
  append(event: Event): LoggedEvent {
    if (!this.started) throw new Error('a journal is read before it is written');
    const seq = this.head.lines + 1;
    const at = this.now();
    const line = `{"v":1,"seq":${seq},"at":"${at}","prev":"${this.head.hash}",${JSON.stringify(event).slice(1)}`;
    this.beforeWrite(line);
    if (this.path === null) this.kept.push(line);
    else this.write(this.path, `${line}\n`, syncBy(event.type));
    const logged = { v: 1, seq, at, prev: this.head.hash, ...event } as LoggedEvent;
    this.head = { lines: seq, hash: chainHash(line) };
    for (const listener of this.listeners) listener(logged);
    return logged;
  }

  private write(path: string, text: string, by: SyncBy): void {
    if (this.broken !== null) throw this.broken;
    const bytes = Buffer.from(text);
    let fd: number;
    try {
      fd = this.fd ??= openSync(path, 'a', 0o600);
    } catch (cause) {
      throw diskFailure('the log can’t be opened for writing', path, cause);
    }
    try {
      const written = writeSync(fd, bytes);
      if (written !== bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
      if (by === 'now') this.toDisk(fd);
      else if (by === 'soon') this.syncSoon();
    } catch (cause) {
      this.undo(fd);
      throw diskFailure('the log can’t be written', this.where, cause);
    }
    this.bytes += bytes.length;
  }

  private toDisk(fd: number): void {
    fdatasyncSync(fd);
    this.unsynced = false;
  }

  /** One sync beside the event loop for all that is written within some milliseconds. */
  private syncSoon(): void {
    if (this.unsynced) return;
    this.unsynced = true;
    setTimeout(() => {
      const { fd } = this;
      if (!this.unsynced || fd === null) return;
      this.unsynced = false;
      fdatasync(fd, (cause) => {
        // told at the next append; the descriptor of a log that was closed meanwhile was synced at its end
        if (cause !== null && this.fd === fd) this.broken = diskFailure('the log can’t be written', this.where, cause);
      });
    }, SOON_MS).unref();
  }

  private undo(fd: number): void {
    try {
      if (fstatSync(fd).size > this.bytes) ftruncateSync(fd, this.bytes);
    } catch {
      // a torn last line is cut off at the next open
    }
  }

  /** Everything that was appended is on the disk. */
  sync(): void {
    if (this.broken !== null) throw this.broken;
    if (this.fd === null) return;
    try {
      this.toDisk(this.fd);
    } catch (cause) {
      throw diskFailure('the log can’t be written', this.where, cause);
    }
  }

  get position(): Head {
    return this.head;
  }

  /** The whole text of a log in memory. */
  text(): string {
    return this.kept.map((l) => `${l}\n`).join('');
  }

  close(): void {
    if (this.fd === null) return;
    closeSync(this.fd);
    this.fd = null;
  }
}

/** A failure of the disk under one of the session's files. */
export function diskFailure(what: string, where: string, cause: unknown): SkilloptError {
  if (cause instanceof SkilloptError) return cause;
  const code = (cause as { code?: string } | null)?.code ?? '';
  const fix =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'free some space and start again; what is finished is kept'
      : code === 'EROFS' || code === 'EACCES' || code === 'EPERM'
        ? 'make the directory writable, or use another one'
        : 'look at the disk and the directory, then start again; what is finished is kept';
  const reason = code || (cause instanceof Error ? cause.message : String(cause));
  return fail('disk', `${what} (${reason})`, where, fix, { cause, retryable: true });
}
