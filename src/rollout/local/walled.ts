import { realpathSync } from 'node:fs';
import { fail, SkilloptError } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import type { Mark } from '../../process/mark.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import type { Walled, WalledCommand } from '../preloads/steps.ts';
import { removeFolder } from './clean.ts';
import { markName } from './environment.ts';
import { launch } from './launch.ts';
import { makeFolders } from './prepare.ts';
import { makePlaceholders } from './stand.ts';
import { RolloutWalls, type WallOptions } from './walls.ts';

/**
 * The id under which commands of a session's preloads run, by where these lie: a session that has not begun gets another
 * id each time, and what was left must be found all the same.
 */
export function preparationId(dir: string): string {
  return shortHash(`preloads of ${dir}`, 8);
}

/** By what processes are known that prepare a session's rollouts. */
export function preparationMark(id: string): Mark & { readonly match: 'exact' } {
  return { name: markName, match: 'exact', value: `${id}/preloads` };
}

/**
 * Runs single commands as those of rollouts are run: within the walls, in folders of their own, which are gone afterwards,
 * and a folder of this machine that they may write at its own path.
 */
export function walledCommands(id: string, o: Omit<WallOptions, 'gateway' | 'relay'>): Walled {
  return async (wanted) => {
    const made = await makeFolders(realpathSync(o.tempRoot), id, 'preloads');
    const mark = { ...preparationMark(id), places: [{ folder: made.root, sinceMs: Date.now() }] };
    const folders = wanted.writable === null ? made : { ...made, workspace: wanted.writable };
    let walls: RolloutWalls | null = null;
    try {
      const { show, network } = wanted;
      const all = { ...o, show: [...o.show, ...show], network, gateway: null, relay: null };
      walls = raised(all, folders, wanted.writable);
      return await run(walls, wanted, mark, o);
    } finally {
      await walls?.reap(mark);
      walls?.fall();
      await removeFolder(made.root);
    }
  };
}

/** Throws `preflight` where the walls stand in the way of the folder itself. */
function raised(o: WallOptions, folders: RolloutWalls['folders'], writable: string | null): RolloutWalls {
  try {
    return RolloutWalls.raise(o, { folders, workdir: writable ?? '/app' });
  } catch (cause) {
    if (!(cause instanceof SkilloptError) || writable === null) throw cause;
    const what = 'nothing can be installed there: the sandbox needs the place for itself';
    throw fail('preflight', what, writable, 'move the session to another directory, such as one in your home', {
      cause,
    });
  }
}

async function run(
  walls: RolloutWalls,
  { command, cwd, env, timeoutMs, signal }: WalledCommand,
  mark: Mark & { readonly match: 'exact' },
  { sandbox }: Pick<WallOptions, 'sandbox'>,
): Promise<ProcessEnd> {
  const view = walls.agentView();
  makePlaceholders(walls.folders.root, sandbox.placeholders(view));
  const watch = await walls.watch();
  const context = walls.enter({ mark, cancelled: signal, graceMs: 2_000 }, view, watch);
  const options = { command, cwd, env: walls.environment(view, env), timeoutMs, mergeStderr: true };
  const end = await launch(context, { ...options, maxOutputBytes: 200_000 }).finally(() => watch?.stop());
  const reached = (await watch?.end()) ?? [];
  if (reached.length === 0) return end;
  const stdout = [end.stdout.trimEnd(), ...reached].join('\n');
  // it was ended by us, and not because anybody wanted it to stop
  return end.cause === 'cancelled' && !signal.aborted
    ? { ...end, cause: 'exited', exitCode: 1, stdout }
    : { ...end, stdout };
}
