import { constants } from 'node:fs';
import { access, lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fail, type SkilloptError } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import type { FolderTask, Pack, Task } from '../ports/task.ts';
import { type PackProblem, packFailure } from './pack-failure.ts';
import { readTask } from './read-task.ts';
import { byCodeUnit } from './tree.ts';

/**
 * Reads a pack: a folder with one folder per task in Harbor's format. Executes nothing and changes nothing. Plain
 * files at the top (a README.md) and hidden entries (.git) are not looked at; every other folder must be a task.
 * Names that start with `.` are hidden unless they hold a task.toml, which is refused rather than passed over.
 *
 * Throws `pack` with everything that is wrong, in one go: `what` is the first problem, `where` has a line for each.
 */
export async function readPack(dir: string): Promise<Pack<FolderTask>> {
  const root = resolve(dir);
  await requireFolder(root);
  if (await exists(join(root, 'task.toml'))) {
    throw fail('pack', 'this is one task, not a pack', root, 'name the folder that holds the task folders');
  }
  const { ids, strays } = await listTasks(root);
  if (ids.length === 0) throw await noTasks(root, strays);

  const tasks: FolderTask[] = [];
  const problems: PackProblem[] = [...strays];
  for (const id of ids) {
    const reading = await readTask(root, id);
    if (reading.ok) tasks.push(reading.task);
    else problems.push(...reading.problems);
  }
  problems.push(...sameContent(tasks));
  if (problems.length > 0) throw packFailure(root, problems);
  return { name: basename(root), dir: root, hash: packHash(tasks), tasks };
}

/** The identity of a pack: that of its tasks, in the order of their ids. */
export function packHash(tasks: readonly Pick<Task, 'hash'>[]): string {
  return sha256(tasks.map((task) => `${task.hash}\n`).join(''));
}

async function requireFolder(root: string): Promise<void> {
  const info = await stat(root).catch((error: NodeJS.ErrnoException) => error);
  if (info instanceof Error) {
    if (info.code === 'ENOENT' || info.code === 'ENOTDIR') {
      const kind = /\.json$/i.test(root) ? 'file' : 'folder';
      throw fail('pack', `there is no such ${kind}`, root, 'check the path of the pack');
    }
    throw fail('pack', `the pack can not be read: ${info.message}`, root, 'check its permissions', { cause: info });
  }
  if (!info.isDirectory()) {
    throw fail(
      'pack',
      'a pack is a folder, and this is a file',
      root,
      'name the folder that holds the task folders, or a tasks.json',
    );
  }
}

type Listing = { readonly ids: readonly string[]; readonly strays: readonly PackProblem[] };

async function listTasks(root: string): Promise<Listing> {
  const names = await readdir(root).catch((cause: Error) => {
    throw fail('pack', `the pack can not be read: ${cause.message}`, root, 'check its permissions', { cause });
  });
  const realRoot = await realpath(root);
  const ids: string[] = [];
  const strays: PackProblem[] = [];
  for (const name of names.toSorted(byCodeUnit)) {
    const path = join(root, name);
    const holdsTask = await exists(join(path, 'task.toml'));
    if (name.startsWith('.') && !holdsTask) continue;
    const info = await stat(path).catch(() => null);
    if (info !== null && !info.isDirectory()) continue;
    const obstacle = info === null ? unreachable(name) : await misplaced(realRoot, name);
    if (obstacle !== null) strays.push({ path: name, ...obstacle });
    else if (holdsTask) ids.push(name);
    else {
      strays.push({
        path: name,
        what: 'a folder without task.toml',
        fix: 'add task.toml, or move the folder out of the pack',
      });
    }
  }
  return { ids, strays };
}

type Obstacle = Pick<PackProblem, 'what' | 'fix'>;

function unreachable(name: string): Obstacle {
  return name.includes('\uFFFD')
    ? { what: 'a name that is not UTF-8', fix: 'rename the folder: letters, digits, - and _ will do' }
    : { what: 'a symbolic link that leads nowhere', fix: 'remove the link' };
}

async function misplaced(realRoot: string, name: string): Promise<Obstacle | null> {
  const real = await realpath(join(realRoot, name));
  if (!real.startsWith(realRoot.endsWith('/') ? realRoot : `${realRoot}/`)) {
    return {
      what: 'a symbolic link that leads out of the pack',
      fix: 'replace the link by a copy of the task folder',
    };
  }
  const readable = await access(real, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  return readable ? null : { what: 'not readable', fix: `allow it: chmod u+rx "${name}"` };
}

async function noTasks(root: string, strays: readonly PackProblem[]): Promise<SkilloptError> {
  for (const { path } of strays) {
    const below = await readdir(join(root, path)).catch(() => []);
    for (const name of below) {
      if (!(await exists(join(root, path, name, 'task.toml')))) continue;
      return fail('pack', 'there is no task in this folder', root, `name the folder below it: ${join(root, path)}`);
    }
  }
  const seen = strays.length === 0 ? 'it holds no folder' : `none of its ${strays.length} folders has a task.toml`;
  return fail(
    'pack',
    `there is no task in this folder: ${seen}`,
    root,
    'name a folder that holds task folders (task.toml, instruction.md, environment/, tests/test.sh)',
  );
}

function sameContent(tasks: readonly FolderTask[]): readonly PackProblem[] {
  const first = new Map<string, string>();
  const problems: PackProblem[] = [];
  for (const task of tasks) {
    const twin = first.get(task.hash);
    if (twin === undefined) first.set(task.hash, task.id);
    else {
      problems.push({
        path: task.id,
        what: `the same task as ${twin}, file by file: it would be counted twice`,
        fix: `remove ${task.id} or ${twin}`,
      });
    }
  }
  return problems;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
