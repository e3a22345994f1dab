import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { EvalArmName } from '../events/eval-shapes.ts';
import type { EvalState } from '../events/eval-state.ts';
import type { EventOf } from '../events/events.ts';
import { diskFailure, type Head } from '../journal/journal.ts';
import { fail } from '../ports/failure.ts';
import type { Pack, Task } from '../ports/task.ts';
import { copyChanged } from './copies.ts';
import { evalCreatedEvent, evalDifferences, type ReadArm } from './eval-first-line.ts';
import type { EvalPaths } from './eval-paths.ts';
import type { SeedSkill } from './first-lines.ts';
import type { SessionParts } from './session-parts.ts';

/** Renders `skillopt-eval.md` from a prefix of the log: the same prefix, the same bytes. */
export type RenderEval = (state: EvalState, head: Head) => string;

/** What is to be measured. The sources are only read. */
export type EvalWanted = {
  /** Each copies its skill into `<to>/<name>/` and says what it is; null = without a skill. */
  readonly arms: readonly {
    readonly arm: EvalArmName;
    readonly importSkill: ((to: string) => Promise<SeedSkill>) | null;
  }[];
  /** Copies the pack to `to`; `packFrom` is where it comes from, as the user wrote it. */
  readonly importPack: (to: string) => Promise<void>;
  readonly packFrom: string;
  /** The config, which may depend on the kind of the pack; throws what keeps it from being used. */
  readonly configOf: (pack: Pack) => { readonly config: Config; readonly placeOf: (key: string) => string };
  /** The tasks that there are, and those of them that are measured. */
  readonly tasksOf: (pack: Pack, config: Config) => { readonly of: number; readonly tasks: readonly Task[] };
  readonly attempts: number;
  readonly session: { readonly id: string | null; readonly split: 'train' | 'selection' | 'test' } | null;
  /** Records another look at a session's test before the first rollout, and says the how-manieth it is. */
  readonly look: ((evalId: string) => number) | null;
  /** Another place for an eval that differs from the one that lies there. */
  readonly otherOut: string;
};

export type EvalParts = Pick<
  SessionParts,
  'bundleOf' | 'readPack' | 'refuseSecrets' | 'now' | 'program' | 'command' | 'newId'
> & {
  readonly render: RenderEval;
};

/** Reads the sources into the folder of what is next. */
export async function readSources(paths: EvalPaths, wanted: EvalWanted, parts: EvalParts, id: string) {
  rmSync(paths.next, { recursive: true, force: true });
  const to = join(paths.next, 'pack');
  await wanted.importPack(to);
  const pack = await parts.readPack(to);
  const { config, placeOf } = wanted.configOf(pack);
  await parts.refuseSecrets(config, placeOf);
  const arms: ReadArm[] = [];
  for (const { arm, importSkill } of wanted.arms)
    arms.push({ arm, skill: importSkill === null ? null : await importSkill(join(paths.next, 'skills', arm)) });
  const { of, tasks } = wanted.tasksOf(pack, config);
  const { attempts, packFrom } = wanted;
  const session = wanted.session === null ? null : { ...wanted.session, look: null };
  const event = evalCreatedEvent({
    id,
    program: parts.program,
    command: parts.command,
    config,
    arms,
    pack,
    packFrom,
    of,
    tasks,
    attempts,
    session,
  });
  const keys = event.arms.map((a) => a.skill);
  if (new Set(keys).size < keys.length)
    throw fail('usage', 'both skills are the same, text and files', '--vs', 'name another skill to compare with');
  return { event, pack, config };
}

/** What was read becomes the eval's own copy. */
export function keepSources(paths: EvalPaths): void {
  try {
    for (const [from, to] of [
      ['pack', paths.pack],
      ['skills', paths.skills],
    ] as const) {
      rmSync(to, { recursive: true, force: true });
      mkdirSync(dirname(to), { recursive: true });
      if (existsSync(join(paths.next, from))) renameSync(join(paths.next, from), to);
    }
  } catch (cause) {
    throw diskFailure('the copies can’t be kept', paths.hidden, cause);
  }
}

/** Throws `session-mismatch` when the eval that is wanted is not the one that has begun. */
export function refuseOther(
  was: EventOf<'eval.created'>,
  is: EventOf<'eval.created'>,
  paths: EvalPaths,
  otherOut: string,
): void {
  const list = evalDifferences(was, is);
  if (list.length === 0) return;
  throw fail(
    'session-mismatch',
    `another eval lies there; it differs in ${list.join(', ')}`,
    paths.dir,
    `measure this one in a directory of its own: --out ${otherOut}`,
  );
}

/** The copies have to be what the eval began with. */
export async function checkCopies(created: EventOf<'eval.created'>, paths: EvalPaths, parts: EvalParts): Promise<void> {
  const { hash } = await parts.readPack(paths.pack).catch((e: unknown) => {
    throw copyChanged('eval', 'pack', paths.pack, e);
  });
  if (hash !== created.pack.hash) throw copyChanged('eval', 'pack', paths.pack);
  for (const { arm, name, text, bundle } of created.arms) {
    if (text === null) continue;
    const copy = paths.skill(arm, name);
    const found = await parts.bundleOf(copy).catch((e: unknown) => {
      throw copyChanged('eval', 'skill', copy, e);
    });
    if (found.bundle !== bundle) throw copyChanged('eval', 'skill', copy);
  }
}
