import { chmodSync, copyFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { sha256, shortHash } from '../../ports/hash.ts';

/** What tools make beside a package's own files: neither copied nor part of what it is. */
const made =
  /^(?:node_modules|__pycache__|\.git|\.hg|\.svn|\.venv|venv|\.tox|\.mypy_cache|\.pytest_cache|\.DS_Store|.*\.egg-info)$/;

const maxFiles = 20_000;
const maxBytes = 500_000_000;

type SourceFile = { readonly name: string; readonly path: string; readonly mode: number };

/** The files of a package of this machine, a folder or one archive, in the order of their names. */
function filesOf(given: string): { readonly isFolder: boolean; readonly files: readonly SourceFile[] } {
  const files: SourceFile[] = [];
  const root = realpathSync(given);
  const isFolder = lstatSync(root).isDirectory();
  let bytes = 0;
  const visit = (path: string, name: string): void => {
    const stat = lstatSync(path);
    if (stat.isDirectory()) {
      for (const entry of readdirSync(path).sort())
        if (!made.test(entry)) visit(join(path, entry), name === '' ? entry : `${name}/${entry}`);
      return;
    }
    // A link would lead out of the copy, and devices and pipes are no part of a package.
    if (!stat.isFile()) return;
    bytes += stat.size;
    if (files.length >= maxFiles || bytes > maxBytes) {
      const what = `the package is too large to be taken: more than ${maxFiles} files or ${maxBytes / 1e6} MB`;
      throw fail('preflight', what, given, 'name the folder of the package alone, or an archive of it');
    }
    files.push({ name, path, mode: stat.mode & 0o755 });
  };
  visit(root, isFolder ? '' : basename(given));
  return { isFolder, files };
}

/** The identity of a package of this machine: the paths, bits and bytes of its files. Throws where it can't be read. */
export function sourceHash(given: string): string {
  const lines = filesOf(given).files.map(
    ({ name, mode, path }) => `${name}\0${mode & 0o100}\0${sha256(readFileSync(path))}`,
  );
  return shortHash(lines.join('\n'));
}

/**
 * Copies it to a folder that is free, so that what builds it writes nothing into the user's own. Returns what to install:
 * the folder, or the archive in it.
 */
export function copySource(given: string, to: string): string {
  const { isFolder, files } = filesOf(given);
  mkdirSync(to, { recursive: true });
  for (const { name, path, mode } of files) {
    const target = join(to, name);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
    chmodSync(target, mode | 0o600);
  }
  return isFolder ? to : join(to, basename(given));
}
