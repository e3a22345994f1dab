import { type Edit, editHash } from '../ports/edit.ts';
import type { EventOf, LoggedEvent } from './events.ts';
import type { Score } from './shapes.ts';

/** An edit that was handed in, with what has become of it. */
export type EditState = {
  readonly hash: string;
  readonly edit: Edit;
  readonly round: number;
  readonly source: 'reflection' | 'person';
  readonly fate: 'handed-in' | 'in-draft' | 'dropped' | 'rejected' | 'accepted' | 'refused';
  readonly why: string;
};

/** A row of the score table: one gate. */
export type StepState = Omit<EventOf<'gate.decided'>, 'type' | 'consumed' | 'seen' | 'digest'> & {
  readonly at: string;
};

export type Unscored = { readonly count: number; readonly task: string; readonly detail: string };

export type Phase = 'starting' | 'measuring' | 'searching' | 'confirming' | 'searched' | 'finalizing' | 'finished';

export type Running = { readonly key: string; readonly task: string; readonly since: string; readonly line: string };

/** Sums over rollouts or calls. A sum is null as soon as one part of it is unknown. */
export type Spend = { readonly tokens: number | null; readonly costUsd: number | null };

/**
 * What a session's log says, as a fold over its lines. The terminal, plain lines, JSON, `status` and `skillopt.md` are
 * functions of it.
 */
export type RunState = {
  readonly session: EventOf<'session.created'> | null;
  readonly splits: { readonly train: number; readonly selection: number; readonly test: number } | null;
  readonly plan: EventOf<'plan.fixed'> | null;
  readonly lines: number;
  readonly startedAt: string | null;
  readonly lastAt: string | null;
  readonly phase: Phase;
  readonly paused: { readonly why: string; readonly fix: string } | null;
  readonly seed: { readonly selection: Score | null; readonly train: Score | null };
  readonly round: number;
  readonly draftSize: number;
  readonly edits: ReadonlyMap<string, EditState>;
  readonly steps: readonly StepState[];
  /** Texts of the seed and of every accepted skill, by hash; `version` 0 is the seed. */
  readonly skills: ReadonlyMap<string, { readonly version: number; readonly text: string }>;
  readonly incumbent: string;
  readonly confirmation: EventOf<'confirmation.finished'> | null;
  readonly ended: EventOf<'session.ended'> | null;
  readonly finalizeStarted: boolean;
  readonly finalized: EventOf<'finalize.finished'> | null;
  readonly running: ReadonlyMap<string, Running>;
  readonly rollouts: {
    readonly started: number;
    readonly finished: number;
    readonly scored: number;
    readonly cancelled: number;
    readonly lost: number;
    /** By reason: how many, and one of them. */
    readonly unscored: ReadonlyMap<string, Unscored>;
  };
  readonly calls: number;
  /** Rollouts in which the skill was read, of those that can tell. */
  readonly read: readonly [number, number];
  readonly spend: Spend;
  readonly minutes: number;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
};

/** What came of an edit's screening, in words. */
function tried(event: EventOf<'screening.decided'>): string {
  if (event.task === null) return 'kept without a try';
  if (event.passed === null) return `${event.task} could not be scored`;
  if (event.passed) return `fixed ${event.task}`;
  return `${event.task} still failed with it${event.kept ? ', kept for its earlier passes' : ''}`;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

/** Folds a log into its state. Give it every line in order; `state` may be read between two of them. */
export class Fold {
  private readonly edits = new Map<string, EditState>();
  private readonly skills = new Map<string, { version: number; text: string }>();
  private readonly running = new Map<string, Running>();
  private readonly unscored = new Map<string, Unscored>();
  private readonly steps: StepState[] = [];
  private readonly warnings: string[] = [];
  private readonly notes: string[] = [];
  private readonly s: Mutable<RunState>;
  private segmentFrom = 0;
  private minutesBefore = 0;

  constructor() {
    this.s = {
      session: null,
      splits: null,
      plan: null,
      lines: 0,
      startedAt: null,
      lastAt: null,
      phase: 'starting',
      paused: null,
      seed: { selection: null, train: null },
      round: 0,
      draftSize: 0,
      edits: this.edits,
      steps: this.steps,
      skills: this.skills,
      incumbent: '',
      confirmation: null,
      ended: null,
      finalizeStarted: false,
      finalized: null,
      running: this.running,
      rollouts: { started: 0, finished: 0, scored: 0, cancelled: 0, lost: 0, unscored: this.unscored },
      calls: 0,
      read: [0, 0],
      spend: { tokens: 0, costUsd: 0 },
      minutes: 0,
      warnings: this.warnings,
      notes: this.notes,
    };
  }

  get state(): RunState {
    return this.s;
  }

  private count(more: Partial<RunState['rollouts']>): void {
    this.s.rollouts = { ...this.s.rollouts, ...more };
  }

  private spent(u: EventOf<'rollout.finished'>['usage']): void {
    const tokens = add(u.inputTokens, u.outputTokens);
    this.s.spend = { tokens: add(this.s.spend.tokens, tokens), costUsd: add(this.s.spend.costUsd, u.costUsd) };
  }

  private fate(hash: string | null, fate: EditState['fate'], why: string): void {
    const e = hash === null ? undefined : this.edits.get(hash);
    if (e) this.edits.set(e.hash, { ...e, fate, why });
  }

  private clock(event: LoggedEvent): void {
    const at = Date.parse(event.at);
    if (this.s.startedAt === null || event.type === 'session.resumed') {
      this.minutesBefore = this.s.minutes;
      this.segmentFrom = at;
    }
    this.s.startedAt ??= event.at;
    this.s.lastAt = event.at;
    this.s.minutes = this.minutesBefore + Math.max(0, at - this.segmentFrom) / 60_000;
  }

  /** Edits come in with their effect; their hash is the one that decisions speak of. */
  private handedIn(
    edits: readonly { readonly hash: string; readonly edit: Edit }[],
    round: number,
    source: EditState['source'],
  ): void {
    for (const { hash, edit } of edits) {
      const before = this.edits.get(hash)?.fate;
      if (before === 'accepted' || before === 'in-draft') continue; // handed in again: it stands there already
      this.edits.set(hash, { hash, edit, round, source, fate: 'handed-in', why: '' });
    }
  }

  add(event: LoggedEvent): void {
    const s = this.s;
    s.lines = event.seq;
    this.clock(event);
    switch (event.type) {
      case 'session.created':
        s.session = event;
        s.incumbent = event.skill.hash;
        this.skills.set(event.skill.hash, { version: 0, text: event.skill.text });
        return;
      case 'splits.fixed':
        s.splits = { train: event.train.length, selection: event.selection.length, test: event.test.length };
        return;
      case 'plan.fixed':
        s.plan = event;
        s.phase = 'measuring';
        return;
      case 'engine.changed':
      case 'concurrency.changed':
      case 'evaluation.started':
        return;
      case 'input.received':
        this.input(event);
        return;
      case 'rollout.started':
        this.running.set(event.key, { key: event.key, task: event.task, since: event.at, line: event.line });
        if (event.line === 'confirmation') s.phase = 'confirming';
        this.count({ started: s.rollouts.started + 1 });
        return;
      case 'rollout.cancelled':
        this.running.delete(event.key);
        this.count({ cancelled: s.rollouts.cancelled + 1 });
        return;
      case 'rollout.lost':
        this.running.delete(event.key);
        this.count({ lost: s.rollouts.lost + 1 });
        return;
      case 'rollout.finished':
        this.finished(event);
        return;
      case 'reflection.finished':
        s.calls++;
        s.round = event.round;
        this.spent(event.usage);
        if (event.answer.kind === 'proposal')
          this.handedIn(
            event.answer.proposal.edits.map((edit) => ({ hash: editHash(edit), edit })),
            event.round,
            'reflection',
          );
        return;
      case 'model.called':
        return;
      case 'warning.raised':
        this.warnings.push(`${event.what} (${event.where})${event.fix ? `: ${event.fix}` : ''}`);
        return;
      case 'session.paused':
        s.paused = { why: event.why, fix: event.fix };
        this.running.clear();
        return;
      case 'session.resumed':
        s.paused = null;
        this.running.clear();
        return;
      default:
        this.decision(event);
    }
  }

  private input(event: EventOf<'input.received'>): void {
    const { input } = event;
    if (input.kind === 'note') this.notes.push(input.text);
    if (input.kind === 'edit')
      this.handedIn([{ hash: editHash(input.edit), edit: input.edit }], this.s.round + 1, 'person');
    if (input.kind === 'budget.changed' && this.s.plan) this.s.plan = { ...this.s.plan, budget: input.rollouts };
    if (input.kind === 'limits.changed' && this.s.plan) this.s.plan = { ...this.s.plan, limits: input.limits };
    if (input.kind === 'environment.changed') this.warnings.push(`the environment changed: ${input.what}`);
  }

  private finished(event: EventOf<'rollout.finished'>): void {
    const s = this.s;
    this.running.delete(event.key);
    this.spent(event.usage);
    const { outcome } = event;
    if (outcome.status === 'unscored') {
      const before = this.unscored.get(outcome.reason) ?? { count: 0, task: event.task, detail: outcome.detail };
      this.unscored.set(outcome.reason, { ...before, count: before.count + 1 });
    } else if (outcome.read !== null && !event.key.startsWith('none/'))
      s.read = [s.read[0] + (outcome.read ? 1 : 0), s.read[1] + 1];
    this.count({
      finished: s.rollouts.finished + 1,
      scored: s.rollouts.scored + (outcome.status === 'scored' ? 1 : 0),
    });
  }

  private decision(event: Extract<LoggedEvent, { digest: string }>): void {
    const s = this.s;
    switch (event.type) {
      case 'evaluation.finished':
        if (event.why === 'seed' && event.split === 'selection') s.seed = { ...s.seed, selection: event.score };
        if (event.why === 'seed' && event.split === 'train') s.seed = { ...s.seed, train: event.score };
        if (event.split === 'train') s.phase = 'searching';
        return;
      case 'edit.rejected':
        s.round = Math.max(s.round, event.round);
        // the same edit may stand in the draft or be accepted already
        if (event.reason !== 'in-draft' && event.reason !== 'no-change')
          this.fate(event.edit, 'rejected', event.detail);
        return;
      case 'screening.decided':
        s.draftSize = event.draftSize;
        this.fate(event.edit, event.kept ? 'in-draft' : 'dropped', tried(event));
        return;
      case 'gate.decided': {
        const { type: _type, consumed: _c, seen: _s, digest: _d, ...row } = event;
        this.steps.push(row);
        if (event.draftDropped) s.draftSize = 0;
        if (event.gateAction === 'accept') s.draftSize = 0;
        for (const e of event.edits)
          if (event.gateAction === 'accept') this.fate(e, 'accepted', `step ${event.step}`);
          else if (event.draftDropped) this.fate(e, 'refused', `step ${event.step}`);
        return;
      }
      case 'skill.added':
        this.skills.set(event.skill, { version: event.version, text: event.text });
        return;
      case 'incumbent.changed':
        s.incumbent = event.to;
        return;
      case 'confirmation.finished':
        s.confirmation = event;
        return;
      case 'session.ended':
        s.ended = event;
        s.phase = 'searched';
        this.running.clear();
        return;
      case 'finalize.started':
        s.finalizeStarted = true;
        s.phase = 'finalizing';
        return;
      case 'finalize.finished':
        s.finalized = event;
        s.phase = 'finished';
        this.running.clear();
        return;
      default:
        event satisfies never;
    }
  }
}
