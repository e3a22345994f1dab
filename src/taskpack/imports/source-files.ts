import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { fail, SkilloptError } from '../../ports/failure.ts';
import { utf8 } from '../prompt-files.ts';

/** Runs what reads files of a folder; a failure that names one of them gets its whole path. */
export async function namedFrom<T>(root: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof SkilloptError) || cause.failure.code !== 'pack' || isAbsolute(cause.failure.where))
      throw cause;
    const { what, where, fix } = cause.failure;
    throw fail('pack', what, join(root, where), fix, { cause });
  }
}

/** Longest file that holds tasks: 50 MB. */
export const MOST_SOURCE_BYTES = 50_000_000;

export type SourceReading =
  | { readonly ok: true; readonly name: string; readonly bytes: Uint8Array; readonly text: string }
  | { readonly ok: false; readonly why: string };

/** The text files below a folder of the source. Nothing outside of it is read, whatever a name or a link says. */
export class SourceFiles {
  private constructor(
    /** Absolute, links resolved. */
    readonly root: string,
  ) {}

  /** The folder must exist. */
  static async of(folder: string): Promise<SourceFiles> {
    return new SourceFiles(await realpath(folder));
  }

  /** Reads a text by its name from the root, with `/`. `most`: bytes. */
  async read(name: string, most: number = MOST_SOURCE_BYTES): Promise<SourceReading> {
    const clean = posix.normalize(name.replaceAll('\\', '/'));
    const inner = clean.startsWith('/') ? this.innerOf(clean) : clean;
    if (inner === null || inner === '..' || inner.startsWith('../')) return no(`${name} lies outside of the folder`);
    try {
      const real = await realpath(join(this.root, inner));
      if (this.innerOf(real) === null) return no(`${name} is a symbolic link that leads out of the folder`);
      const info = await stat(real);
      if (!info.isFile()) return no(`${name} is not a file`);
      if (info.size > most) return no(`${name} has ${info.size} bytes, more than ${most}`);
      const bytes = await readFile(real);
      const text = utf8(bytes);
      if (text === null || text.includes('\0')) return no(`${name} is no text in UTF-8`);
      return { ok: true, name: inner, bytes, text };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return no(code === 'ENOENT' || code === 'ENOTDIR' ? `${name} is not there` : `${name} can not be read (${code})`);
    }
  }

  /** Files of the folder that fit a glob such as `tests/*.yaml`, in the order of their names. Links are not followed. */
  async matching(pattern: string): Promise<readonly string[]> {
    const clean = posix.normalize(pattern);
    if (clean.startsWith('/') || clean.startsWith('..')) return [];
    const found = await Array.fromAsync(new Bun.Glob(clean).scan({ cwd: this.root, onlyFiles: true, dot: false }));
    return found.map((name) => name.split(sep).join('/')).sort();
  }

  /** The path from the root; null = it lies elsewhere. */
  private innerOf(path: string): string | null {
    const inner = relative(this.root, path);
    return inner === '' || inner.startsWith('..') || inner.startsWith('/') ? null : inner.split(sep).join('/');
  }
}

const no = (why: string): SourceReading => ({ ok: false, why });
