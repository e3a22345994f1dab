import { lstat, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fail, SkilloptError } from '../../ports/failure.ts';
import { byCodeUnit } from '../tree.ts';
import type { FolderImport } from './imported.ts';
import { Losses } from './losses.ts';

/** All task folders of a dataset. */
const EVERYWHERE = '**/task.toml';
/** Most folders that a pattern may find. */
const MOST_FOLDERS = 10_000;

/**
 * Finds task folders in a dataset: those that fit the pattern (from the root, `org/*\/task-*`), or all that hold a
 * task.toml. Links out of the dataset, and folders that fit and are no tasks, are told. Throws `usage` where nothing fits.
 */
export async function findTaskFolders(root: string, pattern: string | null): Promise<FolderImport> {
  const losses = new Losses();
  const real = await realpath(root);
  const shown = pattern === null ? await holdersOf(real) : await fitting(real, pattern);
  if (shown.length === 0 && pattern !== null)
    throw fail('usage', `nothing fits ${pattern}`, root, 'name folders from there, such as --glob "org/*/task-*"');
  const folders: { readonly dir: string; readonly shown: string }[] = [];
  let entries = 0;
  for (const name of shown) {
    const dir = join(real, name);
    const place = await realpath(dir).catch(() => null);
    if (place === null || !place.startsWith(real + sep)) {
      entries++;
      losses.left(name, 'a task folder', 'a symbolic link that leads out of the dataset, or nowhere');
    } else if (await isFile(join(dir, 'task.toml'))) {
      entries++;
      folders.push({ dir: place, shown: name });
    } else if ((await stat(dir)).isDirectory()) {
      losses.left(name, 'a folder', 'it holds no task.toml');
    }
  }
  return { kind: 'folders', folders, losses: losses.all(), entries };
}

/** Whether there is a task folder in it, at whatever depth. */
export async function holdsTasks(root: string): Promise<boolean> {
  for await (const _ of matches(root, EVERYWHERE, true)) return true;
  return false;
}

async function holdersOf(root: string): Promise<readonly string[]> {
  const found = await scan(root, EVERYWHERE, true);
  return found.map((name) => name.slice(0, -'/task.toml'.length)).filter((name) => name !== '');
}

async function fitting(root: string, pattern: string): Promise<readonly string[]> {
  const clean = pattern.replace(/^(?:\.\/)+/, '').replace(/\/(?:task\.toml)?$/, '');
  if (clean.startsWith('/') || clean.split('/').includes('..'))
    throw fail('usage', 'the pattern leads out of the dataset', pattern, 'write it from the dataset’s folder on');
  return (await scan(root, clean, false)).filter((name) => name !== '.' && name !== '');
}

async function scan(root: string, pattern: string, onlyFiles: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const name of matches(root, pattern, onlyFiles)) {
    if (found.length === MOST_FOLDERS)
      throw fail('usage', `more than ${MOST_FOLDERS} folders fit`, `${root}: ${pattern}`, 'write a narrower --glob');
    found.push(name.split(sep).join('/').replace(/\/$/, ''));
  }
  return found.sort(byCodeUnit);
}

/** What fits a pattern. A folder on the way that can't be read is told: tasks in it would be missed. */
async function* matches(root: string, pattern: string, onlyFiles: boolean): AsyncGenerator<string> {
  try {
    yield* new Bun.Glob(pattern).scan({ cwd: root, onlyFiles });
  } catch (cause) {
    const { code, path } = cause as { readonly code?: string; readonly path?: string };
    if (code === undefined || cause instanceof SkilloptError) throw cause;
    const fix = 'let it be read, or name the folders that count with --glob';
    throw fail('pack', `a folder on the way can’t be read (${code})`, path ?? root, fix, { cause });
  }
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => !info.isDirectory(),
    () => false,
  );
}
