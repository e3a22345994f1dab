import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** Where a program is looked for: the file of this machine behind a path, null = none. */
export type Seen = (path: string) => string | null;

/** The path by which a program is found on a PATH, as inside; null = it is not. Relative folders start from `cwd`. */
export function onPath(program: string, path: string, cwd: string, seen: Seen): string | null {
  for (const folder of path.split(':')) {
    const found = join(isAbsolute(folder) ? folder : resolve(cwd, folder), program);
    const host = seen(found);
    if (host !== null && isProgram(host)) return found;
  }
  return null;
}

/** Why a program can't be started inside, in the words of `runProcess`; null = nothing speaks against it. */
export function whyNotRunnable(
  program: string,
  o: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  seen: Seen,
): string | null {
  if (!program.includes('/'))
    return onPath(program, o.env.PATH ?? '', o.cwd, seen) === null
      ? `the command ${program} was not found on its PATH`
      : null;
  const host = seen(resolve(o.cwd, program));
  if (host === null) return `the command ${program} was not found`;
  return isProgram(host) ? null : `the command ${program} is not executable`;
}

function isProgram(host: string): boolean {
  try {
    accessSync(host, constants.X_OK);
    return statSync(host).isFile();
  } catch {
    return false;
  }
}
