import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hostEnvironment } from '../config/environment.ts';
import { takeLock } from '../journal/lock.ts';
import { fail } from '../ports/failure.ts';
import { cleanHarbor } from '../rollout/harbor/end-harbor.ts';
import { removeFolder, sessionsLeft, sweepSession } from '../rollout/local/clean.ts';
import { removeKept } from '../rollout/local/keep.ts';
import { preparationId } from '../rollout/local/walled.ts';
import { remakable } from '../rollout/preloads/record.ts';
import { evalPaths } from '../session/eval-paths.ts';
import { sessionPaths } from '../session/paths.ts';
import type { CommandContext } from './context.ts';
import { idIn } from './read-state.ts';

export type CleanOptions = { readonly temp?: boolean; readonly preloads?: boolean };

const DAY_MS = 86_400_000;

/** What was ended and removed, for people, and the bytes of kept workspaces. */
type Cleaned = { readonly removed: readonly string[]; readonly keptBytes: number };

/** Ends and removes what rollouts left. Throws `session-busy` while another process works there. */
export async function clean(dir: string, options: CleanOptions, context: CommandContext): Promise<void> {
  const { removed, keptBytes } = options.temp ? await cleanTemp() : await cleanDir(resolve(dir), options);
  const kept = keptBytes === 0 ? [] : [`removed     ${(keptBytes / 1e6).toFixed(1)} MB of kept workspaces`];
  const lines = [...removed.map((one) => `removed     ${one}`), ...kept];
  context.io.result({ removed, keptBytes }, lines.length === 0 ? ['nothing     was left'] : lines);
}

async function cleanDir(dir: string, { preloads }: CleanOptions): Promise<Cleaned> {
  const places = [sessionPaths(dir), evalPaths(dir)].filter(({ hidden }) => existsSync(hidden));
  if (places.length === 0)
    throw fail('usage', 'neither a session nor an eval lies here', dir, 'name the directory of one, or clean --temp');
  const removed: string[] = [];
  let keptBytes = 0;
  for (const paths of places) {
    const lock = takeLock(paths.hidden);
    try {
      const id = idIn(paths.log);
      if (id !== null) {
        removed.push(...(await sweepSession(id, tmpdir())));
        const dir = join(paths.hidden, 'harbor');
        const hostEnv = hostEnvironment();
        removed.push(...(await cleanHarbor({ sessionId: id, dir, hostEnv, onDocker: true })));
      }
      removed.push(...(await sweepSession(preparationId(paths.preloads), tmpdir())));
      keptBytes += await removeKept(paths.workspaces);
      const installed = preloads ? remakable(paths.preloads) : [];
      for (const path of installed) await removeFolder(path);
      if (installed.length > 0) removed.push(`what was installed in ${paths.preloads}`);
    } finally {
      lock.release();
    }
  }
  return { removed, keptBytes };
}

async function cleanTemp(): Promise<Cleaned> {
  const removed: string[] = [];
  for (const session of await sessionsLeft(tmpdir(), DAY_MS, Date.now()))
    removed.push(...(await sweepSession(session, tmpdir())));
  return { removed, keptBytes: 0 };
}
