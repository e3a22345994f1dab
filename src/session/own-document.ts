import { existsSync, readFileSync, renameSync } from 'node:fs';
import { diskFailure, type Head } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';

/** The prefix that a document names as its own, or null. */
export function documentHead(text: string): Head | null {
  const m = [...text.matchAll(/^log (\d+) lines, head ([0-9a-f]{32})/gm)].at(-1); // a skill may speak of logs too
  return m?.[1] && m[2] ? { lines: Number(m[1]), hash: m[2] } : null;
}

export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (e) {
    if ((e as { code?: string }).code === 'ENOENT') return null;
    throw diskFailure('a session file can’t be read', path, e);
  }
}

/** Moves a file that is not ours to a name of its own, and tells where to. */
export function setAside(path: string, onSetAside: (from: string, to: string) => void): void {
  const dot = path.lastIndexOf('.');
  for (let n = 1; ; n++) {
    const to = `${path.slice(0, dot)}.yours-${n}${path.slice(dot)}`;
    if (existsSync(to)) continue;
    try {
      renameSync(path, to);
    } catch (cause) {
      throw diskFailure('a file of yours can’t be set aside', path, cause);
    }
    onSetAside(path, to);
    return;
  }
}

/**
 * A document that is the rendering of a prefix of a log, which it names: written whole, and never over a text that is no
 * such rendering; that one is the user's and is set aside.
 */
export class OwnDocument<S> {
  /** As we wrote it last, or as the prefix that it names renders it. */
  private ours: string | null = null;
  private prefix: Head | null = null;

  constructor(
    private readonly path: string,
    private readonly log: string,
    private readonly render: (state: S, head: Head) => string,
    private readonly onSetAside: (from: string, to: string) => void,
  ) {}

  /** Before the log is read: which prefix does the document name? */
  beforeReading(): void {
    const existing = readIfThere(this.path);
    this.prefix = existing === null ? null : documentHead(existing);
  }

  /** While the log is read, after each line. */
  whileReading(state: () => S, head: Head): void {
    if (this.prefix?.lines === head.lines && this.prefix.hash === head.hash) this.ours = this.render(state(), head);
  }

  /** After the log was read: a document that was written when the log was longer shows that its end is lost. */
  refuseLostTail(lines: number): void {
    if (this.prefix === null || this.prefix.lines <= lines) return;
    throw fail(
      'log-broken',
      `the log has ${lines} lines, but ${this.path} was written when it had ${this.prefix.lines}: its end is lost`,
      this.log,
      `restore the log from a copy; if its end is gone for good, move ${this.path} away to go on from what is left`,
    );
  }

  setForeignAside(): void {
    const text = readIfThere(this.path);
    if (text !== null && text !== this.ours) setAside(this.path, this.onSetAside);
  }

  /** Writes it where it is missing or stale; one that is the user's stays where it is. */
  refresh(state: S, head: Head): void {
    const text = readIfThere(this.path);
    if (text === null || (text === this.ours && text !== this.render(state, head))) this.write(state, head);
  }

  write(state: S, head: Head): void {
    const document = this.render(state, head);
    writeWhole(this.path, document);
    this.ours = document;
  }
}
