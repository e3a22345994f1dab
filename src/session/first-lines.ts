import { checkConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { LoopPlan } from '../engine/plan.ts';
import { ENGINE, RULES } from '../engine/rules.ts';
import { makeSplits } from '../engine/splits.ts';
import type { EventOf } from '../events/events.ts';
import type { Bounds } from '../events/shapes.ts';
import { fail } from '../ports/failure.ts';
import { shortHash } from '../ports/hash.ts';
import type { Pack, TaskRef } from '../ports/task.ts';

/** The seed as it was copied into the session. */
export type SeedSkill = {
  readonly name: string;
  readonly text: string;
  /** Hash of the bundled files, and their relative paths. */
  readonly bundle: string;
  readonly files: readonly string[];
  /** Where it came from, as the user wrote it. */
  readonly from: string;
};

export type CreateOptions = {
  readonly session: string;
  readonly program: string;
  readonly config: Config;
  readonly skill: SeedSkill;
  readonly pack: Pack;
  /** Budget and limits as the config file has them. */
  readonly file: Bounds;
  readonly versions: Readonly<Record<string, string>>;
};

/** Everything that makes two rollouts of one (skill, task) comparable; 8 hex digits in every key. */
export function environmentFingerprint(config: Config, bundle: string): string {
  const { backend, agent, model, timeouts, gate } = config;
  return shortHash(JSON.stringify([backend, agent, model, timeouts, gate.passThreshold, bundle]), 8);
}

const refOf = ({ id, hash, instructionHash }: TaskRef): TaskRef => ({ id, hash, instructionHash });

/** Agent or optimizer is a small program: every surface says so. */
export function isRehearsal(config: Config): boolean {
  return config.agent === 'rehearsal' || config.optimizer === 'rehearsal';
}

/** Fixes skill, pack, environment and engine. */
export function createdEvent(o: CreateOptions): EventOf<'session.created'> {
  const { config } = o;
  return {
    type: 'session.created',
    session: o.session,
    engine: ENGINE,
    rules: [...RULES],
    program: o.program,
    seed: config.seed,
    rehearsal: isRehearsal(config),
    skill: { ...o.skill, files: [...o.skill.files], hash: shortHash(o.skill.text) },
    pack: { name: packName(config.pack), hash: o.pack.hash, from: config.pack, tasks: o.pack.tasks.map(refOf) },
    environment: {
      backend: config.backend,
      agent: config.agent,
      model: config.model,
      passThreshold: config.gate.passThreshold,
      fingerprint: environmentFingerprint(config, o.skill.bundle),
      versions: { ...o.versions },
    },
    config: { ...config },
    file: o.file,
    wanted: { budget: config.budget.rollouts, limits: { ...config.limits } },
  };
}

/** The config that a session was created with; throws `config` when the line was changed. */
export function configOf(created: EventOf<'session.created'>): Config {
  return checkConfig(created.config, 'line 1 of the log');
}

/** Splits as the config wants them: a pure function of what `session.created` holds. */
export function splitsEvent(created: EventOf<'session.created'>): EventOf<'splits.fixed'> {
  const wanted = configOf(created).splits;
  const splits = makeSplits(created.pack.tasks, wanted, created.seed);
  return {
    type: 'splits.fixed',
    train: splits.train.map(refOf),
    selection: splits.selection.map(refOf),
    test: splits.test.map(refOf),
  };
}

/** What is odd about the splits, for people. */
export function splitWarnings(created: EventOf<'session.created'>): readonly string[] {
  return makeSplits(created.pack.tasks, configOf(created).splits, created.seed).warnings;
}

/** A budget that leaves nothing for the search is refused. */
export function checkBudget(budget: number, splits: EventOf<'splits.fixed'>): void {
  const least = 3 * splits.selection.length + splits.train.length + 1;
  if (budget < least)
    throw fail(
      'config',
      `a budget of ${budget} rollouts is too small: ${3 * splits.selection.length} go to selection (start and confirmation), ${splits.train.length} to train, and one is the least to try an edit`,
      'budget.rollouts',
      `give at least ${least}; some hundreds are useful`,
    );
}

/** Gate, optimizer and budget: a pure function of what `session.created` holds. */
export function planEvent(created: EventOf<'session.created'>, splits: EventOf<'splits.fixed'>): EventOf<'plan.fixed'> {
  const config = configOf(created);
  checkBudget(config.budget.rollouts, splits);
  return {
    type: 'plan.fixed',
    gate: { rule: config.gate.rule, metric: config.gate.metric },
    editBudget: config.editBudget,
    search: { ...config.search },
    budget: config.budget.rollouts,
    limits: { ...config.limits },
    seedAttempt: 'fresh',
    optimizer: config.optimizer,
  };
}

/** The loop's plan, read back from the log's first lines. */
export function loopPlan(
  created: EventOf<'session.created'>,
  splits: EventOf<'splits.fixed'>,
  plan: EventOf<'plan.fixed'>,
): LoopPlan {
  return {
    sessionSeed: created.seed,
    seedText: created.skill.text,
    environment: created.environment.fingerprint,
    train: splits.train,
    selection: splits.selection,
    test: splits.test,
    gate: plan.gate,
    editBudget: plan.editBudget,
    search: plan.search,
    budget: plan.budget,
    seedAttempt: plan.seedAttempt,
  };
}

/** A session of another engine or of other rules can't go on here. */
export function checkRules(created: EventOf<'session.created'>, where: string): void {
  if (created.engine === ENGINE && JSON.stringify(created.rules) === JSON.stringify(RULES)) return;
  throw fail(
    'session-mismatch',
    `this session was drawn by engine ${created.engine} with ${created.rules.join(', ')}; this program draws with engine ${ENGINE}, ${RULES.join(', ')}`,
    where,
    'use the program version that made it, or fork: start another session in a directory of its own',
  );
}

/** `example:hello-harbor` → `hello-harbor`, `../packs/jq/` → `jq`. */
function packName(from: string): string {
  return (
    from
      .replace(/^example:/, '')
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? from
  );
}
