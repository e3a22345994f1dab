import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type FailureCode, fail } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { printableName } from '../ports/printable.ts';
import { boundedList } from './bounded-list.ts';

/** One file of a tree. A symbolic link that stays inside stands as the file it leads to. */
export type TreeFile = {
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** Absolute path of the bytes, links resolved. */
  readonly source: string;
  /** The owner may execute it. */
  readonly executable: boolean;
  readonly bytes: number;
};

/** Something in a tree that cannot be taken. */
export type TreeProblem = {
  /** Relative to the root, with `/`; `.` is the root. */
  readonly path: string;
  readonly what: string;
  readonly fix: string;
};

/** A folder as it was listed. Whoever gets `problems` must not use the rest. */
export type Tree = {
  /** In the order of their paths (by code unit). */
  readonly files: readonly TreeFile[];
  /** Every folder below the root, empty ones too, in the order of their paths. */
  readonly directories: readonly string[];
  readonly bytes: number;
  readonly problems: readonly TreeProblem[];
};

/** Bounds of a listing, so that a wrong folder (a home, a root) ends in a message and not in an hour of copying. */
export type TreeLimits = { readonly maxBytes: number; readonly maxFiles: number };

/** For a whole skill or pack. */
export const treeLimits: TreeLimits = { maxBytes: 2_000_000_000, maxFiles: 100_000 };

/**
 * Lists a folder without executing or changing anything. Left out: `.DS_Store` everywhere and `.git` directly in the
 * root (a skill or task that is a repository of its own); all else belongs to the tree, `node_modules` and a `.git`
 * further down (a task's fixture) included. Links that lead out of the folder, dangling or circular links, special
 * files and unreadable ones are problems. The root itself may be a link, and so may the file `named`: the path of one
 * that the user has named, wherever it leads. Throws only when the root can't be listed.
 */
export async function readTree(root: string, limits: TreeLimits = treeLimits, named?: string): Promise<Tree> {
  const realRoot = await realpath(root);
  const files: TreeFile[] = [];
  const directories: string[] = [];
  const problems: TreeProblem[] = [];
  let bytes = 0;
  let full = false;

  const inside = (path: string) => path === realRoot || path.startsWith(realRoot === sep ? sep : realRoot + sep);

  async function visitEntry(path: string, above: readonly string[]): Promise<void> {
    const source = await realpath(join(realRoot, path)).catch(() => null);
    if (source === null) {
      problems.push({
        path,
        what: 'a link that leads nowhere, or a name that is not UTF-8',
        fix: 'put the file itself there, or remove it',
      });
      return;
    }
    const info = await stat(source);
    if (!inside(source) && !(path === named && info.isFile())) {
      problems.push({
        path,
        what: 'a symbolic link that leads out of the folder',
        fix: 'replace the link by a copy of what it leads to',
      });
      return;
    }
    if (info.isDirectory()) {
      if (above.includes(source)) {
        problems.push({
          path,
          what: 'a symbolic link to a folder above it, which never ends',
          fix: 'remove the link',
        });
        return;
      }
      directories.push(path);
      await visitFolder(path, source, [...above, source]);
      return;
    }
    if (!info.isFile()) {
      problems.push({ path, what: 'not a regular file (a pipe, socket or device)', fix: 'remove it' });
      return;
    }
    const readable = await access(source, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (!readable) {
      problems.push({ path, what: 'not readable', fix: `allow it: chmod u+r "${path}"` });
      return;
    }
    files.push({ path, source, executable: (info.mode & 0o100) !== 0, bytes: info.size });
    bytes += info.size;
  }

  async function visitFolder(path: string, source: string, above: readonly string[]): Promise<void> {
    const names = await readdir(source).catch(() => null);
    if (names === null) {
      problems.push({ path: path || '.', what: 'not readable', fix: `allow it: chmod u+rx "${path || '.'}"` });
      return;
    }
    for (const name of names.toSorted(byCodeUnit)) {
      if (name === '.DS_Store' || (path === '' && name === '.git')) continue;
      if (full) return;
      await visitEntry(path === '' ? name : `${path}/${name}`, above);
      const excess =
        bytes > limits.maxBytes
          ? `over ${Math.floor(limits.maxBytes / 1_000_000)} MB`
          : files.length + directories.length > limits.maxFiles
            ? `over ${limits.maxFiles} files and folders`
            : null;
      if (excess !== null && !full) {
        full = true;
        problems.push({
          path: '.',
          what: `${excess}, all of which would be copied again and again`,
          fix: 'take out what is not needed, or let the environment fetch it when it is built',
        });
      }
    }
  }

  await visitFolder('', realRoot, [realRoot]);
  return {
    files: files.toSorted((a, b) => byCodeUnit(a.path, b.path)),
    directories: directories.toSorted(byCodeUnit),
    bytes,
    problems,
  };
}

/** Order of names and paths: by code unit, the same on every machine and in every locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The identity of a list of files: SHA-256 (hex) over path, exec bit and bytes of each, in the order of the paths.
 * Times, owners, other mode bits, empty folders and the place of the folder do not enter.
 */
export async function hashFiles(files: readonly TreeFile[]): Promise<string> {
  const lines: string[] = [];
  for (const file of files.toSorted((a, b) => byCodeUnit(a.path, b.path))) {
    lines.push(`${file.path}\0${file.executable ? 'x' : '-'}\0${await hashFile(file.source)}\n`);
  }
  return sha256(lines.join(''));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

/** The listing of a folder that must be whole. Throws `code` with every problem of the tree. */
export async function requireTree(
  root: string,
  code: FailureCode,
  limits: TreeLimits = treeLimits,
  named?: string,
): Promise<Tree> {
  const tree = await readTree(root, limits, named).catch((cause: unknown) => {
    throw fail(code, 'the folder can not be read', root, 'check its path and its permissions', { cause });
  });
  const first = tree.problems[0];
  if (first !== undefined) {
    const where = boundedList(tree.problems.map((p) => `${join(root, printableName(p.path))}: ${p.what}`)).join('\n');
    throw fail(code, `a folder can not be taken as it is: ${first.what}`, where, printableName(first.fix));
  }
  return tree;
}

/** The identity of a folder's content (see `readTree` for what belongs to it, `hashFiles` for what enters). */
export async function hashTree(
  root: string,
  options: { readonly code?: FailureCode; readonly limits?: TreeLimits } = {},
): Promise<string> {
  return hashFiles((await requireTree(root, options.code ?? 'pack', options.limits)).files);
}
