import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What bwrap tells of itself (`--json-status-fd`). */
export type Status = {
  /** Process 1 of the sandbox as this machine numbers it; null = it was never there. */
  readonly pid: number | null;
  readonly namespace: number | null;
  /** Exit code of the command; null = it was never started, or bwrap was ended before it. */
  readonly exitCode: number | null;
};

export function readStatus(text: string): Status {
  const told = Object.assign({}, ...text.split('\n').map(parsed)) as Readonly<Record<string, unknown>>;
  const number = (name: string) => (typeof told[name] === 'number' ? told[name] : null);
  return { pid: number('child-pid'), namespace: number('pid-namespace'), exitCode: number('exit-code') };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

const mostStatusBytes = 16_000;

/**
 * The two files through which bwrap is talked to, open and already without a name: the options go in by descriptor 3, so
 * that no command line and no environment inside shows them, and what it tells comes out by 4.
 */
export class Channel {
  readonly #args: number;
  readonly #status: number;
  #last: Status | null = null;

  /** `folder`: where the files are for a moment. Throws errors of the file system. */
  constructor(folder: string, args: readonly string[]) {
    this.#args = nameless(folder);
    try {
      this.#status = nameless(folder);
    } catch (error) {
      closeSync(this.#args);
      throw error;
    }
    const bytes = Buffer.from(args.map((arg) => `${arg}\0`).join(''));
    // Written at positions of its own, so that the child, who shares the descriptor's, reads from the beginning.
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#args, bytes, at, bytes.length - at, at);
  }

  get descriptors(): readonly number[] {
    return [this.#args, this.#status];
  }

  /** What it has told so far; once closed, what it told in the end. */
  status(): Status {
    if (this.#last !== null) return this.#last;
    const buffer = Buffer.alloc(mostStatusBytes);
    return readStatus(buffer.toString('utf8', 0, readSync(this.#status, buffer, 0, buffer.length, 0)));
  }

  close(): void {
    this.#last = this.status();
    closeSync(this.#args);
    closeSync(this.#status);
  }
}

function nameless(folder: string): number {
  const path = join(folder, `.channel-${randomBytes(6).toString('hex')}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return fd;
}
