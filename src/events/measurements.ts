import { isLastTry } from './attempts.ts';
import type { EventOf, LoggedEvent } from './events.ts';
import { REFRESH_AFTER, UNDONE } from './loop-facts.ts';
import { rolloutName } from './rollout-key.ts';
import type { Pending, Running, RunState, Tested } from './run-state.ts';

type Metric = EventOf<'plan.fixed'>['gate']['metric'];
/** What the log says besides, at the time of a decision. */
type Now = Pick<RunState, 'incumbent' | 'draftSkill' | 'tasks'>;

/**
 * What has been measured and on what: outcomes that wait for a decision, the incumbent's scores on selection, the last
 * outcome of each train task. A part of the fold; it keeps step with the engine, outcome by outcome as it consumes them.
 */
export class Measurements {
  readonly pending = new Map<string, Pending>();
  readonly bank = new Map<string, (number | null)[]>();
  readonly train = new Map<string, boolean>();
  readonly tested: Tested[] = [];
  /** Train tasks that edits of the draft were seen to fix: they fail again when it is dropped. */
  private fixed: string[] = [];
  private rejectedSinceRefresh = 0;
  /** What was started above this line and has no decision by now gets none any more. */
  private staleAbove = 0;

  /** An outcome that no decision has read; `running` is what the log said when it started, if it did here. */
  finished(event: EventOf<'rollout.finished'>, running: Running | undefined, metric: Metric): void {
    const { outcome } = event;
    const seq = running?.seq ?? 0;
    if (seq > 0 && seq < this.staleAbove) return;
    const name = rolloutName(event.key);
    this.pending.set(event.key, {
      key: event.key,
      skill: name.skill,
      attempt: name.attempt,
      try: name.try,
      task: event.task,
      line: running?.line ?? 'loop',
      seq,
      score: outcome.status === 'scored' ? scoreUnder(metric, outcome) : null,
      passed: outcome.status === 'scored' ? outcome.hard === 1 : null,
    });
  }

  /** The rollouts among the keys that a decision consumed, in its order; what they tell is noted before it is read. */
  consumed(type: string, keys: readonly string[], now: Now): number {
    if (type === 'gate.decided' && this.refreshDue) this.refresh();
    let rollouts = 0;
    for (const key of keys) {
      if (key.startsWith('reflection/')) continue;
      rollouts++;
      const p = this.pending.get(key);
      this.pending.delete(key);
      if (p === undefined || !isLastTry(p)) continue;
      const { task, skill, score, passed } = p;
      if (p.line === 'finalize') this.tested.push({ skill, task, score });
      if (p.line !== 'loop') continue;
      if (skill === now.incumbent && now.tasks.selection.includes(task) && !this.refreshDue)
        this.bank.set(task, [...(this.bank.get(task) ?? []), score]);
      if (
        type === 'evaluation.finished' &&
        skill === now.draftSkill &&
        passed !== null &&
        now.tasks.train.includes(task)
      )
        this.train.set(task, passed);
    }
    return rollouts;
  }

  /** A phase is over: what was laid out for it and is in no decision stays out. Outcomes of a fork's parent wait on. */
  closed(seq: number): void {
    this.staleAbove = seq;
    for (const p of this.pending.values()) if (p.seq > 0 && p.seq < seq) this.pending.delete(p.key);
  }

  screenedEdit(event: EventOf<'screening.decided'>): void {
    const { task, passed, kept } = event;
    if (!kept || passed !== true || task === null) return;
    this.train.set(task, true);
    this.fixed.push(task);
  }

  gated(event: EventOf<'gate.decided'>): void {
    const accepted = event.gateAction === 'accept';
    if (accepted) {
      this.refresh();
      for (const { task, after } of event.tasks) this.bank.set(task, [...(this.bank.get(task) ?? []), after]);
    }
    if (event.gateAction === 'reject' && event.why !== UNDONE) this.rejectedSinceRefresh++;
    if (this.refreshDue) this.bank.clear();
    if (event.draftDropped) for (const task of this.fixed) this.train.set(task, false);
    if ((accepted && event.kind === undefined) || event.draftDropped) this.fixed = [];
  }

  /** Nothing of before can be compared with what comes. */
  environmentChanged(): void {
    this.bank.clear();
    this.train.clear();
    this.pending.clear();
  }

  /** The next gate begins with an empty bank, whatever is measured until then. */
  private get refreshDue(): boolean {
    return this.rejectedSinceRefresh >= REFRESH_AFTER;
  }

  private refresh(): void {
    this.bank.clear();
    this.rejectedSinceRefresh = 0;
  }
}

/** After such a decision nothing is read any more of what was laid out before. */
export function closesPhase(type: LoggedEvent['type']): boolean {
  return type === 'session.ended' || /^(evaluation|confirmation|finalize)\.finished$|^gate\.decided$/.test(type);
}

/** 0…1 in steps of 1/1000, as the engine reads it. */
function scoreUnder(metric: Metric, o: { readonly hard: 0 | 1; readonly soft: number }): number {
  const soft = Math.round(o.soft * 1000);
  switch (metric) {
    case 'hard':
      return o.hard;
    case 'soft':
      return soft / 1000;
    case 'mixed':
      return Math.round((o.hard * 1000 + soft) / 2) / 1000;
    default:
      return metric satisfies never;
  }
}
