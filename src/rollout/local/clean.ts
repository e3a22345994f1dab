import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mark } from '../../process/mark.ts';
import { reapLeftovers } from '../../process/reap-leftovers.ts';
import { markName } from './environment.ts';
import { isFolderOf } from './prepare.ts';

/** Leftovers had their time already; they get this long between TERM and KILL. */
const leftoverGraceMs = 500;

/** Ends what a rollout left running outside of its groups. Returns what was ended, for people. */
export function reapRollout(mark: Mark): Promise<readonly string[]> {
  return reapLeftovers(mark, leftoverGraceMs);
}

/** Removes a rollout's folder with all that is in it, also what was made read-only; links are not followed. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await makeRemovable(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeRemovable(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => {});
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await makeRemovable(join(folder, entry.name));
  }
}

/** Ends processes and removes folders that rollouts of an earlier process of this session left; for people. */
export async function sweepSession(sessionId: string, tempRoot: string): Promise<readonly string[]> {
  const ended = await reapRollout({ name: markName, match: 'prefix', value: `${sessionId}/` });
  const removed: string[] = [];
  for (const name of await readdir(tempRoot).catch(() => [])) {
    if (!isFolderOf(sessionId, name)) continue;
    const folder = join(tempRoot, name);
    const stat = await lstat(folder).catch(() => null);
    if (stat === null || !stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid)) continue;
    await removeFolder(folder);
    removed.push(`folder ${folder}`);
  }
  return [...ended, ...removed];
}
