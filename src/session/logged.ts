import type { Decision, EventOf } from '../events/events.ts';
import { eventShape, kindOf } from '../events/events.ts';
import { MORE_TRIES } from '../events/loop-facts.ts';
import { isPlainlyEvent } from '../events/quick-shape.ts';
import { rolloutName } from '../events/rollout-key.ts';
import type { Bounds, StandingKey } from '../events/shapes.ts';
import type { ReadEnd, ReadLine } from '../journal/journal.ts';
import type { ProposeAnswer } from '../ports/engine.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import type { Input } from '../ports/inputs.ts';
import type { Outcome } from '../ports/outcome.ts';
import type { Recovered, Rollouts } from '../ports/rollouts.ts';
import { unknownUsage } from '../ports/usage.ts';
import { callOf, Spending, spentOn } from './actual-ledger.ts';
import { configOf } from './first-lines.ts';

export type LoggedDecision = { readonly hash: string; readonly line: number; readonly type: Decision['type'] };
export type LoggedInput = {
  readonly point: EventOf<'input.received'>['point'];
  readonly input: Input;
  readonly line: number;
};
export type LoggedOutcome = { readonly outcome: Outcome; readonly trajectory: string | null; readonly line: number };
export type LoggedProposal = { readonly answer: ProposeAnswer; readonly line: number };

/** The optimizer that calls no model. */
const NO_MODEL = 'rehearsal';

/** A log, indexed for replay: effects by key, decisions in order, inputs by turn. */
export class Logged {
  readonly outcomes = new Map<string, LoggedOutcome>();
  readonly proposals = new Map<string, LoggedProposal>();
  readonly decisions: LoggedDecision[] = [];
  readonly inputs = new Map<number, LoggedInput[]>();
  /** Rollouts that were started, and of which nothing else is told. */
  readonly open = new Set<string>();
  created: EventOf<'session.created'> | null = null;
  /** The first line of an eval's log. */
  evaluation: EventOf<'eval.created'> | null = null;
  splits: EventOf<'splits.fixed'> | null = null;
  plan: EventOf<'plan.fixed'> | null = null;
  /** Number of the engine that drew last; null = there is no line. */
  engine: number | null = null;
  /** How the test was opened; null = it was not. */
  finalizeStarted: { readonly look: number; readonly attempts: number } | null = null;
  started = 0;
  /** What this session itself has spent; what a fork took over was paid by its parent. */
  readonly spending = new Spending();
  private inheritedLeft = 0;
  /** A reflection has begun, and neither its end nor a stop is told: calls of its model may have been at work. */
  private asking: Pick<EventOf<'reflection.started'>, 'kind' | 'failing'> | null = null;
  /** Budget and limits as the config file last had them. */
  file: Bounds | null = null;
  /** Budget and limits as they were last wanted: at a start, or by an input since. */
  wanted: Bounds | null = null;
  /** What else flags have set, as it last stood. */
  set: readonly StandingKey[] = [];
  /** Rollouts at a time, as last written. */
  workers: number | null = null;
  lines = 0;
  /** A fork that has not run: its inputs are the parent's, and what is wanted since stands in its first line. */
  private inherits = false;

  /** Attempts of an eval that are not settled yet. */
  get left(): number {
    if (this.evaluation === null) return 0;
    const { arms, attempts, pack } = this.evaluation;
    let settled = 0;
    for (const [key, { outcome }] of this.outcomes)
      if (outcome.status === 'scored' || rolloutName(key).try >= MORE_TRIES) settled++;
    return Math.max(0, arms.length * attempts * pack.tasks.length - settled);
  }

  /** Hashes of trajectories that the log names, each with its last line. */
  trajectories(): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const { trajectory, line } of this.outcomes.values()) if (trajectory !== null) found.set(trajectory, line);
    return found;
  }

  /** Reads all of it; `each` hears every line on the way (for the fold that the screens read). */
  static read(
    reader: Generator<ReadLine, ReadEnd>,
    each: (line: ReadLine) => void = () => {},
  ): { readonly logged: Logged; readonly end: ReadEnd } {
    const logged = new Logged();
    for (;;) {
      const next = reader.next();
      if (next.done) return { logged, end: next.value };
      checkShape(next.value);
      logged.add(next.value);
      each(next.value);
    }
  }

  private add(line: ReadLine): void {
    const { event } = line;
    this.lines = event.seq;
    switch (event.type) {
      case 'session.created':
        this.created = event;
        this.engine = event.engine;
        this.inherits = event.fork !== undefined;
        this.inheritedLeft = event.fork?.effects ?? 0;
        this.file = event.file;
        this.wanted = event.wanted;
        this.set = event.set ?? [];
        return;
      case 'eval.created':
        this.evaluation = event;
        this.engine = event.engine;
        return;
      case 'engine.changed':
        this.engine = event.engine;
        return;
      case 'session.resumed':
        this.inherits = false;
        if (!event.within) this.asking = null;
        this.file = event.file;
        this.wanted = event.wanted;
        this.set = event.set ?? [];
        return;
      case 'splits.fixed':
        this.splits = event;
        return;
      case 'plan.fixed':
        this.plan = event;
        return;
      case 'concurrency.changed':
        this.workers = event.workers;
        return;
      case 'rollout.started':
        this.started++;
        this.open.add(event.key);
        return;
      case 'rollout.cancelled':
        this.open.delete(event.key);
        if (event.begun === false) this.started--;
        else this.spending.add(event.usage ?? unknownUsage, 'cut-off');
        return;
      case 'rollout.lost':
        this.open.delete(event.key);
        this.spending.add(unknownUsage, 'cut-off');
        return;
      case 'model.called':
        this.spending.add(event.usage, callOf(event));
        return;
      case 'reflection.started':
        this.asking = event;
        return;
      case 'session.paused':
        if (!event.within) this.asking = null;
        return;
      case 'rollout.finished':
        if (this.outcomes.has(event.key)) throw diverged(event.seq, 'a finished rollout stands twice', event.key, '');
        this.open.delete(event.key);
        if (this.inheritedLeft > 0) this.inheritedLeft--;
        else this.spending.add(event.usage, spentOn(event.outcome, event.exit));
        this.outcomes.set(event.key, { outcome: event.outcome, trajectory: event.trajectory, line: event.seq });
        return;
      case 'reflection.finished':
        if (this.proposals.has(event.key)) throw diverged(event.seq, 'a reflection stands twice', event.key, '');
        if (this.inheritedLeft > 0) this.inheritedLeft--;
        this.asking = null;
        this.proposals.set(event.key, { answer: event.answer, line: event.seq });
        return;
      case 'input.received': {
        const at = this.inputs.get(event.turn) ?? [];
        at.push({ point: event.point, input: event.input, line: event.seq });
        this.inputs.set(event.turn, at);
        if (this.wanted === null || this.inherits) return;
        if (event.input.kind === 'budget.changed') this.wanted = { ...this.wanted, budget: event.input.rollouts };
        if (event.input.kind === 'limits.changed') this.wanted = { ...this.wanted, limits: event.input.limits };
        return;
      }
      case 'finalize.started':
        this.finalizeStarted = { look: event.look, attempts: event.attempts };
        this.decided(event.seq, event.type, line.body);
        return;
      default:
        if (kindOf(event.type) === 'decision') this.decided(event.seq, event.type as Decision['type'], line.body);
    }
  }

  /**
   * What was at work when a process was killed: it is told, and what it spent is reckoned with. What the backend has
   * recovered stays open, until it is handed over.
   */
  lose(
    write: (event: EventOf<'rollout.lost'> | EventOf<'rollout.cancelled'> | EventOf<'model.called'>) => void,
    recovered: Recovered = { finished: [], notBegun: [] },
  ): void {
    const finished = new Set(recovered.finished);
    const notBegun = new Set(recovered.notBegun);
    for (const key of this.open) {
      if (finished.has(key)) continue;
      this.open.delete(key);
      if (notBegun.has(key)) {
        write({ type: 'rollout.cancelled', key, why: 'the process ended before its turn', begun: false });
        this.started--;
      } else {
        write({ type: 'rollout.lost', key });
        this.spending.add(unknownUsage, 'cut-off');
      }
    }
    const model = this.plan?.optimizer ?? NO_MODEL;
    const calls = model === NO_MODEL ? 0 : this.callsAtOnce;
    const problem = `lost: ${calls === 1 ? 'the process ended before it answered' : 'it may have been at work when the process ended'}`;
    for (let n = 0; n < calls; n++) {
      write({ type: 'model.called', role: 'optimizer', model, problem, usage: unknownUsage, durationMs: 0 });
      this.spending.add(unknownUsage, 'call');
    }
    this.asking = null;
  }

  /** What the backend knows of the rollouts that were at work when a process ended. */
  async recovered(rollouts: Pick<Rollouts, 'recover'>): Promise<Recovered> {
    const none = { finished: [], notBegun: [] };
    return this.open.size === 0 ? none : ((await rollouts.recover?.([...this.open])) ?? none);
  }

  /** Calls that a reflection which has not ended may have had at work at once: one of each of its readers. */
  private get callsAtOnce(): number {
    const { asking, created } = this;
    if (asking === null) return 0;
    if (asking.kind === 'slow-update' || created === null) return 1;
    const { readers, minibatchSize } = configOf(created).reflection;
    return Math.max(1, Math.min(readers, Math.ceil(asking.failing / (minibatchSize ?? 1))));
  }

  private decided(line: number, type: Decision['type'], body: string): void {
    this.decisions.push({ hash: sha256(body), line, type });
  }
}

/** Refuses, as `log-broken`, a line whose chain is whole but which is no event that this program writes. */
export function checkShape({ event }: ReadLine): void {
  if (isPlainlyEvent(event)) return;
  const checked = eventShape.safeParse(event);
  if (checked.success) return;
  const [issue] = checked.error.issues;
  const what =
    kindOf(event.type) === undefined
      ? `no event that this program knows (${event.type})`
      : `no ${event.type}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
  throw fail(
    'log-broken',
    `line ${event.seq} of the log is ${what}`,
    `line ${event.seq}`,
    'restore the log from a copy, or use the newer program that wrote it',
  );
}

/** The log and the engine disagree: a failure with the line and both sides. */
export class Diverged extends SkilloptError {
  constructor(
    readonly line: number,
    what: string,
    sides: string,
  ) {
    super({
      code: 'log-diverged',
      what: `the log and the rules disagree at line ${line}: ${what}`,
      where: sides === '' ? `line ${line}` : `line ${line}\n${sides}`,
      fix: 'the log was changed, or another program wrote it; restore it from a copy',
      retryable: false,
    });
  }
}

/** `drawn` empty: `logged` says all there is to say. */
export function diverged(line: number, what: string, logged: string, drawn: string): Diverged {
  return new Diverged(line, what, drawn === '' ? logged : `logged: ${logged}\ndrawn:  ${drawn}`);
}
