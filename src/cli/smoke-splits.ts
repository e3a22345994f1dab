import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { minSplitTasks } from '../engine/split-rules.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { type Pack, type SplitName, splitNames, type Task } from '../ports/task.ts';
import { bounds } from '../session/effective-config.ts';
import { createdEvent, type SeedSkill, splitsEvent } from '../session/first-lines.ts';
import { sessionPaths } from '../session/paths.ts';
import { readAnyPack } from '../taskpack/read-any-pack.ts';
import { VERSION } from '../version.ts';
import { readState } from './read-state.ts';
import { sources } from './sources.ts';

type Ids = Readonly<Record<SplitName, readonly string[]>>;

/** The tasks of a smoke test, and of the job that it stands for. */
export type SmokeTasks = {
  /** Ids by split: two each, none of the job's sealed test. */
  readonly splits: Ids;
  readonly from: 'train' | 'train and selection';
  readonly job: Ids;
  readonly tasks: readonly Task[];
};

const LEAST = minSplitTasks * splitNames.length;

/**
 * Draws the tasks of a smoke test from the job's own train split; from train and selection where train has too few;
 * never from its test. Throws `splits` where both together have too few.
 */
export async function smokeTasks(dir: string, config: Config): Promise<SmokeTasks> {
  const copy = mkdtempSync(join(tmpdir(), 'skillopt-smoke-'));
  try {
    const source = sources(dir, () => {});
    const skill = await source.importSkill(config, join(copy, 'skill'));
    await source.importPack(config, join(copy, 'pack'));
    const pack = await readAnyPack(join(copy, 'pack'));
    const job = splitsOfJob(dir, config, skill, pack);
    const of = (...names: readonly SplitName[]) =>
      pack.tasks.filter((t) => names.some((name) => job[name].includes(t.id)));
    const draw = (tasks: readonly Task[]) => drawFrom(config, skill, { ...pack, tasks });
    const alone = draw(of('train'));
    const splits = alone ?? draw(of('train', 'selection'));
    if (splits === null)
      throw fail(
        'splits',
        `a smoke test needs ${LEAST} tasks of its own, two a split, and train and selection have ${of('train', 'selection').length}; the tasks of the sealed test are not touched`,
        'splits',
        'add tasks to the pack, or begin the job itself with a small budget',
      );
    return { splits, from: alone === null ? 'train and selection' : 'train', job, tasks: pack.tasks };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** As the job has fixed them, or will. */
function splitsOfJob(dir: string, config: Config, skill: SeedSkill, pack: Pack): Ids {
  const fixed = existsSync(sessionPaths(dir).log) ? readState(dir).state : null;
  return fixed !== null && fixed.splits !== null ? fixed.tasks : idsOf(config, skill, pack);
}

/** Two ids for each split, one of each kind where the description is optimized; null = there are too few, or too many alike. */
function drawFrom(config: Config, skill: SeedSkill, pack: Pack): Ids | null {
  try {
    const ids = idsOf({ ...config, splits: { ratio: { train: 1, selection: 1, test: 1 } } }, skill, pack);
    const two = (name: SplitName) => {
      const tasks = ids[name].flatMap((id) => pack.tasks.find((t) => t.id === id) ?? []);
      const [first] = tasks;
      const second =
        config.optimize === 'body' ? tasks[1] : tasks.find((t) => t.shouldTrigger !== first?.shouldTrigger);
      return [first, second].flatMap((t) => (t === undefined ? [] : [t.id]));
    };
    return { train: two('train'), selection: two('selection'), test: two('test') };
  } catch (e) {
    if (e instanceof SkilloptError && e.failure.code === 'splits') return null;
    throw e;
  }
}

/** The splits that a session of this config would fix. */
function idsOf(config: Config, skill: SeedSkill, pack: Pack): Ids {
  const file = bounds(config);
  const event = splitsEvent(createdEvent({ session: '', program: VERSION, config, file, skill, pack, versions: {} }));
  const ids = (name: SplitName) => event[name].map((t) => t.id);
  return { train: ids('train'), selection: ids('selection'), test: ids('test') };
}
