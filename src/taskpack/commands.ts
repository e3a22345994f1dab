import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Finding } from '../ports/preflight.ts';
import type { FolderTask } from '../ports/task.ts';

/** Commands that tasks need on the host (`[metadata] commands`) and that no folder of `pathEnv` (a PATH) holds. */
export function missingCommands(tasks: readonly FolderTask[], pathEnv: string): readonly Finding[] {
  const wanted = [...new Set(tasks.flatMap((task) => task.commands))].toSorted();
  return wanted
    .filter((command) => !isOnPath(command, pathEnv))
    .map((command) => {
      const users = tasks.filter((task) => task.commands.includes(command)).map((task) => task.id);
      const more = users.length > 5 ? ` and ${users.length - 5} more` : '';
      return {
        level: 'error',
        what: `the command ${command} is not on this machine, which is what tasks without a container use`,
        where: `needed by ${users.slice(0, 5).join(', ')}${more}`,
        fix: `install ${command}, or take the tasks that need it out of the pack`,
      };
    });
}

/** Does a folder of the PATH hold the command? Relative folders do not count: a rollout has a current directory of its own. */
export function isOnPath(command: string, pathEnv: string): boolean {
  return pathEnv
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .some((folder) => isExecutable(join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
