import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { type Difference, differences } from '../config/differences.ts';
import type { Config } from '../config/schema.ts';
import type { LoopPlan } from '../engine/plan.ts';
import type { Event, LoggedEvent } from '../events/events.ts';
import { Fold, type RunState } from '../events/run-state.ts';
import { chainHash, diskFailure, Journal } from '../journal/journal.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import { TextFiles } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import type { Pack, Task } from '../ports/task.ts';
import { checkLimit, reserves } from './actual-ledger.ts';
import { DerivedFiles, type RenderDocument } from './derived-files.ts';
import {
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

/**
 * A session's directory, open for work: lock held, log read and held against its chain, copies checked, derived files
 * rebuilt. `begin` writes what the log lacks; until then nothing but copies under `.skillopt/` has been written.
 */
export class Session {
  private warnings: string[] = [];

  private constructor(
    readonly paths: SessionPaths,
    readonly journal: Journal,
    readonly logged: Logged,
    readonly config: Config,
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

  /** Opens a session in `dir`, or lays one out. `config` null: as the session was created. */
  static async open(dir: string, config: Config | null, parts: SessionParts): Promise<Session> {
    const paths = sessionPaths(dir);
    try {
      mkdirSync(paths.hidden, { recursive: true });
    } catch (cause) {
      throw diskFailure('the session’s directory can’t be made', paths.hidden, cause);
    }
    const lock = takeLock(paths.hidden);
    try {
      return await Session.openLocked(paths, config, parts, lock);
    } catch (e) {
      lock.release();
      throw e;
    }
  }

  private static async openLocked(
    paths: SessionPaths,
    config: Config | null,
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
      const now = config ?? (created ? (created.config as Config) : null);
      if (now === null)
        throw fail('usage', 'there is no session here', paths.dir, 'start one with `skillopt run` beside a config');
      let skill: SeedSkill;
      if (created) {
        checkRules(created, paths.log);
        const { fork } = differences(created.config, now);
        if (fork.length > 0) throw otherSession(fork, paths);
        if (logged.decisions.some((d) => d.type === 'session.ended')) refuseLate(now, fold.state, paths);
        skill = created.skill;
      } else {
        for (const left of [paths.skillRoot, paths.pack]) rmSync(left, { recursive: true, force: true });
        skill = await parts.importSkill(now, paths.skillRoot);
        await parts.importPack(now, paths.pack);
      }
      const pack = await parts.readPack(paths.pack);
      if (created && pack.hash !== created.pack.hash)
        throw fail(
          'session-mismatch',
          'the session’s copy of the pack was changed',
          paths.pack,
          'restore it; to optimize on other tasks, fork: start another session in a directory of its own',
        );
      const session = new Session(
        paths,
        journal,
        logged,
        now,
        skill,
        pack,
        created === null,
        created?.session ?? parts.newId(),
        derived,
        lock,
        parts,
        fold,
      );
      session.warnings = asides;
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
  begin(o: {
    readonly rehearsal: boolean;
    readonly versions: Readonly<Record<string, string>>;
    readonly workers: number;
  }): LoopPlan {
    const { journal, logged } = this;
    journal.onAppend((event) => {
      this.derived.after(event, this.fold.state, journal.position);
    });
    const first = this.check(o);
    if (logged.created === null) logged.created = this.write(first.created);
    else this.write({ type: 'session.resumed', program: this.parts.program });
    if (logged.splits === null) this.warnings.push(...splitWarnings(logged.created));
    logged.splits ??= this.write(first.splits);
    logged.plan ??= this.write(first.plan);
    if (logged.workers !== o.workers) this.write({ type: 'concurrency.changed', workers: o.workers });
    this.derived.rebuild(this.fold.state, journal.position);
    for (const w of this.warnings) this.write({ type: 'warning.raised', what: w, where: this.paths.dir, fix: '' });
    for (const key of logged.open) this.write({ type: 'rollout.lost', key });
    logged.open.clear();
    return loopPlan(logged.created, logged.splits, logged.plan);
  }

  /** What the first lines are or will be, without writing: splits, budget and limits that can’t be are refused here. */
  check(o: {
    readonly rehearsal: boolean;
    readonly versions: Readonly<Record<string, string>>;
    readonly workers: number;
  }) {
    const created =
      this.logged.created ??
      createdEvent({
        session: this.id,
        program: this.parts.program,
        config: this.config,
        skill: this.skill,
        pack: this.pack,
        rehearsal: o.rehearsal,
        versions: o.versions,
      });
    const splits = this.logged.splits ?? splitsEvent(created);
    const plan = this.logged.plan ?? planEvent(created, splits);
    if (this.logged.plan === null)
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

  /** Writes the derived files once more and lets go of the directory. */
  close(): void {
    try {
      if (!existsSync(this.paths.log) || this.logged.plan === null) return;
      this.derived.write(this.fold.state, this.journal.position);
    } finally {
      this.journal.close();
      this.lock.release();
    }
  }
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
