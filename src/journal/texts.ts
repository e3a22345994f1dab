import {
  closeSync,
  existsSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fail } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { diskFailure } from './journal.ts';

/** Texts beside the log, by their SHA-256. Written whole before the event that names them. */
export interface Texts {
  /** Keeps a text; its hash, as soon as it is on the disk. */
  put(text: string): Promise<string>;
  /** The text, or a failure that tells *missing* from *changed*. What was put may be told from memory. */
  get(hash: string): string;
  /** What is wrong with a text, without throwing. */
  check(hash: string): 'ok' | 'missing' | 'changed';
}

/** Most UTF-16 units of texts that are remembered: what was put last is mostly read next. */
const REMEMBERED = 4_000_000;

export class TextFiles implements Texts {
  /** What this process has put, the oldest first, and its length in all. */
  private readonly remembered = new Map<string, string>();
  private rememberedLength = 0;

  constructor(private readonly dir: string) {}

  /** All in one folder: to make a folder takes a file system longer than to make a file. */
  private path(hash: string): string {
    return join(this.dir, `${hash}.txt`);
  }

  /** Where a text stands or belongs: older sessions have a folder for each two letters. */
  pathOf(hash: string): string {
    const older = join(this.dir, hash.slice(0, 2), `${hash}.txt`);
    return !existsSync(this.path(hash)) && existsSync(older) ? older : this.path(hash);
  }

  async put(text: string): Promise<string> {
    const hash = sha256(text);
    const path = this.pathOf(hash);
    if (!existsSync(path)) await writeWholeBeside(path, text, 0o600);
    this.remember(hash, text);
    return hash;
  }

  private remember(hash: string, text: string): void {
    if (this.remembered.has(hash)) return;
    this.remembered.set(hash, text);
    this.rememberedLength += text.length;
    for (const [oldest, { length }] of this.remembered) {
      if (this.rememberedLength <= REMEMBERED) return;
      this.remembered.delete(oldest);
      this.rememberedLength -= length;
    }
  }

  get(hash: string): string {
    const known = this.remembered.get(hash);
    if (known !== undefined) return known;
    const { state, text } = this.read(hash);
    if (state === 'ok') return text;
    throw fail(
      'log-broken',
      `a text that the log names is ${state}`,
      this.pathOf(hash),
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
    return this.read(hash).state;
  }

  private read(hash: string): { readonly state: 'ok' | 'missing' | 'changed'; readonly text: string } {
    try {
      const text = readFileSync(this.pathOf(hash), 'utf8');
      return { state: sha256(text) === hash ? 'ok' : 'changed', text };
    } catch {
      return { state: 'missing', text: '' };
    }
  }
}

let writes = 0;
const siblingOf = (path: string) => `${path}.${process.pid}-${++writes}.tmp`;

/** As `writeWhole`; the event loop goes on while the disk takes its time to sync. */
async function writeWholeBeside(path: string, text: string, mode: number): Promise<void> {
  const sibling = siblingOf(path);
  try {
    const fd = openInFolder(sibling, mode);
    try {
      writeAll(fd, text);
      await toDisk(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(sibling, path);
  } catch (cause) {
    rmSync(sibling, { force: true });
    throw diskFailure('a file can’t be written', path, cause);
  }
}

const toDisk = promisify(fsync);

/** Opens a new file; its folder is made only where it is missing. */
function openInFolder(path: string, mode: number): number {
  try {
    return openSync(path, 'wx', mode);
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ENOENT') throw cause;
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'wx', mode);
  }
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** Writes a file whole or not at all: a sibling, synced, then renamed over it. */
export function writeWhole(path: string, text: string, mode = 0o644): void {
  const sibling = siblingOf(path);
  try {
    const fd = openInFolder(sibling, mode);
    try {
      writeAll(fd, text);
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
