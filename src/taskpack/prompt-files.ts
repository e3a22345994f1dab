import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** What a prompt shows is paid with every rollout: 1 MB a file. */
export const MOST_FILE_BYTES = 1_000_000;

/** A file of a prompt pack, as bytes and as the text they stand for (a byte order mark is no part of it). */
export type ReadFile = { readonly name: string; readonly bytes: Uint8Array; readonly text: string };

export type FileReading =
  | { readonly ok: true; readonly file: ReadFile }
  | { readonly ok: false; readonly what: string; readonly fix: string };

/** The text files of a prompt pack's folder, each read once. `packFile`: the names under which the pack itself lies there. */
export class PromptFiles {
  private readonly known = new Map<string, Promise<FileReading>>();

  constructor(
    private readonly folder: string,
    private readonly packFile: readonly string[],
  ) {}

  read(given: string): Promise<FileReading> {
    const name = given.replace(/^(\.\/)+/, '');
    const reading = this.known.get(name) ?? this.readNow(name);
    this.known.set(name, reading);
    return reading;
  }

  /** Whether a file of this name lies in the folder. It is not read, and so no part of the pack. */
  async lies(name: string): Promise<boolean> {
    if (!isInnerPath(name) || this.packFile.includes(name)) return false;
    return stat(join(this.folder, name)).then(
      (info) => info.isFile(),
      () => false,
    );
  }

  /** The files that could be read. */
  async all(): Promise<readonly ReadFile[]> {
    const readings = await Promise.all(this.known.values());
    return readings.flatMap((reading) => (reading.ok ? [reading.file] : []));
  }

  private async readNow(name: string): Promise<FileReading> {
    if (!isInnerPath(name)) {
      return refused(
        'is not a path inside the folder of the pack',
        'put the file beside the pack, or below it, and name it with /',
      );
    }
    if (this.packFile.includes(name)) return refused('is the pack itself, which holds the checks', 'name another file');
    const path = join(this.folder, name);
    try {
      const [root, real] = await Promise.all([realpath(this.folder), realpath(path)]);
      if (!real.startsWith(root === sep ? sep : root + sep)) {
        return refused(
          'is a symbolic link that leads out of the folder',
          'replace the link by a copy of what it leads to',
        );
      }
      const info = await stat(real);
      if (!info.isFile()) return refused('is not a regular file', 'name a text file');
      if (info.size > MOST_FILE_BYTES) {
        return refused(`has ${info.size} bytes, more than ${MOST_FILE_BYTES}`, 'take out what the task does not need');
      }
      const bytes = await readFile(real);
      const text = utf8(bytes);
      if (text === null) return refused('is not valid UTF-8', 'save the file as UTF-8');
      if (text.includes('\0')) return refused('is not a text: it holds a NUL', 'name a text file');
      return { ok: true, file: { name, bytes, text } };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' || code === 'ENOTDIR'
        ? refused('is not there', 'correct the path: it starts from the folder of the pack')
        : refused(`can not be read (${code ?? String(error)})`, 'make it a file that you may read');
    }
  }
}

/** The bytes as text, a byte order mark taken off; null = they are no UTF-8. */
export function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Whether a name can be one of a file in a pack: a plain path below it, with `/`. */
export function isInnerPath(name: string): boolean {
  if (/[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name) || name.startsWith('/')) return false;
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.trim() === part);
}

function refused(what: string, fix: string): FileReading {
  return { ok: false, what, fix };
}
