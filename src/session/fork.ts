import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Difference, differences } from '../config/differences.ts';
import { type Layers, type Override, placeOf as placeOfKey } from '../config/layers.ts';
import type { Config } from '../config/schema.ts';
import { ENGINE } from '../engine/rules.ts';
import { diskFailure, readLog } from '../journal/journal.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import { TextFiles, writeWhole } from '../journal/texts.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import type { Pack } from '../ports/task.ts';
import { checkPackCopy, checkSkillCopy } from './copies.ts';
import { configOf, nextLook, type SeedSkill } from './first-lines.ts';
import { configOfFork, type ForkConfig } from './fork-config.ts';
import { type ForkLog, forkLog } from './fork-log.ts';
import { type Parent, type Place, placeOf, readParent } from './fork-parent.ts';
import { freshSibling, refuseTarget } from './fork-target.ts';
import { type SessionPaths, sessionPaths } from './paths.ts';
import { refreshSession } from './session-files.ts';
import type { SessionParts } from './session-parts.ts';
import { verifySession } from './verify.ts';

/** What a fork needs of other rooms. Relative paths of a config start from the parent's directory. */
export type ForkParts = SessionParts & {
  /** Copies a whole folder to a place that is free. */
  readonly copyFolder: (from: string, to: string) => Promise<void>;
  /** Whether the skill's source still holds what a session began with. */
  readonly skillSource: (
    config: Config,
    began: { readonly text: string; readonly bundle: string },
  ) => Promise<'same' | 'changed' | 'gone'>;
  /** The pack's source is still there. */
  readonly packStands: (config: Config) => boolean;
  /** Versions of what would take part in rollouts now. */
  readonly versions: (config: Config) => Promise<Readonly<Record<string, string>>>;
};

export type ForkRequest = {
  /** The parent's directory. */
  readonly dir: string;
  /** The new session's directory; null = beside the parent, named after the step. */
  readonly to: string | null;
  /** The step after which it leaves the parent; null = the last one. */
  readonly at: number | null;
  /** The parent's config file as it is now, with the environment above it; null: it is gone. */
  readonly config: Layers | null;
  /** What the command line sets; it goes into the fork's config file. */
  readonly flags: readonly Override[];
};

/** What came of a fork. */
export type Forked = {
  readonly directory: string;
  readonly session: string;
  readonly parent: { readonly directory: string; readonly session: string; readonly step: number };
  /** Paid effects that it inherits, and the steps that follow from them. */
  readonly inherited: { readonly rollouts: number; readonly proposals: number; readonly steps: number };
  readonly splits: { readonly train: number; readonly selection: number; readonly test: number };
  /** What drives decisions and differs from the parent; budget and limits that are other ones than at that step. */
  readonly changes: readonly Difference[];
  readonly inPlace: readonly Difference[];
  readonly tasks: Omit<ForkLog['tasks'], 'same'>;
  /** How its finalize will count: 1 = nobody has seen the test. */
  readonly look: number;
  /** What a person should know: sentences. */
  readonly notes: readonly string[];
};

/**
 * Makes a new session that inherits splits and paid effects from another one, never test effects. The parent is only
 * read, under its lock. The new directory grows in a hidden sibling and is renamed at the end: it is whole or absent.
 */
export async function forkSession(o: ForkRequest, parts: ForkParts): Promise<Forked> {
  const from = sessionPaths(o.dir);
  const lock = lockToRead(from);
  try {
    const { parent, differsAt } = await readVerified(from, parts);
    const place = placeOf(parent, o.at, differsAt, from.log);
    const target = o.to ?? `${o.dir}-step${place.step}`;
    refuseTarget(target, o.dir);
    const growing = sessionPaths(freshSibling(target));
    try {
      const config = configOfFork(from, target, parent, o);
      await parts.refuseSecrets(config.rebased, (key) => placeOfKey(config.layers, key));
      const notes: string[] = [];
      mkdirSync(growing.hidden, { recursive: true });
      const skill = await seedOf(from, growing, parent, config, notes, parts);
      const pack = await packOf(from, growing, parent, config, notes, parts);
      keepPreloads(from, growing, parent, config);
      const log = await forkLog({
        parent,
        place,
        differsAt,
        session: parts.newId(),
        program: parts.program,
        now: parts.now,
        config: config.rebased,
        file: config.file,
        skill,
        pack,
        versions: () => parts.versions(config.ofParent),
        notes,
      });
      await copyTexts(log, from, growing);
      writeWhole(growing.config, config.text);
      const edits = join(o.dir, 'rehearsal.json');
      if (existsSync(edits)) copyFileSync(edits, join(growing.dir, 'rehearsal.json'));
      writeWhole(growing.log, log.text, 0o600);
      refreshSession(growing.dir, parts.render);
      renameSync(growing.dir, target);
      return report(log, parent, place, o.dir, target, config.rebased);
    } catch (e) {
      rmSync(growing.dir, { recursive: true, force: true });
      throw e instanceof SkilloptError ? e : diskOr(e, target);
    }
  } finally {
    lock?.release();
  }
}

function report(log: ForkLog, parent: Parent, place: Place, dir: string, target: string, config: Config): Forked {
  const { same: _same, ...tasks } = log.tasks;
  return {
    directory: target,
    session: log.created.session,
    parent: { directory: dir, session: parent.created.session, step: place.step },
    inherited: {
      rollouts: log.effects.filter((e) => e.type === 'rollout.finished').length,
      proposals: log.effects.filter((e) => e.type === 'reflection.finished').length,
      steps: log.decisions.filter((d) => d.type === 'gate.decided').length,
    },
    splits: { train: log.splits.train.length, selection: log.splits.selection.length, test: log.splits.test.length },
    changes: log.changes,
    inPlace: differences(boundsAt(parent, place), { budget: config.budget, limits: config.limits }).inPlace,
    tasks,
    look: nextLook(log.created),
    notes: log.notes,
  };
}

/** Budget and limits of the parent at the place of the fork. */
function boundsAt(parent: Parent, place: Place): Pick<Config, 'budget' | 'limits'> {
  let { budget, limits } = configOf(parent.created);
  for (const { line, event } of parent.inputs) {
    if (line > place.line) break;
    if (event.input.kind === 'budget.changed') budget = { rollouts: event.input.rollouts };
    if (event.input.kind === 'limits.changed') limits = event.input.limits;
  }
  return { budget, limits };
}

/** A parent on a disk that can't be written is read all the same: nobody else can be at work there. */
function lockToRead(from: SessionPaths): Lock | null {
  if (!existsSync(from.hidden)) return null;
  try {
    return takeLock(from.hidden);
  } catch (e) {
    if (e instanceof SkilloptError && e.failure.code === 'disk') return null;
    throw e;
  }
}

/** A parent has to verify; one of another engine number may hold decisions that this program draws otherwise. */
async function readVerified(from: SessionPaths, parts: ForkParts) {
  const verified = await verifySession(from.dir, parts.render, parts.program);
  const parent = readParent(readLog(from.log), from.log, from.dir);
  const differsAt = parent.logged.engine === ENGINE ? null : verified.differsAt;
  const faults = verified.problems.filter(
    (p) =>
      (p.kind === 'changed' || p.kind === 'missing text') &&
      (differsAt === null || p.where !== `${from.log}:${differsAt}`),
  );
  const [first] = faults;
  if (first)
    throw fail(
      'log-broken',
      `the parent does not verify: ${first.what.split('\n')[0]}${faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''}`,
      first.where,
      `restore it from a copy; \`skillopt verify ${shellWord(from.dir)}\` tells all of it`,
    );
  return { parent, differsAt };
}

/** The parent's own copy while the config names the same skill; another one is imported. */
async function seedOf(
  from: SessionPaths,
  growing: SessionPaths,
  { created }: Parent,
  config: ForkConfig,
  notes: string[],
  parts: ForkParts,
): Promise<SeedSkill> {
  const { skill } = created;
  if (config.ofParent.skill !== skill.from) {
    const seed = { ...(await parts.importSkill(config.ofParent, growing.skillRoot)), from: config.rebased.skill };
    if (seed.text !== skill.text || seed.bundle !== skill.bundle)
      notes.push(`the skill is another one (${config.ofParent.skill}): nothing but the splits is inherited`);
    return seed;
  }
  const copy = from.skill(skill.name);
  await checkSkillCopy(created, copy, parts.bundleOf(copy));
  await parts.copyFolder(copy, growing.skill(skill.name));
  const source = await parts.skillSource(config.ofParent, skill);
  if (source !== 'same')
    notes.push(
      `the source of the skill ${source === 'gone' ? 'is gone' : 'was changed since the parent began'}: the seed is the parent’s copy of it`,
    );
  return { name: skill.name, text: skill.text, bundle: skill.bundle, files: skill.files, from: config.rebased.skill };
}

/** The pack's source as it stands now; the parent's copy when it is gone. */
async function packOf(
  from: SessionPaths,
  growing: SessionPaths,
  { created }: Parent,
  config: ForkConfig,
  notes: string[],
  parts: ForkParts,
): Promise<Pack> {
  if (config.ofParent.pack === created.pack.from && !parts.packStands(config.ofParent)) {
    await checkPackCopy(created, from.pack, parts.readPack(from.pack));
    await parts.copyFolder(from.pack, growing.pack);
    notes.push('the source of the pack is gone: its tasks are those of the parent’s copy');
  } else await parts.importPack(config.ofParent, growing.pack);
  return parts.readPack(growing.pack);
}

/**
 * While the config wants the same preloads the fork has the parent's copies and versions of them; what is installed is
 * made again from these, as it names the place where it lies.
 */
function keepPreloads(from: SessionPaths, growing: SessionPaths, { created }: Parent, { ofParent }: ForkConfig): void {
  if (JSON.stringify(configOf(created).preloads) !== JSON.stringify(ofParent.preloads)) return;
  for (const name of ['ready.json', 'kept']) {
    const there = join(from.preloads, name);
    if (existsSync(there)) cpSync(there, join(growing.preloads, name), { recursive: true });
  }
}

/** The trajectories that inherited outcomes name; one that is missing or changed is told. */
async function copyTexts(log: ForkLog, from: SessionPaths, growing: SessionPaths): Promise<void> {
  const [source, target] = [new TextFiles(from.texts), new TextFiles(growing.texts)];
  for (const effect of log.effects)
    if (effect.type === 'rollout.finished' && effect.trajectory !== null)
      await target.put(source.get(effect.trajectory));
}

/** What the file system says of the new directory; a fault of this program stays one. */
function diskOr(e: unknown, target: string): unknown {
  const isOfDisk = typeof (e as { code?: unknown } | null)?.code === 'string' && 'syscall' in (e as object);
  return isOfDisk ? diskFailure('the new session can’t be written', target, e) : e;
}
