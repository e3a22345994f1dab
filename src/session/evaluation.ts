import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config/schema.ts';
import { EvalFold, type EvalState } from '../events/eval-state.ts';
import type { Event, EventOf, LoggedEvent } from '../events/events.ts';
import { diskFailure, Journal } from '../journal/journal.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import { TextFiles } from '../journal/texts.ts';
import type { MountedSkill, Recovered } from '../ports/rollouts.ts';
import type { Pack, Task } from '../ports/task.ts';
import { copyChanged } from './copies.ts';
import { checkCopies, type EvalParts, type EvalWanted, keepSources, readSources, refuseOther } from './eval-copies.ts';
import { checkEvalRules } from './eval-first-line.ts';
import { type EvalPaths, evalPaths } from './eval-paths.ts';
import { Logged } from './logged.ts';
import { OwnDocument } from './own-document.ts';

/**
 * An eval's directory, open for work: lock held, log read and held against its chain, copies made or checked. `begin`
 * writes what the log lacks; until then nothing but copies under `.skillopt-eval/` has been written.
 */
export class Evaluation {
  private begun = false;
  private readonly calls: EventOf<'model.called'>[] = [];

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
    /** The topmost folder that was made for it. */
    private readonly made: string | undefined,
    /** What is odd and not in the log yet; files are set aside while it runs, too. */
    private readonly notes: string[],
  ) {
    journal.onAppend((event) => fold.add(event));
  }

  /** Opens the eval of a directory, or lays one out. Throws `session-mismatch` when another one lies there. */
  static async open(dir: string, wanted: EvalWanted, parts: EvalParts): Promise<Evaluation> {
    const paths = evalPaths(dir);
    let made: string | undefined;
    try {
      made = mkdirSync(paths.hidden, { recursive: true });
    } catch (cause) {
      throw diskFailure('the eval’s directory can’t be made', paths.hidden, cause);
    }
    const lock = takeLock(paths.hidden);
    try {
      return await Evaluation.openLocked(paths, wanted, parts, lock, made);
    } catch (e) {
      lock.release();
      if (!existsSync(paths.log)) removeTraces(paths, made);
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
    made: string | undefined,
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
      return new Evaluation(
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
        made,
        asides,
      );
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

  /** A short call of the model before rollouts begin: what it spent stands in the log as soon as the eval has begun. */
  noteCall(call: Omit<EventOf<'model.called'>, 'type' | 'preflight'>): void {
    this.calls.push({ type: 'model.called', preflight: true, ...call });
  }

  /** Writes the first line, or that it goes on. A look at a sealed test is recorded before. */
  begin(o: {
    readonly versions: Readonly<Record<string, string>>;
    readonly workers: number;
    readonly recovered?: Recovered | undefined;
  }): void {
    const { logged, first, wanted } = this;
    this.document.setForeignAside();
    if (this.isNew) {
      const look = wanted.look === null ? null : wanted.look(this.id);
      const session = wanted.session === null ? null : { ...wanted.session, look };
      this.first = { ...first, session, environment: { ...first.environment, versions: { ...o.versions } } };
      logged.evaluation = this.write(this.first);
    } else {
      const { program, command } = this.parts;
      const typed = command === undefined ? {} : { command };
      this.write({ type: 'session.resumed', program, ...typed, ...this.bounds });
    }
    this.begun = true;
    if (logged.workers !== o.workers) this.write({ type: 'concurrency.changed', workers: o.workers });
    for (const call of this.calls.splice(0)) {
      this.write(call);
      logged.spending.add(call.usage, 'call');
    }
    logged.lose((event) => this.write(event), o.recovered);
    this.render();
  }

  /** Nothing new is started for a while, in the log. */
  markPaused(why: string, fix: string): void {
    this.write({ type: 'session.paused', why, fix, within: true });
  }

  /** It goes on, in the same process. */
  markResumed(): void {
    this.write({ type: 'session.resumed', program: this.parts.program, ...this.bounds, within: true });
  }

  /** Nothing is planned but what the first line says; limits may differ from start to start. */
  private get bounds() {
    const bounds = { budget: this.state.of, limits: { ...this.config.limits } };
    return { file: bounds, wanted: bounds };
  }

  private write<E extends Event>(event: E): E {
    this.journal.append(event);
    return event;
  }

  private render(): void {
    this.document.setForeignAside();
    this.tell();
    this.document.write(this.state, this.journal.position);
  }

  private tell(): void {
    for (const what of this.notes.splice(0))
      this.write({ type: 'warning.raised', what, where: this.paths.dir, fix: '' });
    this.journal.sync();
  }

  /** Writes the report anew where it is missing or stale, and lets go of the directory; one that has not begun leaves no trace. */
  close(): void {
    try {
      if (this.begun) this.render();
      else if (!this.isNew) this.document.refresh(this.state, this.journal.position);
    } finally {
      this.journal.close();
      this.lock.release();
      if (this.isNew && !this.begun) removeTraces(this.paths, this.made);
    }
  }
}

/** What was laid out for an eval that did not begin: the hidden folder, and those above it that were made for it. */
function removeTraces(paths: EvalPaths, made: string | undefined): void {
  try {
    rmSync(paths.hidden, { recursive: true, force: true });
    if (made === undefined) return;
    for (let dir = paths.dir; dir.length >= made.length && dir !== dirname(dir); dir = dirname(dir)) rmdirSync(dir); // only if nothing else lies there
  } catch {
    // somebody else uses it: it stays
  }
}
