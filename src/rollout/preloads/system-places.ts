import { dirname, join } from 'node:path';
import { holds } from '../agents/cli/program-needs.ts';

/** Folders of the system that every rollout sees anyway. */
const system = /^\/(?:usr|bin|sbin|lib|lib64)(?:\/|$)/;

/** Is it somewhere that has to be shown to be seen? */
export function outsideOfSystem(path: string): boolean {
  return path !== '/' && !system.test(path);
}

/**
 * What has to be shown of an interpreter that lies in `base`, so that it runs: all of that, or, where this would show the
 * user's home, the program and the folder of its library (`library`, below `base`) alone.
 */
export function shownOf(
  interpreter: { readonly base: string; readonly executable: string; readonly library: string | null },
  home: string,
): readonly string[] {
  const { base, executable, library } = interpreter;
  const all = holds(base, home) ? [executable, ...(library === null ? [] : [join(base, library)])] : [base];
  return [...new Set([...all, ...(executable.startsWith(`${base}/`) ? [] : [dirname(executable)])])].filter(
    (path) => outsideOfSystem(path) && !holds(path, home),
  );
}
