import { existsSync, realpathSync } from 'node:fs';
import { SkilloptError } from '../../ports/failure.ts';
import type { Finding } from '../../ports/preflight.ts';
import { removeFolder } from './clean.ts';
import type { LocalOptions } from './options.ts';
import { makeFolders } from './prepare.ts';
import { canBeShown } from './sandbox/bubblewrap-view.ts';
import { onPath } from './sandbox/runnable.ts';
import { RolloutWalls } from './walls.ts';

/**
 * What rollouts would look for in vain within their walls: places for the tasks' workdirs, what is to be shown, bash, and
 * what the pack says of its tasks. Looked at with the eyes of a verifier, in folders that are removed again.
 */
export async function sightFindings(options: LocalOptions): Promise<readonly Finding[]> {
  const shown = options.show.flatMap(showFinding);
  let walls: RolloutWalls;
  try {
    const folders = await makeFolders(realpathSync(options.tempRoot), options.sessionId, 'preflight');
    walls = RolloutWalls.raise({ ...options, limits: null }, { folders, workdir: '/app' });
  } catch {
    // that there is no place is told where places are looked at
    return [...shown, ...(await options.problems(options.tasks, () => true))];
  }
  try {
    const view = walls.verifierView();
    const path = walls.environment(view, {}).PATH ?? '';
    const seen = (command: string) =>
      onPath(command, path, '/', (file) => options.sandbox.hostPathOf(file, view)) !== null;
    return [
      ...shown,
      ...workdirFindings(options, walls),
      ...(seen('bash') ? [] : [noBash]),
      ...(await options.problems(options.tasks, seen)),
    ];
  } finally {
    await removeFolder(walls.folders.root);
  }
}

/** Verifiers are scripts of bash unless they say otherwise. */
const noBash: Finding = { level: 'error', what: 'bash is not on PATH', where: 'every task', fix: 'install bash' };

function showFinding(path: string): readonly Finding[] {
  const where = 'sandbox.show';
  if (!canBeShown(path))
    return [{ level: 'error', what: `${path} can’t be shown`, where, fix: 'name the folders that are needed' }];
  if (existsSync(path)) return [];
  return [{ level: 'warning', what: `${path} is not there, so it is not shown`, where, fix: 'mend its path' }];
}

function workdirFindings(options: LocalOptions, { folders }: RolloutWalls): readonly Finding[] {
  const known = new Set<string>();
  return options.tasks.flatMap((task): readonly Finding[] => {
    if (known.has(task.workdir)) return [];
    known.add(task.workdir);
    try {
      // it is the building of the view that shows whether there is a place
      const walls = RolloutWalls.raise({ ...options, limits: null }, { folders, workdir: task.workdir });
      options.sandbox.sees(task.workdir, walls.verifierView());
      return [];
    } catch (error) {
      if (!(error instanceof SkilloptError)) throw error;
      const { what, fix } = error.failure;
      return [{ level: 'error', what, where: `task ${task.id}`, fix }];
    }
  });
}
