import { chmod, lstat, readdir, realpath, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mark, MarkedPlace } from '../../process/mark.ts';
import { findPidsParent, madeMs, pidsCellsIn } from '../../process/pids-cell.ts';
import { reapLeftovers } from '../../process/reap-leftovers.ts';
import { errorCode } from '../../process/system-refusal.ts';
import { markName } from './environment.ts';
import { failureOf } from './errors.ts';
import { isFolderOf } from './prepare.ts';

/** Leftovers had their time already; they get this long between TERM and KILL. */
const leftoverGraceMs = 500;

/** Ends what a rollout left running outside of its groups. Returns what was ended, for people. */
export function reapRollout(mark: Mark): Promise<readonly string[]> {
  return reapLeftovers(mark, leftoverGraceMs);
}

/**
 * Removes a rollout's folder with all that is in it, also what was made read-only; links are not followed. What cannot
 * be removed keeps nothing else: returns why it cannot, for people; null = all is gone. Never rejects.
 */
export async function removeFolder(folder: string): Promise<string | null> {
  try {
    await rm(folder, { recursive: true, force: true });
    return null;
  } catch {
    return removeEach(folder);
  }
}

async function removeEach(folder: string): Promise<string | null> {
  await chmod(folder, 0o700).catch(() => {});
  let problem: string | null = null;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    const met = entry.isDirectory() ? await removeEach(path) : await problemOf(unlink(path));
    problem ??= met;
  }
  return problem ?? problemOf(rmdir(folder));
}

async function problemOf(removal: Promise<void>): Promise<string | null> {
  try {
    await removal;
    return null;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? null : (error as Error).message;
  }
}

/**
 * Ends processes and removes folders that rollouts of an earlier process of this session left. Returns what it did and
 * what it could not do, for people. Throws only when the system has no room to look.
 */
export async function sweepSession(sessionId: string, tempRoot: string): Promise<readonly string[]> {
  const left = await foldersLeft(sessionId, tempRoot);
  const mark: Mark = {
    name: markName,
    match: 'prefix',
    value: `${sessionId}/`,
    places: left.filter((one) => one.ours),
  };
  const lines: string[] = [];
  try {
    lines.push(...(await reapRollout(mark)));
  } catch (error) {
    const failure = failureOf(error, tempRoot);
    if (failure !== null) throw failure;
    lines.push(`leftover processes could not be looked for (${(error as Error).message})`);
  }
  lines.push(...(await sweepCells(sessionId)));
  for (const { folder, ours } of left) {
    const problem = ours ? await removeFolder(folder) : 'it belongs to another user';
    lines.push(
      problem === null ? `folder ${folder}` : `folder ${folder} could not be removed (${problem}); remove it by hand`,
    );
  }
  return lines;
}

const DAY_MS = 86_400_000;

/** Ends and takes away groups of the kernel that rollouts of the session left, and empty ones of any session that are old. */
async function sweepCells(sessionId: string): Promise<readonly string[]> {
  const parent = findPidsParent();
  if (parent === null) return [];
  const lines: string[] = [];
  for (const cell of pidsCellsIn(parent, (name) => isFolderOf(sessionId, name))) {
    const inIt = cell.pids();
    await cell.empty(leftoverGraceMs);
    cell.remove();
    lines.push(...inIt.map((pid) => `process ${pid}`));
  }
  for (const cell of pidsCellsIn(parent, (name) => sessionOf(name) !== null))
    if (cell.pids().length === 0 && Date.now() - (madeMs(cell) ?? Date.now()) > DAY_MS) cell.remove();
  return lines;
}

/** The session of a rollout's folder by its name; null = it is none. */
function sessionOf(name: string): string | null {
  return /^skillopt-(.+)-[0-9a-f]{12}-[A-Za-z0-9]{6}$/.exec(name)?.[1] ?? null;
}

/** Sessions whose rollouts left folders that nobody has touched for so long. */
export async function sessionsLeft(tempRoot: string, untouchedMs: number, nowMs: number): Promise<readonly string[]> {
  const names = await readdir(tempRoot).catch(() => []);
  const found = names.flatMap((name) => {
    const session = sessionOf(name);
    return session === null ? [] : [{ session, path: join(tempRoot, name) }];
  });
  const stats = await Promise.all(found.map(({ path }) => lstat(path).catch(() => null)));
  const isOld = (session: string) =>
    found.every((one, at) => one.session !== session || nowMs - (stats[at]?.mtimeMs ?? nowMs) > untouchedMs);
  return [...new Set(found.map(({ session }) => session))].filter(isOld).sort();
}

type Left = MarkedPlace & { readonly ours: boolean };

async function foldersLeft(sessionId: string, tempRoot: string): Promise<readonly Left[]> {
  const root = await realpath(tempRoot).catch(() => tempRoot);
  const names = (await readdir(root).catch(() => [])).filter((name) => isFolderOf(sessionId, name)).sort();
  const found = await Promise.all(
    names.map(async (name): Promise<readonly Left[]> => {
      const folder = join(root, name);
      const stat = await lstat(folder).catch(() => null);
      if (stat === null || !stat.isDirectory()) return [];
      const ours = stat.uid === (process.getuid?.() ?? stat.uid);
      // A file system that knows no such time says 0.
      return [{ folder, ours, sinceMs: stat.birthtimeMs > 0 ? stat.birthtimeMs : null }];
    }),
  );
  return found.flat();
}
