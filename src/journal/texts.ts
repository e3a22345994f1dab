import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fail } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { diskFailure } from './journal.ts';

/** Texts beside the log, by their SHA-256. Written whole before the event that names them. */
export interface Texts {
  /** Keeps a text; its hash, as soon as it is on the disk. */
  put(text: string): Promise<string>;
  /** The text, or a failure that tells *missing* from *changed*. */
  get(hash: string): string;
  /** What is wrong with a text, without throwing. */
  check(hash: string): 'ok' | 'missing' | 'changed';
}

export class TextFiles implements Texts {
  constructor(private readonly dir: string) {}

  private path(hash: string): string {
    return join(this.dir, hash.slice(0, 2), `${hash}.txt`);
  }

  async put(text: string): Promise<string> {
    const hash = sha256(text);
    const path = this.path(hash);
    if (!existsSync(path)) await writeWholeBeside(path, text, 0o600);
    return hash;
  }

  get(hash: string): string {
    const state = this.check(hash);
    if (state === 'ok') return readFileSync(this.path(hash), 'utf8');
    throw fail(
      'log-broken',
      `a text that the log names is ${state}`,
      this.path(hash),
      'restore the session’s .skillopt folder from a copy',
    );
  }

  /** Hashes of the texts whose files are there, whatever is in them; null = that can't be listed. */
  listed(): ReadonlySet<string> | null {
    try {
      if (!existsSync(this.dir)) return new Set();
      const files = readdirSync(this.dir, { recursive: true, encoding: 'utf8' });
      return new Set(files.filter((file) => file.endsWith('.txt')).map((file) => basename(file, '.txt')));
    } catch {
      return null;
    }
  }

  check(hash: string): 'ok' | 'missing' | 'changed' {
    let text: string;
    try {
      text = readFileSync(this.path(hash), 'utf8');
    } catch {
      return 'missing';
    }
    return sha256(text) === hash ? 'ok' : 'changed';
  }
}

let writes = 0;
const siblingOf = (path: string) => `${path}.${process.pid}-${++writes}.tmp`;

/** As `writeWhole`, while the event loop goes on: the disk may take its time. */
async function writeWholeBeside(path: string, text: string, mode: number): Promise<void> {
  const sibling = siblingOf(path);
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(sibling, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(sibling, path);
  } catch (cause) {
    await rm(sibling, { force: true }).catch(() => {});
    throw diskFailure('a file can’t be written', path, cause);
  }
}

/** Writes a file whole or not at all: a sibling, synced, then renamed over it. */
export function writeWhole(path: string, text: string, mode = 0o644): void {
  const sibling = siblingOf(path);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const fd = openSync(sibling, 'wx', mode);
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(sibling, path);
  } catch (cause) {
    rmSync(sibling, { force: true });
    throw diskFailure('a file can’t be written', path, cause);
  }
}
