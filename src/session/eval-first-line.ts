import { agentName } from '../config/agent.ts';
import { type Difference, differences } from '../config/differences.ts';
import { checkConfig } from '../config/load.ts';
import { modelName } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import { NO_SKILL } from '../engine/conversation.ts';
import type { EvalPlan } from '../engine/evaluate.ts';
import { ENGINE } from '../engine/rules.ts';
import type { EvalArm, EvalArmName } from '../events/eval-shapes.ts';
import type { EventOf } from '../events/events.ts';
import { fail } from '../ports/failure.ts';
import { sha256, shortHash } from '../ports/hash.ts';
import type { Pack, Task } from '../ports/task.ts';
import { environmentFingerprint, packName, requireShown, type SeedSkill, surroundingsOf } from './first-lines.ts';

/** The rules by which an eval is drawn. */
const EVAL_RULES = ['eval@1'] as const;

/** An arm as it was read; `skill` null = without one. */
export type ReadArm = { readonly arm: EvalArmName; readonly skill: SeedSkill | null };

export type EvalOptions = {
  readonly id: string;
  readonly program: string;
  /** As it was typed, without secrets. */
  readonly command?: string | undefined;
  readonly config: Config;
  readonly arms: readonly ReadArm[];
  readonly pack: Pack;
  /** Where the pack came from, as the user wrote it. */
  readonly packFrom: string;
  /** Tasks that there are, in the pack or in the split. */
  readonly of: number;
  readonly tasks: readonly Task[];
  readonly attempts: number;
  readonly session: EventOf<'eval.created'>['session'];
};

/** What stands for a skill in the keys of an eval: its text, and the files beside it where it has some. */
export function armKey(skill: SeedSkill | null): string {
  if (skill === null) return NO_SKILL;
  return shortHash(skill.files.length === 0 ? skill.text : `${skill.bundle}\n${skill.text}`);
}

/** What an eval's outcomes are made in, as it follows from the config; without the versions of what takes part. */
export function evalEnvironment(config: Config): EventOf<'eval.created'>['environment'] {
  return {
    backend: config.backend,
    agent: agentName(config.agent),
    model: config.model === null ? null : modelName(config.model),
    passThreshold: config.gate.passThreshold,
    fingerprint: environmentFingerprint(config, ''),
    versions: {},
    opens: config.backend !== 'chat' || config.optimize === 'description',
  };
}

/** The first line of an eval, without the versions of what takes part. */
export function evalCreatedEvent(o: EvalOptions): EventOf<'eval.created'> {
  const { config } = o;
  requireShown(config);
  return {
    type: 'eval.created',
    eval: o.id,
    engine: ENGINE,
    rules: [...EVAL_RULES],
    program: o.program,
    ...(o.command === undefined ? {} : { command: o.command }),
    rehearsal: config.agent === 'rehearsal',
    arms: o.arms.map(({ arm, skill }) =>
      skill === null
        ? { arm, name: 'no skill', skill: armKey(null), text: null, bundle: '', files: [], from: '' }
        : { ...skill, arm, skill: armKey(skill), files: [...skill.files] },
    ),
    pack: {
      name: packName(o.packFrom),
      hash: o.pack.hash,
      from: o.packFrom,
      of: o.of,
      tasks: o.tasks.map(({ id, hash, instructionHash, shouldTrigger }) => ({
        id,
        hash,
        instructionHash,
        shouldTrigger,
      })),
    },
    attempts: o.attempts,
    environment: evalEnvironment(config),
    config: { ...config },
    limits: { ...config.limits },
    session: o.session,
  };
}

/** The plan of an eval, read back from its first line. */
export function evalPlan(created: EventOf<'eval.created'>): EvalPlan {
  const { environment, pack, arms, attempts } = created;
  return { environment: environment.fingerprint, tasks: pack.tasks, arms, attempts, opens: environment.opens };
}

/** Rules are kept by version: a log of rules that this program does not know was made by a newer one. */
export function checkEvalRules(created: EventOf<'eval.created'>, where: string): void {
  if (JSON.stringify(created.rules) === JSON.stringify(EVAL_RULES) && created.engine === ENGINE) return;
  throw fail(
    'session-mismatch',
    `this eval was drawn by ${created.rules.join(', ')}, engine ${created.engine}; this program knows ${EVAL_RULES.join(', ')}, engine ${ENGINE}`,
    where,
    'use the program that made it, or measure anew with another --out',
  );
}

/**
 * At most so many tasks, drawn by the seed and by what the tasks are: the same ones for every skill, and those of a
 * smaller number are among those of a larger one. In the order in which they came.
 */
export function drawTasks<T extends Pick<Task, 'hash'>>(
  tasks: readonly T[],
  limit: number | null,
  seed: string,
): readonly T[] {
  if (limit === null || limit >= tasks.length) return tasks;
  const order = tasks.map((task) => ({ task, by: sha256(`${seed}\n${task.hash}`) }));
  const drawn = new Set(
    order
      .sort((a, b) => (a.by < b.by ? -1 : 1))
      .slice(0, limit)
      .map((o) => o.task),
  );
  return tasks.filter((task) => drawn.has(task));
}

/** Keys of a config that an eval's outcomes depend on. */
function ground(logged: EventOf<'eval.created'>['config']): Readonly<Record<string, unknown>> {
  const config = checkConfig(logged, 'line 1 of the log'); // one of before has fewer keys
  const { backend, agent, model, timeouts, optimize, gate } = config;
  const { passThreshold } = gate;
  return { backend, agent, model, timeouts, optimize, gate: { passThreshold }, ...surroundingsOf(config) };
}

/** In what the eval that is wanted now differs from the one that has begun, in words; empty = it is the same. */
export function evalDifferences(was: EventOf<'eval.created'>, is: EventOf<'eval.created'>): readonly string[] {
  const by = (e: EventOf<'eval.created'>) => new Map(e.arms.map((a) => [a.arm, a]));
  const before = by(was);
  const now = by(is);
  const arms = (['skill', 'other', 'no-skill'] as const).flatMap((arm) => armDifference(before.get(arm), now.get(arm)));
  const tasks = (e: EventOf<'eval.created'>) => e.pack.tasks.map((t) => `${t.id} ${t.hash} ${t.shouldTrigger}`);
  const changed = tasks(is).filter((t) => !tasks(was).includes(t)).length;
  const gone = tasks(was).filter((t) => !tasks(is).includes(t)).length;
  return [
    ...arms,
    ...(was.session?.split === is.session?.split
      ? []
      : [`split (was ${was.session?.split ?? 'none'}, is ${is.session?.split ?? 'none'})`]),
    ...(changed + gone === 0
      ? []
      : was.pack.tasks.length === is.pack.tasks.length
        ? [`${changed} of its ${is.pack.tasks.length} tasks`]
        : [`tasks (were ${was.pack.tasks.length}, are ${is.pack.tasks.length})`]),
    ...(was.attempts === is.attempts ? [] : [`repeat (was ${was.attempts}, is ${is.attempts})`]),
    ...differences(ground(was.config), ground(is.config) as Partial<Config>).fork.map(differenceText),
  ];
}

const differenceText = (d: Difference): string => `${d.key} (was ${JSON.stringify(d.was)}, is ${JSON.stringify(d.is)})`;

function armDifference(was: EvalArm | undefined, is: EvalArm | undefined): readonly string[] {
  if (was === undefined && is === undefined) return [];
  const what = { skill: 'skill', other: '--vs', 'no-skill': '--no-skill' }[(was ?? is)?.arm ?? 'skill'];
  if (was === undefined) return [`${what} (was not asked for, is now)`];
  if (is === undefined) return [`${what} (was asked for, is not now)`];
  if (was.skill === is.skill && was.name === is.name && was.bundle === is.bundle) return [];
  return [was.from === is.from ? `the text or the files of ${is.from}` : `${what} (was ${was.from}, is ${is.from})`];
}
