import { mkdirSync, rmSync } from 'node:fs';
import { type Difference, differences } from '../config/differences.ts';
import { checkConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { LoopPlan } from '../engine/plan.ts';
import type { Event, EventOf, LoggedEvent } from '../events/events.ts';
import { Fold, type RunState } from '../events/run-state.ts';
import type { Bounds } from '../events/shapes.ts';
import { chainHash, diskFailure, Journal } from '../journal/journal.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import { TextFiles } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import type { Pack, Task } from '../ports/task.ts';
import { checkLimit, reserves } from './actual-ledger.ts';
import { DerivedFiles, type RenderDocument } from './derived-files.ts';
import {
  checkBudget,
  checkRules,
  createdEvent,
  loopPlan,
  planEvent,
  type SeedSkill,
  splitsEvent,
  splitWarnings,
} from './first-lines.ts';
import { Logged } from './logged.ts';
import { type SessionPaths, sessionPaths } from './paths.ts';

/** What the session needs of other rooms, handed in by `cli`. */
export type SessionParts = {
  /** Hash and names of the files beside SKILL.md. */
  readonly bundleOf: (dir: string) => Promise<{ readonly bundle: string; readonly files: readonly string[] }>;
  /** Copies the skill of this config into `<to>/<name>/` and says what it is. Never changes the source. */
  readonly importSkill: (config: Config, to: string) => Promise<SeedSkill>;
  /** Copies the pack of this config to `to`. */
  readonly importPack: (config: Config, to: string) => Promise<void>;
  readonly readPack: (dir: string) => Promise<Pack>;
  readonly render: RenderDocument;
  readonly now: () => string;
  /** Version of this program. */
  readonly program: string;
  /** A fresh session id. */
  readonly newId: () => string;
};

/** What the command line sets for this and the following runs. */
export type Flags = {
  readonly budget?: number | undefined;
  readonly limitRollouts?: number | undefined;
  readonly limitMinutes?: number | undefined;
  readonly workers?: number | undefined;
};

/**
 * A session's directory, open for work: lock held, log read and held against its chain, copies checked, derived files
 * rebuilt. `begin` writes what the log lacks; until then nothing but copies under `.skillopt/` has been written.
 */
export class Session {
  private warnings: string[] = [];
  private begun = false;

  private constructor(
    readonly paths: SessionPaths,
    readonly journal: Journal,
    readonly logged: Logged,
    readonly config: Config,
    /** Budget and limits as the config file has them. */
    private readonly file: Bounds,
    readonly skill: SeedSkill,
    readonly pack: Pack,
    /** True: the log was empty. */
    readonly isNew: boolean,
    readonly id: string,
    private readonly derived: DerivedFiles,
    private readonly lock: Lock,
    private readonly parts: SessionParts,
    private readonly fold: Fold,
  ) {
    journal.onAppend((event) => fold.add(event));
  }

  /** Opens a session in `dir`, or lays one out. `file` null: the config file is gone, all is as the log has it. */
  static async open(dir: string, file: Config | null, flags: Flags, parts: SessionParts): Promise<Session> {
    const paths = sessionPaths(dir);
    try {
      mkdirSync(paths.hidden, { recursive: true });
    } catch (cause) {
      throw diskFailure('the session’s directory can’t be made', paths.hidden, cause);
    }
    const lock = takeLock(paths.hidden);
    try {
      return await Session.openLocked(paths, file, flags, parts, lock);
    } catch (e) {
      lock.release();
      throw e;
    }
  }

  private static async openLocked(
    paths: SessionPaths,
    file: Config | null,
    flags: Flags,
    parts: SessionParts,
    lock: Lock,
  ): Promise<Session> {
    const asides: string[] = [];
    const derived = new DerivedFiles(paths, parts.render, (from, to) =>
      asides.push(`${from} was not written by this session; it was set aside as ${to}`),
    );
    derived.beforeReading();
    const fold = new Fold();
    const journal = Journal.open(paths.log, { now: parts.now });
    try {
      const { logged } = Logged.read(journal.read(), ({ event, raw }) => {
        fold.add(event);
        derived.whileReading(fold.state, { lines: event.seq, hash: chainHash(raw) });
      });
      const { created } = logged;
      const config = effectiveConfig(file, flags, logged, fold.state, paths);
      if (created) {
        checkRules(created, paths.log);
        const { fork } = differences(checkConfig(created.config, paths.log), config);
        if (fork.length > 0) throw otherSession(fork, paths);
        if (logged.decisions.some((d) => d.type === 'session.ended')) refuseLate(config, fold.state, paths);
        await checkSkillCopy(created, paths, parts);
      } else for (const left of [paths.skillRoot, paths.pack]) rmSync(left, { recursive: true, force: true });
      const skill = created?.skill ?? (await parts.importSkill(config, paths.skillRoot));
      if (!created) await parts.importPack(config, paths.pack);
      const reading = parts.readPack(paths.pack);
      const pack = await (created ? orChanged('pack', paths.pack, reading) : reading);
      if (created && pack.hash !== created.pack.hash) throw copyChanged('pack', paths.pack);
      const session = new Session(
        paths,
        journal,
        logged,
        config,
        bounds(file ?? config),
        skill,
        pack,
        created === null,
        created?.session ?? parts.newId(),
        derived,
        lock,
        parts,
        fold,
      );
      session.warnings = asides; // shared: files may be set aside later, too
      return session;
    } catch (e) {
      journal.close();
      throw e;
    }
  }

  get state(): RunState {
    return this.fold.state;
  }

  get texts(): TextFiles {
    return new TextFiles(this.paths.texts);
  }

  /** Hears every event after it stands in the log. */
  onEvent(listener: (event: LoggedEvent, state: RunState) => void): void {
    this.journal.onAppend((event) => listener(event, this.fold.state));
  }

  /** A task of the session by its id. */
  task(id: string): Task {
    const task = this.pack.tasks.find((t) => t.id === id);
    if (!task) throw new Error(`no task ${id}`);
    const { agentSec } = this.config.timeouts;
    return agentSec === null ? task : { ...task, agentTimeoutSec: agentSec };
  }

  /** Writes the first lines (or that the session goes on), and rebuilds the derived files. Listeners should hear already. */
  begin(o: { readonly versions: Readonly<Record<string, string>>; readonly workers: number }): LoopPlan {
    const { journal, logged } = this;
    const first = this.check(o);
    this.derived.setForeignAside(this.fold.state);
    this.derived.sweepHalfWritten();
    this.begun = true;
    journal.onAppend((event) => {
      this.derived.after(event, this.fold.state, journal.position);
    });
    if (logged.created === null) logged.created = this.write(first.created);
    else this.write({ type: 'session.resumed', program: this.parts.program, file: this.file });
    if (logged.splits === null) this.warnings.push(...splitWarnings(logged.created));
    logged.splits ??= this.write(first.splits);
    logged.plan ??= this.write(first.plan);
    if (logged.workers !== o.workers) this.write({ type: 'concurrency.changed', workers: o.workers });
    this.derived.write(this.fold.state, journal.position);
    this.warn();
    for (const key of logged.open) this.write({ type: 'rollout.lost', key });
    logged.open.clear();
    return loopPlan(logged.created, logged.splits, logged.plan);
  }

  /** What the first lines are or will be, without writing: splits, budget and limits that can’t be are refused here. */
  check(o: { readonly versions: Readonly<Record<string, string>>; readonly workers: number }) {
    const created =
      this.logged.created ??
      createdEvent({
        session: this.id,
        program: this.parts.program,
        config: this.config,
        file: this.file,
        skill: this.skill,
        pack: this.pack,
        versions: o.versions,
      });
    const splits = this.logged.splits ?? splitsEvent(created);
    const plan = this.logged.plan ?? planEvent(created, splits);
    const { state } = this;
    const searching = state.ended === null;
    if (searching && (this.logged.plan === null || this.config.budget.rollouts !== state.plan?.budget))
      checkBudget(this.config.budget.rollouts, splits);
    const sameLimit = JSON.stringify(this.config.limits) === JSON.stringify(state.plan?.limits);
    if (searching && !(this.logged.plan !== null && sameLimit))
      checkLimit(
        this.config.limits,
        { train: splits.train.length, selection: splits.selection.length },
        this.reserves(splits.selection.length, splits.test.length, o.workers),
      );
    return { created, splits, plan };
  }

  /** What confirmation and finalize keep for themselves of the limit. */
  reserves(selection: number, test: number, workers: number) {
    return reserves({ selection, test, attempts: this.config.finalize.attempts, workers });
  }

  private write<E extends Event>(event: E): E {
    this.journal.append(event);
    return event;
  }

  /** Something odd, for people: stands in the log as soon as the session has begun. */
  note(warning: string): void {
    this.warnings.push(warning);
  }

  private warn(): void {
    for (const w of this.warnings.splice(0))
      this.write({ type: 'warning.raised', what: w, where: this.paths.dir, fix: '' });
  }

  /** Writes the derived files once more, if this process has begun to work, and lets go of the directory. */
  close(): void {
    try {
      if (!this.begun || this.logged.plan === null) return;
      this.derived.write(this.fold.state, this.journal.position);
      if (this.warnings.length === 0) return;
      this.warn(); // of files that were changed while we worked
      this.derived.write(this.fold.state, this.journal.position);
    } finally {
      this.journal.close();
      this.lock.release();
    }
  }
}

/** Budget and limits of this run: a flag, else the file if it was changed since it was last looked at, else the log. */
function effectiveConfig(
  file: Config | null,
  flags: Flags,
  logged: Logged,
  state: RunState,
  paths: SessionPaths,
): Config {
  const base = file ?? (logged.created ? checkConfig(logged.created.config, paths.log) : null);
  if (base === null)
    throw fail('usage', 'there is no session here', paths.dir, 'start one with `skillopt run` beside a config');
  const { plan } = state;
  const seen = logged.file;
  const now = <T>(flag: T | undefined, inFile: T, before: T | undefined, inLog: T | undefined): T =>
    flag ?? (inLog === undefined || before === undefined || inFile !== before ? inFile : inLog);
  return {
    ...base,
    workers: flags.workers ?? base.workers,
    budget: { rollouts: now(flags.budget, base.budget.rollouts, seen?.budget, plan?.budget) },
    limits: {
      rollouts: now(flags.limitRollouts, base.limits.rollouts, seen?.limits.rollouts, plan?.limits.rollouts),
      minutes: now(flags.limitMinutes, base.limits.minutes, seen?.limits.minutes, plan?.limits.minutes),
    },
  };
}

function bounds(config: Config): Bounds {
  return { budget: config.budget.rollouts, limits: { ...config.limits } };
}

/** What is mounted beside SKILL.md has to be what the session began with. */
async function checkSkillCopy(
  created: EventOf<'session.created'>,
  paths: SessionPaths,
  parts: SessionParts,
): Promise<void> {
  const copy = paths.skill(created.skill.name);
  const found = await orChanged('skill', copy, parts.bundleOf(copy));
  if (found.bundle !== created.skill.bundle) throw copyChanged('skill', copy);
}

/** A copy that was good when it was made and can't be read now was changed. */
async function orChanged<T>(what: string, where: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw copyChanged(what, where, cause);
  }
}

function copyChanged(what: string, where: string, cause?: unknown) {
  return fail(
    'session-mismatch',
    `the session’s copy of the ${what} was changed`,
    where,
    'restore it; to optimize on something else, fork: start another session in a directory of its own',
    { cause },
  );
}

function otherSession(fork: readonly Difference[], paths: SessionPaths) {
  const list = fork.map((d) => `${d.key} (was ${JSON.stringify(d.was)}, is ${JSON.stringify(d.is)})`).join(', ');
  return fail(
    'session-mismatch',
    `the config now describes another session: ${list}`,
    paths.config,
    'set it back, or fork: start it as another session, in a directory of its own',
  );
}

/** Budget and limits bound the search; when it has ended they can't change any more. */
function refuseLate(config: Config, state: RunState, paths: SessionPaths): void {
  const { plan } = state;
  if (plan === null) return;
  const late = differences(
    { budget: { rollouts: plan.budget }, limits: plan.limits },
    { budget: config.budget, limits: config.limits },
  ).inPlace[0];
  if (late)
    throw fail(
      'session-mismatch',
      `the search has ended, so ${late.key} can’t change any more (was ${JSON.stringify(late.was)}, is ${JSON.stringify(late.is)})`,
      paths.config,
      'set it back; to search further, fork: start another session in a directory of its own',
    );
}
