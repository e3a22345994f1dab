import { chmodSync, constants, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fail } from '../ports/failure.ts';

/** How a tree is copied. */
export type CopyTreeOptions = {
  /** Names directly in the folder that are left out. */
  readonly except?: readonly string[];
  /** Permission bits of the copied files; null or absent = as they are. */
  readonly mode?: number | null;
};

/**
 * Copies a file, or the content of a folder into a folder that may exist. Bytes and permission bits are kept; a link
 * is copied as a link if it stays inside the folder. Throws a `pack` failure for one that leaves it, and for what is
 * neither file, folder nor link.
 */
export async function copyTree(from: string, to: string, options: CopyTreeOptions = {}): Promise<void> {
  // What reads little is done at once (a turn of the event loop costs ten times as much), what makes files beside it.
  if (lstatSync(from).isDirectory()) {
    await mkdir(to, { recursive: true });
    await copyFolder(from, to, from, options);
  } else {
    await mkdir(dirname(to), { recursive: true });
    await copyEntry(from, to, dirname(from), options);
  }
}

async function copyFolder(from: string, to: string, top: string, options: CopyTreeOptions): Promise<void> {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (from === top && options.except?.includes(entry.name)) continue;
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      await mkdir(target, { recursive: true });
      await copyFolder(source, target, top, options);
    } else {
      await copyEntry(source, target, top, options);
    }
  }
}

async function copyEntry(from: string, to: string, top: string, options: CopyTreeOptions): Promise<void> {
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) {
    const link = readlinkSync(from);
    if (isAbsolute(link) || relative(top, resolve(dirname(from), link)).startsWith('..')) {
      throw fail('pack', `the link leads out of its folder, to ${link}`, from, 'replace the link by the file itself');
    }
    await symlink(link, to);
    return;
  }
  if (!stat.isFile()) throw fail('pack', 'neither a file, a folder nor a link', from, 'remove it from the folder');
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  chmodSync(to, options.mode ?? stat.mode & 0o777);
}
