import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Finding } from '../ports/preflight.ts';
import type { FolderTask } from '../ports/task.ts';

/**
 * Commands that tasks need on the host (`[metadata] commands`) and that no folder of `pathEnv` (a PATH) holds, or that are
 * not seen by those who need them: `seen` = as within a sandbox; absent = as this program sees them.
 */
export function missingCommands(
  tasks: readonly FolderTask[],
  pathEnv: string,
  seen: (command: string) => boolean = (command) => folderOf(command, pathEnv) !== null,
): readonly Finding[] {
  const wanted = [...new Set(tasks.flatMap((task) => task.commands))].toSorted();
  return wanted
    .filter((command) => !seen(command))
    .map((command) => {
      const users = tasks.filter((task) => task.commands.includes(command)).map((task) => task.id);
      const more = users.length > 5 ? ` and ${users.length - 5} more` : '';
      const where = `needed by ${users.slice(0, 5).join(', ')}${more}`;
      const folder = folderOf(command, pathEnv);
      if (folder === null)
        return {
          level: 'error',
          what: `the command ${command} is not on this machine, which is what tasks without a container use`,
          where,
          fix: `install ${command}, or take the tasks that need it out of the pack`,
        };
      return {
        level: 'error',
        what: `the command ${command} is in ${folder}, which is not shown within the sandbox`,
        where,
        fix: `install ${command} for the whole system, or show all that it needs ("sandbox": {"show": ["${folder}", …]})`,
      };
    });
}

/** Does a folder of the PATH hold the command? Relative folders do not count: a rollout has a current directory of its own. */
export function isOnPath(command: string, pathEnv: string): boolean {
  return folderOf(command, pathEnv) !== null;
}

function folderOf(command: string, pathEnv: string): string | null {
  const folders = pathEnv.split(delimiter).filter(isAbsolute);
  return folders.find((folder) => isExecutable(join(folder, command))) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
