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

/** Where bwrap finds what it is given, and where it writes. */
const descriptors = { args: 3, status: 4, nothing: 5, filter: 6, files: 7 } as const;

/** Where bwrap finds the n-th of the files that it makes. */
export const fileDescriptor = (n: number): number => descriptors.files + n;

/** bwrap's own words on its command line: all else comes by descriptors. */
export const channelArgs: readonly string[] = [
  '--args',
  `${descriptors.args}`,
  '--json-status-fd',
  `${descriptors.status}`,
];

/** A step of sh that gives a process an empty stdin which is no file of this machine. */
export const emptyStdin = `exec 0<&${descriptors.nothing}`;

/**
 * The files through which bwrap is talked to, open and already without a name: its options go in by one, so that no command
 * line and no environment inside shows them; what it tells comes out by another; one is empty and stands for stdin, since
 * a descriptor of `/dev/null` would be a hold on this machine's own; one has the filter of system calls; the others are
 * those that it makes inside.
 */
export class Channel {
  readonly #fds: number[] = [];
  #last: Status | null = null;

  /** `folder`: where the files are for a moment if they can't be in memory. Throws errors of the file system. */
  constructor(folder: string, args: readonly string[], filter: Uint8Array | null, files: readonly Uint8Array[] = []) {
    const all = filter === null ? args : ['--seccomp', `${descriptors.filter}`, ...args];
    try {
      this.#fds.push(inMemory(folder, Buffer.from(all.map((arg) => `${arg}\0`).join(''))));
      this.#fds.push(inMemory(folder, noBytes), holding(folder, noBytes));
      this.#fds.push(filter === null ? holding(folder, noBytes) : inMemory(folder, filter));
      for (const bytes of files) this.#fds.push(inMemory(folder, bytes));
    } catch (error) {
      for (const fd of this.#fds) closeSync(fd);
      throw error;
    }
  }

  /** As 3, 4, … in this order. */
  get descriptors(): readonly number[] {
    return this.#fds;
  }

  /** What it has told so far; once closed, what it told in the end. */
  status(): Status {
    if (this.#last !== null) return this.#last;
    const fd = this.#fds[descriptors.status - descriptors.args] ?? -1;
    const buffer = Buffer.alloc(mostStatusBytes);
    return readStatus(buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0)));
  }

  close(): void {
    this.#last = this.status();
    for (const fd of this.#fds) closeSync(fd);
  }
}

const noBytes = new Uint8Array();

/** Linux keeps files here in memory: a disk takes long for many small ones that are soon gone. */
const memory = '/dev/shm';

/** As `holding`, in memory where that can be had: for what no process inside ever has a hold on. */
function inMemory(folder: string, bytes: Uint8Array): number {
  try {
    return holding(memory, bytes);
  } catch {
    return holding(folder, bytes);
  }
}

/** A file that has these bytes and no name any more. */
function holding(folder: string, bytes: Uint8Array): number {
  const path = join(folder, `.channel-${randomBytes(6).toString('hex')}`);
  const fd = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
    // Written at positions of its own, so that the child, who shares the descriptor's, reads from the beginning.
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
