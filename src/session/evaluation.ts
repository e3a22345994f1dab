import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { EvalArmName } from '../events/eval-shapes.ts';
import { EvalFold, type EvalState } from '../events/eval-state.ts';
import type { Event, EventOf, LoggedEvent } from '../events/events.ts';
import { diskFailure, type Head, Journal } from '../journal/journal.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import { TextFiles } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import type { MountedSkill } from '../ports/rollouts.ts';
import type { Pack, Task } from '../ports/task.ts';
import { copyChanged } from './copies.ts';
import { checkEvalRules, evalCreatedEvent, evalDifferences, type ReadArm } from './eval-first-line.ts';
import { type EvalPaths, evalPaths } from './eval-paths.ts';
import type { SeedSkill } from './first-lines.ts';
import { Logged } from './logged.ts';
import { OwnDocument } from './own-document.ts';
import type { SessionParts } from './session.ts';

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
  readonly configOf: (pack: Pack) => Promise<Config>;
  /** The tasks that there are, and those of them that are measured. */
  readonly tasksOf: (pack: Pack, config: Config) => { readonly of: number; readonly tasks: readonly Task[] };
  readonly attempts: number;
  readonly session: { readonly id: string | null; readonly split: 'train' | 'selection' | 'test' } | null;
  /** Records another look at a session's test before the first rollout, and says the how-manieth it is. */
  readonly look: ((evalId: string) => number) | null;
  /** Another place for an eval that differs from the one that lies there. */
  readonly otherOut: string;
};

export type EvalParts = Pick<SessionParts, 'bundleOf' | 'readPack' | 'refuseSecrets' | 'now' | 'program' | 'newId'> & {
  readonly render: RenderEval;
};

/**
 * An eval's directory, open for work: lock held, log read and held against its chain, copies made or checked. `begin`
 * writes what the log lacks; until then nothing but copies under `.skillopt-eval/` has been written.
 */
export class Evaluation {
  private begun = false;
  private readonly notes: string[] = [];

  private constructor(
    readonly paths: EvalPaths,
    readonly journal: Journal,
    readonly logged: Logged,
    readonly config: Config,
    /** As it stands in the log, or as it will. */
    private first: EventOf<'eval.created'>,
    /** The tasks that are measured, as the eval's own copy has them. */
    readonly pack: Pack,
    readonly isNew: boolean,
    private readonly wanted: EvalWanted,
    private readonly parts: EvalParts,
    private readonly document: OwnDocument<EvalState>,
    private readonly fold: EvalFold,
    private readonly lock: Lock,
  ) {
    journal.onAppend((event) => fold.add(event));
  }

  /** Opens the eval of a directory, or lays one out. Throws `session-mismatch` when another one lies there. */
  static async open(dir: string, wanted: EvalWanted, parts: EvalParts): Promise<Evaluation> {
    const paths = evalPaths(dir);
    try {
      mkdirSync(paths.hidden, { recursive: true });
    } catch (cause) {
      throw diskFailure('the eval’s directory can’t be made', paths.hidden, cause);
    }
    const lock = takeLock(paths.hidden);
    try {
      return await Evaluation.openLocked(paths, wanted, parts, lock);
    } catch (e) {
      lock.release();
      throw e;
    } finally {
      rmSync(paths.next, { recursive: true, force: true });
    }
  }

  private static async openLocked(
    paths: EvalPaths,
    wanted: EvalWanted,
    parts: EvalParts,
    lock: Lock,
  ): Promise<Evaluation> {
    const asides: string[] = [];
    const document = new OwnDocument(paths.document, paths.log, parts.render, (from, to) =>
      asides.push(`${from} was not written by this eval; it was set aside as ${to}`),
    );
    document.beforeReading();
    const fold = new EvalFold();
    const journal = Journal.open(paths.log, { now: parts.now });
    try {
      const { logged } = Logged.read(journal.read(), ({ event, hash }) => {
        fold.add(event);
        document.whileReading(() => fold.state, { lines: event.seq, hash });
      });
      document.refuseLostTail(logged.lines);
      const created = logged.evaluation;
      if (created !== null) checkEvalRules(created, paths.log);
      const { event, pack, config } = await readSources(paths, wanted, parts, created?.eval ?? parts.newId());
      if (created === null) keepSources(paths);
      else {
        refuseOther(created, event, paths, wanted.otherOut);
        await checkCopies(created, paths, parts);
      }
      const copied = await parts.readPack(paths.pack);
      const tasks = (created ?? event).pack.tasks.map(({ id }) => {
        const task = copied.tasks.find((t) => t.id === id);
        if (!task) throw copyChanged('eval', 'pack', paths.pack);
        return task;
      });
      const own = { ...pack, dir: paths.pack, tasks };
      const first = created ?? event;
      const evaluation = new Evaluation(
        paths,
        journal,
        logged,
        config,
        first,
        own,
        created === null,
        wanted,
        parts,
        document,
        fold,
        lock,
      );
      evaluation.notes.push(...asides);
      return evaluation;
    } catch (e) {
      journal.close();
      throw e;
    }
  }

  get id(): string {
    return this.first.eval;
  }

  get created(): EventOf<'eval.created'> {
    return this.first;
  }

  get state(): EvalState {
    return this.fold.state;
  }

  get texts(): TextFiles {
    return new TextFiles(this.paths.texts);
  }

  /** Files that the skills bring beside their SKILL.md. */
  get bundledFiles(): readonly string[] {
    return [...new Set(this.first.arms.flatMap((a) => a.files))];
  }

  onEvent(listener: (event: LoggedEvent, state: () => EvalState) => void): void {
    this.journal.onAppend((event) => listener(event, () => this.fold.state));
  }

  task(id: string): Task {
    const task = this.pack.tasks.find((t) => t.id === id);
    if (!task) throw new Error(`no task ${id}`);
    const { agentSec } = this.config.timeouts;
    return agentSec === null ? task : { ...task, agentTimeoutSec: agentSec };
  }

  /** The skill that stands for `name` in keys. */
  skill(name: string): MountedSkill {
    const arm = this.first.arms.find((a) => a.skill === name);
    if (!arm || arm.text === null) throw new Error(`no skill ${name}`);
    return { name: arm.name, hash: name, text: arm.text, bundleDir: this.paths.skill(arm.arm, arm.name) };
  }

  /** Something odd, for people: stands in the log as soon as the eval has begun. */
  note(warning: string): void {
    this.notes.push(warning);
  }

  /** Writes the first line, or that it goes on. A look at a sealed test is recorded before. */
  begin(o: { readonly versions: Readonly<Record<string, string>>; readonly workers: number }): void {
    const { logged, first, wanted } = this;
    this.document.setForeignAside();
    this.begun = true;
    if (this.isNew) {
      const look = wanted.look === null ? null : wanted.look(this.id);
      const session = wanted.session === null ? null : { ...wanted.session, look };
      this.first = { ...first, session, environment: { ...first.environment, versions: { ...o.versions } } };
      logged.evaluation = this.write(this.first);
    } else {
      const bounds = { budget: this.state.of, limits: { ...this.config.limits } };
      this.write({ type: 'session.resumed', program: this.parts.program, file: bounds, wanted: bounds });
    }
    if (logged.workers !== o.workers) this.write({ type: 'concurrency.changed', workers: o.workers });
    for (const what of this.notes.splice(0))
      this.write({ type: 'warning.raised', what, where: this.paths.dir, fix: '' });
    logged.lose((event) => this.write(event));
    this.render();
  }

  private write<E extends Event>(event: E): E {
    this.journal.append(event);
    return event;
  }

  private render(): void {
    this.journal.sync();
    this.document.setForeignAside();
    this.document.write(this.state, this.journal.position);
  }

  /** Writes the report anew where it is missing or stale, and lets go of the directory. */
  close(): void {
    try {
      if (this.begun || (!this.isNew && !existsSync(this.paths.document))) this.render();
    } finally {
      this.journal.close();
      this.lock.release();
    }
  }
}

/** Reads the sources into the folder of what is next. */
async function readSources(paths: EvalPaths, wanted: EvalWanted, parts: EvalParts, id: string) {
  rmSync(paths.next, { recursive: true, force: true });
  const to = join(paths.next, 'pack');
  await wanted.importPack(to);
  const pack = await parts.readPack(to);
  const config = await wanted.configOf(pack);
  await parts.refuseSecrets(config, paths.dir);
  const arms: ReadArm[] = [];
  for (const { arm, importSkill } of wanted.arms)
    arms.push({ arm, skill: importSkill === null ? null : await importSkill(join(paths.next, 'skills', arm)) });
  const { of, tasks } = wanted.tasksOf(pack, config);
  const { attempts, packFrom } = wanted;
  const session = wanted.session === null ? null : { ...wanted.session, look: null };
  const event = evalCreatedEvent({
    id,
    program: parts.program,
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
function keepSources(paths: EvalPaths): void {
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

function refuseOther(
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
async function checkCopies(created: EventOf<'eval.created'>, paths: EvalPaths, parts: EvalParts): Promise<void> {
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
