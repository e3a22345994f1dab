import { realpathSync } from 'node:fs';
import { removeFolder } from './clean.ts';
import { markName } from './environment.ts';
import type { LocalOptions } from './options.ts';
import { makeFolders } from './prepare.ts';
import { type RolloutContext, RolloutWalls, type WallOptions } from './walls.ts';

/** What stands while an agent is run, as a rollout or for other work: its folders and walls, and what its processes are known by. */
export type Raised = { readonly walls: RolloutWalls; readonly context: RolloutContext };

const defaultGraceMs = 2_000;

/** Folders and walls under a key; both or, on an error, none. Throws errors of the file system, and `pack` for a workdir that can't be had. */
export async function raise(
  options: WallOptions & Pick<LocalOptions, 'sessionId' | 'graceMs'>,
  o: { readonly key: string; readonly workdir: string; readonly signal: AbortSignal },
): Promise<Raised> {
  const sinceMs = Date.now();
  // agents see the real path of their folders, whatever links lead there
  const folders = await makeFolders(
    realpathSync(options.tempRoot),
    options.sessionId,
    o.key,
    !options.sandbox.ownPaths,
  );
  let walls: RolloutWalls;
  try {
    walls = RolloutWalls.raise(options, { folders, workdir: o.workdir });
  } catch (error) {
    await removeFolder(folders.root);
    throw error;
  }
  const mark = {
    name: markName,
    match: 'exact',
    value: `${options.sessionId}/${o.key}`,
    places: [{ folder: folders.root, sinceMs }],
  } as const;
  return { walls, context: { mark, cancelled: o.signal, graceMs: options.graceMs ?? defaultGraceMs } };
}

/** Ends and removes all that is left. Returns what could not be, for people; the next `sweep` tries again. Never rejects. */
export async function clear({ walls, context }: Raised): Promise<string | null> {
  let running: string | null = null;
  try {
    await walls.reap(context.mark);
  } catch (error) {
    running = `What was left running could not be looked for: ${(error as Error).message}.`;
  }
  walls.fall();
  const left = await removeFolder(walls.folders.root);
  const folder = left === null ? null : `The folder could not be removed: ${left}. The next start tries it again.`;
  const problems = [running, folder].filter((problem) => problem !== null);
  return problems.length === 0 ? null : problems.join(' ');
}
