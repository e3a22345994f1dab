import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { type FailureCode, fail, SkilloptError } from '../ports/failure.ts';
import { requireTree, type Tree, type TreeLimits } from './tree.ts';

/**
 * Copies a skill folder or a pack into the session. What belongs to the folder is told by `readTree`: everything but
 * `.DS_Store` and a `.git` in its root. Links inside become the files they lead to; exec bits are kept, other mode
 * bits become 644 and 755. The copy grows in a hidden sibling and is renamed at the end: `to` is whole or absent. The
 * source is only read. `named`: see `readTree`. Afterwards `hashTree(to)` equals `hashTree(from)`.
 *
 * Throws `options.code` (default `pack`) when the source can't be taken (see `requireTree`) or holds the target, and
 * `disk` when `to` exists already or can't be written.
 */
export async function copyTree(
  from: string,
  to: string,
  options: { readonly code?: FailureCode; readonly limits?: TreeLimits; readonly named?: string } = {},
): Promise<void> {
  const code = options.code ?? 'pack';
  const tree = await requireTree(from, code, options.limits, options.named);
  const source = await realpath(from);
  await growFolder(
    to,
    (growing) => fill(growing, tree),
    (parent) => refuseInside(parent, source, code),
  );
}

/**
 * Makes the folder `to`: it grows in a hidden sibling, which `fill` fills, and is renamed at the end. `before` is given
 * the folder in which that happens, which need not exist yet. Throws `disk` when `to` exists already or can't be
 * written, and what `fill` and `before` throw as failures.
 */
export async function growFolder(
  to: string,
  fill: (growing: string) => Promise<void>,
  before: (parent: string) => Promise<void> = async () => {},
): Promise<void> {
  const target = resolve(to);
  if (await exists(target)) {
    throw fail(
      'disk',
      'the place of the copy is taken',
      target,
      'move what stands there away, or choose another folder',
    );
  }
  try {
    const parent = dirname(target);
    await before(parent);
    await mkdir(parent, { recursive: true });
    const growing = await mkdtemp(join(parent, `.${basename(target)}.partial-`));
    try {
      await fill(growing);
      await chmod(growing, 0o755);
      await rename(growing, target);
    } catch (error) {
      await rm(growing, { recursive: true, force: true });
      throw error;
    }
  } catch (cause) {
    throw cause instanceof SkilloptError ? cause : copyFailure(cause, target);
  }
}

async function fill(growing: string, tree: Tree): Promise<void> {
  for (const path of tree.directories) {
    const folder = join(growing, path);
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
  for (const file of tree.files) {
    const place = join(growing, file.path);
    await copyFile(file.source, place, constants.COPYFILE_EXCL);
    await chmod(place, file.executable ? 0o755 : 0o644);
  }
}

/** A copy that lies in its own source would become part of it. The parent need not exist yet. */
async function refuseInside(parent: string, source: string, code: FailureCode): Promise<void> {
  let existing = parent;
  while (!(await exists(existing)) && dirname(existing) !== existing) existing = dirname(existing);
  const real = await realpath(existing);
  if (real === source || real.startsWith(source + sep)) {
    throw fail(
      code,
      'the copy would lie inside the folder that is copied',
      `${source} holds ${parent}`,
      'run in another working directory, or name a place beside that folder (eval: --out)',
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function copyFailure(cause: unknown, target: string): SkilloptError {
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return fail('disk', 'no space left for the copy', target, 'free some space, or choose a folder on another disk', {
      cause,
    });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return fail('disk', `the copy could not be written: ${reason}`, target, 'check the permissions of the folder', {
    cause,
  });
}
