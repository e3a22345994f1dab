import { agentName } from '../config/agent.ts';
import { noHarbor } from '../config/harbor.ts';
import { checkConfig } from '../config/load.ts';
import { modelIdentity, modelName } from '../config/model.ts';
import { withoutPlaces } from '../config/preload-paths.ts';
import { noPreloads } from '../config/preloads.ts';
import { sandboxConfig } from '../config/sandbox.ts';
import type { Config } from '../config/schema.ts';
import type { LoopPlan } from '../engine/plan.ts';
import { ENGINE, KNOWN_RULES, loopRule, RULES } from '../engine/rules.ts';
import { makeSplits, type Splits } from '../engine/splits.ts';
import { makeTriggerSplits, type TriggerRef } from '../engine/trigger-splits.ts';
import type { EventOf } from '../events/events.ts';
import type { Bounds, Fork, StandingKey } from '../events/shapes.ts';
import { fail } from '../ports/failure.ts';
import { shortHash } from '../ports/hash.ts';
import { type Pack, type SplitName, splitNames, type Task, type TaskRef } from '../ports/task.ts';
import { withDescription } from '../skill/description.ts';

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
  /** As it was typed, without secrets. */
  readonly command?: string | undefined;
  readonly config: Config;
  readonly skill: SeedSkill;
  readonly pack: Pack;
  /** Budget and limits as the config file has them. */
  readonly file: Bounds;
  /** What else flags have set. */
  readonly set?: readonly StandingKey[];
  readonly versions: Readonly<Record<string, string>>;
  /** Other rules than those of today: a fork goes on by its parent's. */
  readonly rules?: readonly string[];
};

/** Everything that makes two rollouts of one (skill, task) comparable; 8 hex digits in every key. */
export function environmentFingerprint(config: Config, bundle: string): string {
  const { backend, agent, timeouts, gate, optimize } = config;
  const model = config.model === null ? null : modelIdentity(config.model);
  const measured = [backend, agent, model, timeouts, gate.passThreshold, bundle];
  const surroundings = surroundingsOf(config);
  return shortHash(
    JSON.stringify([
      ...measured,
      ...(optimize === 'body' ? [] : [TRIGGER_FORM]),
      ...(Object.keys(surroundings).length === 0 ? [] : [surroundings]),
    ]),
    8,
  );
}

/**
 * What surrounds an agent, as far as it is not as it is by default: sessions from before these keys keep their names.
 * What preloads bring, such as the bytes of another skill, stands in the versions of outcomes.
 */
export function surroundingsOf({
  login,
  agentLimits,
  sandbox,
  preloads,
  harbor,
}: Config): Readonly<Record<string, unknown>> {
  const { kind: _kind, keepMb: _keep, ...walls } = sandbox;
  const { kind: _, keepMb: __, ...usual } = sandboxConfig.parse({});
  const { program: _program, pythonPath: _python, setupSec: _setup, mounts, ...told } = harbor;
  const { program: _p, pythonPath: _py, setupSec: _s, mounts: _m, ...untold } = noHarbor;
  const inHarbor = { ...told, mounts: mounts.map(({ target }) => target) };
  const all = { login, agentLimits, walls, preloads: withoutPlaces(preloads), harbor: inHarbor };
  const byDefault: typeof all = {
    login: 'key',
    agentLimits: { requests: null, tokens: null, usd: null },
    walls: usual,
    preloads: noPreloads,
    harbor: { ...untold, mounts: [] },
  };
  return Object.fromEntries(
    Object.entries(all).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(byDefault[key as keyof typeof all]),
    ),
  );
}

/** How it is asked which skill a model would open; a new form is another environment. */
const TRIGGER_FORM = 'trigger@1';

const refOf = ({ id, hash, instructionHash }: TaskRef): TaskRef => ({ id, hash, instructionHash });

/** A task as the log names it; where the description is optimized, with whether the skill is meant for it. */
function packTaskOf(task: Task, optimize: Config['optimize']): TriggerRef {
  const { shouldTrigger } = task;
  return optimize === 'body' || shouldTrigger === null ? refOf(task) : { ...refOf(task), shouldTrigger };
}

/** A description that is an alias, or that other fields refer to, can't be edited by itself. */
function requireEditable(skill: SeedSkill): void {
  if (withDescription(skill.text, 'A description.') !== null) return;
  throw fail(
    'skill',
    'the description can’t be changed by itself: it is an alias, or another field refers to it',
    skill.from,
    'write it out as a line "description: …"',
  );
}

/** Only what shows which skill it opens can be measured by its description. */
export function requireShown(config: Config): void {
  if (config.optimize === 'body' || config.backend === 'chat') return;
  throw fail(
    'config',
    `a description is optimized by what a model says that it would open, on the backend chat, and not with the agent ${agentName(config.agent)} on ${config.backend}`,
    'optimize',
    'set "backend": "chat" with a "model" and a prompt pack, or "optimize": "body"',
  );
}

/** Guidance is a part of the body. */
function requireBody({ slowUpdate, optimize }: Config): void {
  if (!slowUpdate || optimize === 'body') return;
  throw fail(
    'config',
    'a slow update writes guidance into the body of the skill, and "optimize" says that the description alone may change',
    'slowUpdate',
    'set "slowUpdate": false, or "optimize": "body"',
  );
}

/** Agent or optimizer is a small program: every surface says so. */
export function isRehearsal(config: Config): boolean {
  return config.agent === 'rehearsal' || config.optimizer === 'rehearsal';
}

/** Fixes skill, pack, environment and engine. */
export function createdEvent(o: CreateOptions): EventOf<'session.created'> {
  const { config } = o;
  requireShown(config);
  requireBody(config);
  if (config.optimize === 'description') requireEditable(o.skill);
  return {
    type: 'session.created',
    session: o.session,
    engine: ENGINE,
    rules: [...(o.rules ?? RULES)],
    program: o.program,
    ...(o.command === undefined ? {} : { command: o.command }),
    seed: config.seed,
    rehearsal: isRehearsal(config),
    skill: { ...o.skill, files: [...o.skill.files], hash: shortHash(o.skill.text) },
    pack: {
      name: packName(config.pack),
      hash: o.pack.hash,
      from: config.pack,
      tasks: o.pack.tasks.map((task) => packTaskOf(task, config.optimize)),
    },
    environment: {
      backend: config.backend,
      agent: agentName(config.agent),
      model: config.model === null ? null : modelName(config.model),
      passThreshold: config.gate.passThreshold,
      fingerprint: environmentFingerprint(config, o.skill.bundle),
      versions: { ...o.versions },
    },
    config: { ...config },
    file: o.file,
    wanted: { budget: config.budget.rollouts, limits: { ...config.limits } },
    ...(o.set !== undefined && o.set.length > 0 && { set: [...o.set] }),
  };
}

/** The config that a session was created with; throws `config` when the line was changed. */
export function configOf(created: EventOf<'session.created'>): Config {
  return checkConfig(created.config, 'line 1 of the log');
}

/** The splits of a session: as its config wants them, or in a fork as they were inherited. */
function splitsOf(created: EventOf<'session.created'>): Splits {
  const { tasks } = created.pack;
  const config = configOf(created);
  if (!created.fork) return splitsWanted(tasks, config);
  return makerOf(config)(tasks, keptSplits(created.fork, tasks, config.taskLimit), created.seed);
}

/** The splits that a config makes of a pack, for a session that has not begun. */
export function splitsOfPack(pack: Pack, config: Config): Splits {
  return splitsWanted(
    pack.tasks.map((task) => packTaskOf(task, config.optimize)),
    config,
  );
}

const makerOf = ({ optimize }: Config) => (optimize === 'description' ? makeTriggerSplits : makeSplits);

function splitsWanted(tasks: readonly TriggerRef[], config: Config): Splits {
  const { splits, seed, taskLimit } = config;
  return makerOf(config)(tasks, splits, seed, taskLimit === null ? null : { most: taskLimit });
}

/**
 * A task that is still there keeps its split. A new one goes to train, or to the tasks that have the same instruction,
 * as long as that split has no more than `limit` tasks with it.
 */
export function keptSplits(
  fork: Pick<Fork, 'splits' | 'unused'>,
  tasks: readonly TaskRef[],
  limit: number | null = null,
): Readonly<Record<SplitName, readonly string[]>> {
  const home = new Map<string, SplitName>();
  for (const name of splitNames) for (const id of fork.splits[name]) home.set(id, name);
  const known = tasks.filter((t) => home.has(t.id));
  const added = tasks.filter((t) => !home.has(t.id) && !fork.unused.includes(t.id));
  const sizes = Object.fromEntries(
    splitNames.map((name) => [name, known.filter((t) => home.get(t.id) === name).length]),
  );
  for (const t of added) {
    const alike = known.find((other) => other.instructionHash === t.instructionHash);
    const name = (alike && home.get(alike.id)) ?? 'train';
    const size = (sizes[name] ?? 0) + 1;
    if (limit !== null && size > limit) continue;
    sizes[name] = size;
    home.set(t.id, name);
  }
  const named = (name: SplitName) => [...known, ...added].flatMap((t) => (home.get(t.id) === name ? [t.id] : []));
  return { train: named('train'), selection: named('selection'), test: named('test') };
}

/** How often the sealed test will have been opened when this session opens it. */
export function nextLook(created: EventOf<'session.created'>): number {
  return (created.fork?.looks ?? 0) + 1;
}

/** Which tasks stand in which split: a pure function of what `session.created` holds. */
export function splitsEvent(created: EventOf<'session.created'>): EventOf<'splits.fixed'> {
  const splits = splitsOf(created);
  return {
    type: 'splits.fixed',
    train: splits.train.map(refOf),
    selection: splits.selection.map(refOf),
    test: splits.test.map(refOf),
  };
}

/** What is odd about the splits, for people. */
export function splitWarnings(created: EventOf<'session.created'>): readonly string[] {
  return splitsOf(created).warnings;
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
    search: searchPlan(config.search),
    ...(config.slowUpdate ? { slowUpdate: true as const } : {}),
    budget: config.budget.rollouts,
    limits: { ...config.limits },
    seedAttempt: 'fresh',
    optimizer: modelName(config.optimizer),
    ...(config.optimize === 'body' ? {} : { optimize: config.optimize }),
  };
}

/** What is not set stays out, as in the plans of logs from before it could be. */
function searchPlan({ draftSize, dryRounds, memory, ...ends }: Config['search']): EventOf<'plan.fixed'>['search'] {
  const set = Object.entries(ends).filter(([, value]) => value !== null);
  return { draftSize, dryRounds, memory, ...Object.fromEntries(set) };
}

/** The loop's plan, read back from the log's first lines. */
export function loopPlan(
  created: EventOf<'session.created'>,
  splits: EventOf<'splits.fixed'>,
  plan: EventOf<'plan.fixed'>,
): LoopPlan {
  return {
    rule: loopRule(created.rules),
    sessionSeed: created.seed,
    seedText: created.skill.text,
    environment: created.environment.fingerprint,
    train: splits.train,
    selection: splits.selection,
    test: splits.test,
    gate: plan.gate,
    editBudget: plan.editBudget,
    search: plan.search,
    slowUpdate: plan.slowUpdate,
    budget: plan.budget,
    seedAttempt: plan.seedAttempt,
    optimize: plan.optimize,
  };
}

/** Rules are kept by version: a log of rules that this program does not know was made by a newer one. */
export function checkRules(created: EventOf<'session.created'>, where: string): void {
  const named = JSON.stringify(created.rules);
  if (KNOWN_RULES.some((rules) => JSON.stringify(rules) === named)) return;
  throw fail(
    'session-mismatch',
    `this session was drawn by the rules ${created.rules.join(', ')}; this program knows ${KNOWN_RULES.map((r) => r.join(', ')).join('; ')}`,
    where,
    'use the newer program that made it',
  );
}

/** `example:hello-harbor` → `hello-harbor`, `../packs/jq/` and `../packs/jq/tasks.json` → `jq`. */
export function packName(from: string): string {
  return (
    from
      .replace(/^example:/, '')
      .replace(/(?<=[^\\/])[\\/]tasks\.json$/, '')
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? from
  );
}
