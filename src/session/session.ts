import { mkdirSync, rmSync } from 'node:fs';
import { type Layers, type Override, placeOf } from '../config/layers.ts';
import { checkConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { LoopPlan } from '../engine/plan.ts';
import { ENGINE } from '../engine/rules.ts';
import type { Event, EventOf, LoggedEvent } from '../events/events.ts';
import { Fold } from '../events/fold.ts';
import { testArms } from '../events/loop-facts.ts';
import type { RunState } from '../events/run-state.ts';
import type { Bounds } from '../events/shapes.ts';
import { diskFailure, Journal } from '../journal/journal.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import { TextFiles } from '../journal/texts.ts';
import type { Recovered } from '../ports/rollouts.ts';
import type { Pack, Task } from '../ports/task.ts';
import { callOf, checkLimit, reserves } from './actual-ledger.ts';
import { checkPackCopy, checkSkillCopy } from './copies.ts';
import { BEHIND_MS, DerivedFiles, frequent, telling } from './derived-files.ts';
import { bounds, type Effective, effectiveConfig, refuseLate, refuseOther } from './effective-config.ts';
import {
  checkBudget,
  checkRules,
  configOf,
  createdEvent,
  loopPlan,
  planEvent,
  type SeedSkill,
  splitsEvent,
  splitWarnings,
} from './first-lines.ts';
import { Logged } from './logged.ts';
import { type SessionPaths, sessionPaths } from './paths.ts';
import { Seldom } from './seldom.ts';
import type { SessionParts } from './session-parts.ts';
import { checkUpgrade } from './upgrade.ts';

/**
 * A session's directory, open for work: lock held, log read and held against its chain, copies checked, derived files
 * rebuilt. `begin` writes what the log lacks; until then nothing but copies under `.skillopt/` has been written.
 */
export class Session {
  private warnings: string[] = [];
  private calls: EventOf<'model.called'>[] = [];
  private begun = false;
  /** The derived files: they name the last line, which has to be on the disk before them. */
  private readonly files = new Seldom(() => {
    this.journal.sync();
    this.derived.write(this.fold.state, this.journal.position);
  }, BEHIND_MS);

  private constructor(
    readonly paths: SessionPaths,
    readonly journal: Journal,
    readonly logged: Logged,
    readonly config: Config,
    /** Where its values come from, and what of it stands. */
    private readonly effective: Effective,
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

  /**
   * Opens a session in `dir`, or lays one out. `file` is the config file with the environment above it; null: it is gone,
   * all is as the log has it.
   */
  static async open(
    dir: string,
    file: Layers | null,
    flags: readonly Override[],
    parts: SessionParts,
  ): Promise<Session> {
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
    file: Layers | null,
    flags: readonly Override[],
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
      const { logged } = Logged.read(journal.read(), ({ event, hash }) => {
        fold.add(event);
        derived.whileReading(fold.state, { lines: event.seq, hash });
      });
      derived.refuseLostTail(logged.lines);
      const { created } = logged;
      const effective = effectiveConfig(file, flags, logged, paths);
      const { config } = effective;
      if (!created || effective.set.length > 0)
        await parts.refuseSecrets(config, (key) => placeOf(effective.layers, key));
      if (created) {
        checkRules(created, paths.log);
        await checkUpgrade(logged, paths);
        refuseOther(checkConfig(created.config, paths.log), effective, paths);
        if (logged.decisions.some((d) => d.type === 'session.ended'))
          refuseLate(effective, fold.state, logged.wanted, paths);
        const copy = paths.skill(created.skill.name);
        await checkSkillCopy(created, copy, parts.bundleOf(copy));
      } else for (const left of [paths.skillRoot, paths.pack]) rmSync(left, { recursive: true, force: true });
      const skill = created?.skill ?? (await parts.importSkill(config, paths.skillRoot));
      if (!created) await parts.importPack(config, paths.pack);
      const reading = parts.readPack(paths.pack);
      const pack = await (created ? checkPackCopy(created, paths.pack, reading) : reading);
      const session = new Session(
        paths,
        journal,
        logged,
        config,
        effective,
        file === null ? (logged.file ?? bounds(config)) : effective.file,
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

  /**
   * Hears every event after it stands in the log. A listener that throws changes nothing of what follows from the event:
   * its fault is raised by itself, behind all of it.
   */
  onEvent(listener: (event: LoggedEvent, state: RunState) => void): void {
    this.journal.onAppend((event) => {
      try {
        listener(event, this.fold.state);
      } catch (e) {
        queueMicrotask(() => {
          throw e;
        });
      }
    });
  }

  /** A task of the session by its id. */
  task(id: string): Task {
    const task = this.pack.tasks.find((t) => t.id === id);
    if (!task) throw new Error(`no task ${id}`);
    const { agentSec } = this.config.timeouts;
    return agentSec === null ? task : { ...task, agentTimeoutSec: agentSec };
  }

  /** Writes the first lines (or that the session goes on), and rebuilds the derived files. Listeners should hear already. */
  begin(o: {
    readonly versions: Readonly<Record<string, string>>;
    readonly workers: number;
    readonly recovered?: Recovered | undefined;
  }): LoopPlan {
    const { journal, logged } = this;
    const first = this.check(o);
    this.derived.setForeignAside(this.fold.state);
    this.derived.sweepHalfWritten();
    this.begun = true;
    journal.onAppend(({ type }) => {
      if (frequent.has(type)) this.files.ask();
      else if (telling.has(type)) this.files.now();
    });
    if (logged.created === null) logged.created = this.write(first.created);
    else
      this.write({
        type: 'session.resumed',
        program: this.parts.program,
        ...this.typed,
        file: this.file,
        wanted: bounds(this.config),
        ...this.standing,
      });
    if (!this.isNew && logged.engine !== ENGINE)
      this.write({ type: 'engine.changed', engine: ENGINE, program: this.parts.program });
    if (logged.splits === null) this.warnings.push(...splitWarnings(logged.created));
    logged.splits ??= this.write(first.splits);
    logged.plan ??= this.write(first.plan);
    if (logged.workers !== o.workers) this.write({ type: 'concurrency.changed', workers: o.workers });
    this.files.now();
    this.warn();
    for (const call of this.calls.splice(0)) {
      this.write(call);
      logged.spending.add(call.usage, callOf(call));
    }
    logged.lose((event) => this.write(event), o.recovered);
    return loopPlan(logged.created, logged.splits, logged.plan);
  }

  /** What the first lines are or will be, without writing: splits, budget and limits that can’t be are refused here. */
  check(o: { readonly versions: Readonly<Record<string, string>>; readonly workers: number }) {
    const created =
      this.logged.created ??
      createdEvent({
        session: this.id,
        program: this.parts.program,
        command: this.parts.command,
        config: this.config,
        file: this.file,
        set: this.effective.set,
        skill: this.skill,
        pack: this.pack,
        versions: o.versions,
      });
    const splits = this.logged.splits ?? splitsEvent(created);
    const plan = this.logged.plan ?? planEvent(created, splits);
    this.checkBounds(created, splits, o.workers);
    return { created, splits, plan };
  }

  /** Budget and limits that leave too little are refused when they are new, or when what they have to pay has grown. */
  private checkBounds(created: EventOf<'session.created'>, splits: EventOf<'splits.fixed'>, workers: number): void {
    const { config, logged } = this;
    if (this.state.ended !== null) return;
    const { wanted } = logged;
    if (wanted?.budget !== config.budget.rollouts) checkBudget(config.budget.rollouts, splits);
    const same =
      JSON.stringify(wanted?.limits) === JSON.stringify(config.limits) &&
      workers === logged.workers &&
      config.finalize.attempts === configOf(created).finalize.attempts;
    if (same) return;
    const kept = this.reserves(splits.selection.length, splits.test.length, workers);
    checkLimit(config.limits, { train: splits.train.length, selection: splits.selection.length }, kept, {
      started: logged.started,
      measured: this.state.phase !== 'starting' && this.state.phase !== 'measuring',
      confirming: this.state.phase === 'confirming',
    });
  }

  /** What confirmation and finalize keep for themselves of the limit. */
  reserves(selection: number, test: number, workers: number) {
    const arms = testArms(this.config.optimize);
    return reserves({ selection, test, arms, attempts: this.config.finalize.attempts, workers });
  }

  /** What flags have set, for a line that says how the session goes on. */
  private get standing() {
    const { set } = this.effective;
    return set.length === 0 ? {} : { set: [...set] };
  }

  private write<E extends Event>(event: E): E {
    this.journal.append(event);
    return event;
  }

  private get typed(): { readonly command?: string } {
    const { command } = this.parts;
    return command === undefined ? {} : { command };
  }

  /** Nothing new is started for a while, in the log. */
  markPaused(why: string, fix: string): void {
    if (this.begun) this.write({ type: 'session.paused', why, fix, within: true });
  }

  /** It goes on, with what this process wants. */
  markResumed(): void {
    const { program } = this.parts;
    if (this.begun)
      this.write({
        type: 'session.resumed',
        program,
        file: this.file,
        wanted: bounds(this.config),
        ...this.standing,
        within: true,
      });
  }

  /** Something odd, for people: stands in the log as soon as the session has begun. */
  note(warning: string): void {
    this.warnings.push(warning);
  }

  /** A short call of a model before the work began: what it spent stands in the log as soon as the session has begun. */
  noteCall(call: Omit<EventOf<'model.called'>, 'type' | 'preflight'>): void {
    this.calls.push({ type: 'model.called', preflight: true, ...call });
  }

  private warn(): void {
    for (const w of this.warnings.splice(0))
      this.write({ type: 'warning.raised', what: w, where: this.paths.dir, fix: '' });
  }

  /** Writes the derived files once more, if this process has begun to work, and lets go of the directory. */
  close(): void {
    try {
      if (!this.begun || this.logged.plan === null) return;
      this.files.now();
      if (this.warnings.length === 0) return;
      this.warn(); // of files that were changed while we worked
      this.files.now();
    } finally {
      this.files.stop();
      this.journal.close();
      this.lock.release();
    }
  }
}
