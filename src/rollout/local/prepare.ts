import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import type { FolderTask } from '../../ports/task.ts';
import { copyTree } from '../copy-tree.ts';
import { type Folders, foldersIn } from './folders.ts';

/** One thing to copy into a workspace, in the order given; a folder stands for its content. */
export type WorkspaceCopy = {
  /** Relative to the task's `environment/`. */
  readonly from: string;
  /** Relative to the workspace. */
  readonly to: string;
  /** Permission bits; null = as in the task folder. */
  readonly mode: number | null;
};

/** The beginning of a rollout's folder name; `mkdtemp` adds six characters, so that no two ever meet. */
export function folderPrefix(sessionId: string, key: string): string {
  return `skillopt-${sessionId}-${shortHash(key)}-`;
}

/** Is this the name of a folder that a rollout of the session left? */
export function isFolderOf(sessionId: string, name: string): boolean {
  return new RegExp(`^skillopt-${RegExp.escape(sessionId)}-[0-9a-f]{12}-[A-Za-z0-9]{6}$`).test(name);
}

/**
 * Makes the empty folders of one rollout; all of them or, on an error, none. `isSeen`: its processes see where they lie, so
 * that it has to be a git root.
 */
export async function makeFolders(tempRoot: string, sessionId: string, key: string, isSeen = true): Promise<Folders> {
  const folders = foldersIn(await mkdtemp(join(tempRoot, folderPrefix(sessionId, key))));
  try {
    await fillRoot(folders);
    if (isSeen) await makeGitRoot(folders.root);
    return folders;
  } catch (error) {
    await rm(folders.root, { recursive: true, force: true });
    throw error;
  }
}

async function fillRoot(folders: Folders): Promise<void> {
  await Promise.all(
    [folders.workspace, folders.home, folders.skills, folders.agentLogs, folders.temp].map((folder) =>
      mkdir(folder, { recursive: true }),
    ),
  );
}

/** The least that git, and agents that look for it, take for a repository. */
async function makeGitRoot(root: string): Promise<void> {
  const git = join(root, '.git');
  await mkdir(join(git, 'objects'), { recursive: true });
  await mkdir(join(git, 'refs'));
  await writeFile(join(git, 'HEAD'), 'ref: refs/heads/main\n');
}

/** Fills the workspace with what the task puts there. */
export async function fillWorkspace(
  task: FolderTask,
  copies: readonly WorkspaceCopy[],
  folders: Folders,
): Promise<void> {
  for (const copy of copies) {
    const to = resolve(folders.workspace, copy.to);
    if (to !== folders.workspace && !to.startsWith(`${folders.workspace}/`)) {
      throw fail(
        'pack',
        `a file of the task leads out of its workdir: ${copy.to}`,
        task.id,
        'copy it into the workdir',
      );
    }
    await copyTree(join(task.dir, 'environment', copy.from), to, { mode: copy.mode });
  }
}
