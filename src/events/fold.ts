import type { Edit } from '../ports/edit.ts';
import type { Usage } from '../ports/usage.ts';
import { conclusive } from './conclusive.ts';
import { EditFates } from './edit-fates.ts';
import type { EventOf, LoggedEvent } from './events.ts';
import { feedEntries } from './feed.ts';
import { atFirst } from './first-state.ts';
import { guidedSkill } from './guided-skill.ts';
import { closesPhase, Measurements } from './measurements.ts';
import { skillOf } from './rollout-key.ts';
import type { EditState, FeedEntry, Running, RunState, StepState, Unscored } from './run-state.ts';
import { RoleSpend, type SpendRole, WorkSum } from './spend.ts';
import { RunningTime } from './stamp.ts';
import { Times } from './timeline.ts';
import { Troubles } from './trouble.ts';
import { isCut, triedText } from './words.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type SessionDecision = Exclude<Extract<LoggedEvent, { digest: string }>, { type: 'eval.finished' }>;

/** Folds a log into its state. Give it every line in order; `state` may be read between two of them. */
export class Fold {
  private readonly spends = new RoleSpend();
  private readonly work = { rollouts: new WorkSum(), reflections: new WorkSum() };
  private readonly edits = new EditFates();
  private readonly skills = new Map<string, { version: number; text: string }>();
  private readonly running = new Map<string, Running>();
  private readonly unscored = new Map<string, Unscored>();
  /** Counted in place: most lines count a rollout. */
  private readonly rollouts: Mutable<RunState['rollouts']> = { ...atFirst.rollouts, unscored: this.unscored };
  private readonly steps: StepState[] = [];
  private readonly warnings: string[] = [];
  private readonly notes: string[] = [];
  private readonly feed: FeedEntry[] = [];
  private readonly draft: string[] = [];
  private readonly measurements = new Measurements();
  private readonly times = new Times();
  private readonly troubles = new Troubles();
  private readonly time = new RunningTime();
  private readonly s: Mutable<RunState>;
  /** Effects of the parent that are still to come, in a fork. */
  private inheritedLeft = 0;
  private lastRound = 0;

  /** `feed: false` leaves the feed empty, for readers that show none of it: its sentences are a fifth of the work. */
  constructor(private readonly options: { readonly feed: boolean } = { feed: true }) {
    this.s = {
      ...atFirst,
      trouble: this.troubles,
      draft: this.draft,
      edits: this.edits.byHash,
      steps: this.steps,
      skills: this.skills,
      running: this.running,
      pending: this.measurements.pending,
      bank: this.measurements.bank,
      train: this.measurements.train,
      timeline: this.times,
      tested: this.measurements.tested,
      feed: this.feed,
      spend: this.spends.spend,
      work: this.work,
      warnings: this.warnings,
      notes: this.notes,
      rollouts: this.rollouts,
    };
  }

  get state(): RunState {
    return this.s;
  }

  private spent(usage: Usage, role: SpendRole = 'rollouts'): void {
    this.spends.add(usage, role);
    this.s.spend = this.spends.spend;
  }

  /** Time does not run while the session is paused, nor between two processes; a later look at the test is one of its own. */
  private clock(event: LoggedEvent): void {
    const isAnew = event.type === 'session.resumed' || event.type === 'test.looked';
    this.time.at(event.at, this.s.paused === null && !isAnew);
    this.s.startedAt ??= event.at;
    this.s.lastAt = event.at;
    this.s.minutes = this.time.minutes;
  }

  private handedIn(edits: readonly Edit[], round: number, source: EditState['source']): void {
    this.s.handedInRound = Math.max(this.s.handedInRound, round);
    this.edits.handedIn(edits, round, source);
  }

  add(event: LoggedEvent): void {
    this.s.lines = event.seq;
    this.clock(event);
    this.troubles.note(event, (key) => this.running.get(key)?.task ?? '');
    this.take(event);
    if (this.options.feed) for (const entry of feedEntries(event, this.s)) this.feed.push(entry);
  }

  private take(event: LoggedEvent): void {
    const s = this.s;
    switch (event.type) {
      case 'session.created':
        s.session = event;
        s.command = event.command ?? null;
        s.incumbent = s.draftSkill = event.skill.hash;
        this.skills.set(event.skill.hash, { version: 0, text: event.skill.text });
        this.inheritedLeft = event.fork?.effects ?? 0;
        return;
      case 'splits.fixed':
        s.splits = { train: event.train.length, selection: event.selection.length, test: event.test.length };
        s.tasks = {
          train: event.train.map((t) => t.id),
          selection: event.selection.map((t) => t.id),
          test: event.test.map((t) => t.id),
        };
        return;
      case 'plan.fixed':
        s.plan = event;
        s.phase = 'measuring';
        return;
      case 'test.looked':
        s.lookedAgain++;
        return;
      case 'engine.changed':
      case 'concurrency.changed':
      case 'evaluation.started':
      case 'eval.created': // an eval has a log and a fold of its own
      case 'eval.finished':
        return;
      case 'model.called':
        this.spent(event.usage, event.preflight ? 'round trip' : 'optimizer');
        if (s.reflecting !== null) s.reflecting = { ...s.reflecting, calls: s.reflecting.calls + 1 };
        return;
      case 'input.received':
        this.input(event);
        return;
      case 'rollout.started':
        this.running.set(event.key, {
          key: event.key,
          skill: skillOf(event.key),
          task: event.task,
          since: event.at,
          line: event.line,
          seq: event.seq,
        });
        if (event.line === 'confirmation') s.phase = 'confirming';
        this.rollouts.started++;
        return;
      case 'rollout.cancelled':
        this.running.delete(event.key);
        if (event.begun === false) this.rollouts.started--;
        else this.rollouts.cancelled++;
        if (event.usage !== undefined) this.spent(event.usage);
        return;
      case 'rollout.lost':
        this.running.delete(event.key);
        this.rollouts.lost++;
        return;
      case 'rollout.finished':
        this.finished(event);
        return;
      case 'reflection.started':
        s.reflecting = {
          kind: event.kind ?? 'reflection',
          round: event.round,
          failing: event.failing,
          calls: 0,
          since: event.at,
        };
        return;
      case 'reflection.finished':
        s.reflecting = null;
        s.round = Math.max(s.round, event.round);
        this.measurements.closed(event.seq);
        if (!this.inherited()) {
          s.calls++; // what it cost stands in its calls
          this.work.reflections.add(event);
        }
        if (event.answer.kind === 'proposal') {
          const { edits } = event.answer.proposal;
          this.handedIn(edits, event.round, event.kind ?? 'reflection');
          const before = this.skills.get(s.incumbent);
          if (event.kind === 'slow-update') s.guidance = guidedSkill(edits[0], before?.text) ?? s.guidance;
        }
        return;
      case 'warning.raised':
        this.warnings.push(`${event.what} (${event.where})${event.fix ? `: ${event.fix}` : ''}`);
        return;
      case 'session.paused':
        s.paused = { why: event.why, fix: event.fix, where: event.where ?? null, role: event.role ?? null };
        return;
      case 'session.resumed':
        s.paused = null;
        s.command = event.command ?? s.command;
        if (!event.within) s.reflecting = null; // what another process had asked is asked again
        return;
      default:
        this.decided(event);
    }
  }

  private decided(event: SessionDecision): void {
    const s = this.s;
    const rollouts = this.measurements.consumed(event.type, event.consumed, s);
    if (s.ended === null) s.planned += rollouts;
    s.decidedAt = event.seq;
    this.decision(event);
    if (closesPhase(event.type)) this.measurements.closed(event.seq);
  }

  /** The first effects of a fork are its parent's: paid there, not here. */
  private inherited(): boolean {
    if (this.inheritedLeft === 0) return false;
    this.inheritedLeft--;
    return true;
  }

  private input(event: EventOf<'input.received'>): void {
    const { input } = event;
    if (input.kind === 'note') this.notes.push(input.text);
    if (input.kind === 'edit') this.handedIn([input.edit], this.s.round + 1, 'person');
    if (input.kind === 'budget.changed' && this.s.plan) this.s.plan = { ...this.s.plan, budget: input.rollouts };
    if (input.kind === 'limits.changed' && this.s.plan) this.s.plan = { ...this.s.plan, limits: input.limits };
    if (input.kind !== 'environment.changed') return;
    this.warnings.push(`the environment changed: ${input.what}`);
    this.measurements.environmentChanged();
    this.s.phase = this.s.phase === 'searching' ? 'measuring' : this.s.phase;
  }

  private finished(event: EventOf<'rollout.finished'>): void {
    const s = this.s;
    this.measurements.finished(event, this.running.get(event.key), s.plan?.gate.metric ?? 'hard');
    this.running.delete(event.key);
    if (this.inherited()) {
      this.rollouts.inherited++;
      return;
    }
    this.spent(event.usage);
    const { outcome } = event;
    if (outcome.status === 'unscored') {
      const before = this.unscored.get(outcome.reason) ?? { count: 0, task: event.task, detail: outcome.detail };
      this.unscored.set(outcome.reason, { ...before, count: before.count + 1 });
    } else if (outcome.read !== null && !event.key.startsWith('none/'))
      s.read = [s.read[0] + (outcome.read ? 1 : 0), s.read[1] + 1];
    this.work.rollouts.add(event);
    this.rollouts.finished++;
    if (outcome.status === 'scored') this.rollouts.scored++;
  }

  private dropDraft(): void {
    this.draft.length = 0;
    this.s.draftSize = 0;
    this.s.draftSkill = this.s.incumbent;
  }

  private decision(event: SessionDecision): void {
    const s = this.s;
    switch (event.type) {
      case 'evaluation.finished':
        if (event.why === 'seed' && event.split === 'selection') s.seed = { ...s.seed, selection: event.score };
        if (event.why === 'seed' && event.split === 'train') s.seed = { ...s.seed, train: event.score };
        if (event.split === 'train') s.phase = 'searching';
        this.times.evaluated(event, this.steps.length);
        return;
      case 'edit.rejected': {
        const ofGuidance = event.edit !== null && event.edit === s.guidance?.edit;
        this.inRound(event.round, event.index !== null && !ofGuidance, false);
        // the same edit may stand in the draft or be accepted already
        if (event.reason !== 'in-draft' && event.reason !== 'no-change')
          this.edits.became(event.edit, 'rejected', event.detail);
        if (ofGuidance) s.guidance = null;
        return;
      }
      case 'screening.decided':
        this.inRound(event.round, true, event.kept);
        this.measurements.screenedEdit(event);
        this.times.screened(event);
        s.draftSize = event.draftSize;
        s.draftSkill = event.draft;
        if (event.kept) this.draft.push(event.edit);
        this.edits.became(event.edit, event.kept ? 'in-draft' : 'dropped', triedText(event));
        return;
      case 'gate.decided': {
        const ofDraft = event.kind === undefined;
        const step = { ...conclusive(event), kept: ofDraft ? s.openStep.kept : 0 };
        this.steps.push(step);
        this.measurements.gated(event);
        this.times.gated(step);
        const at = `step ${event.step}`;
        const refused = ofDraft ? event.draftDropped : event.gateAction === 'reject';
        for (const e of event.edits)
          if (event.gateAction === 'accept') this.edits.became(e, 'accepted', at);
          else if (refused) this.edits.became(e, 'refused', at);
        if (ofDraft) s.openStep = { rounds: 0, tried: 0, kept: 0 };
        else if (!isCut(step)) s.guidance = null;
        if (!ofDraft && event.draftDropped) for (const e of this.draft) this.edits.became(e, 'refused', at);
        if (event.draftDropped || (ofDraft && event.gateAction === 'accept')) this.dropDraft();
        return;
      }
      case 'skill.added':
        this.skills.set(event.skill, { version: event.version, text: event.text });
        return;
      case 'incumbent.changed':
        s.incumbent = event.to;
        if (this.draft.length === 0) s.draftSkill = event.to;
        else if (event.draft !== undefined) s.draftSkill = event.draft;
        return;
      case 'confirmation.finished':
        s.confirmation = conclusive(event);
        return;
      case 'session.ended':
        s.ended = conclusive(event);
        s.phase = 'searched';
        s.guidance = null;
        this.running.clear();
        return;
      case 'finalize.started':
        s.finalizeStarted = true;
        s.opened = { look: event.look, attempts: event.attempts, arms: event.arms };
        s.phase = 'finalizing';
        return;
      case 'finalize.finished':
        s.finalized = conclusive(event);
        s.phase = 'finished';
        this.running.clear();
        return;
      default:
        event satisfies never;
    }
  }

  private inRound(round: number, isEdit: boolean, kept: boolean): void {
    const s = this.s;
    s.round = Math.max(s.round, round);
    const { rounds, tried, kept: before } = s.openStep;
    s.openStep = {
      rounds: rounds + (round === this.lastRound ? 0 : 1),
      tried: tried + (isEdit ? 1 : 0),
      kept: before + (kept ? 1 : 0),
    };
    this.lastRound = round;
  }
}
