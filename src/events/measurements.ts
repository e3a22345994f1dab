import type { EventOf } from './events.ts';
import type { Measured, Pending, Running, Screened } from './run-state.ts';

type Metric = EventOf<'plan.fixed'>['gate']['metric'];

/**
 * What has been measured and on what: outcomes that wait for a decision, the incumbent's scores on selection, the last
 * outcome of each train task. A part of the fold.
 */
export class Measurements {
  readonly pending = new Map<string, Pending>();
  readonly bank = new Map<string, (number | null)[]>();
  readonly train = new Map<string, boolean>();
  readonly measured: Measured[] = [];
  readonly screened: Screened[] = [];
  /** Train tasks that edits of the draft were seen to fix: they fail again when it is dropped. */
  private fixed: string[] = [];
  /** Line at which the gate before was decided. */
  private gateSeq = 0;

  /** An outcome that no decision has read; `running` is what the log said when it started. */
  finished(event: EventOf<'rollout.finished'>, running: Running | undefined, metric: Metric): void {
    const { outcome } = event;
    this.pending.set(event.key, {
      key: event.key,
      skill: event.key.split('/')[0] ?? '',
      task: event.task,
      attempt: Number.parseInt(event.key.split('/').at(-1) ?? '0', 10),
      line: running?.line ?? 'loop',
      seq: running?.seq ?? 0,
      score: outcome.status === 'scored' ? scoreUnder(metric, outcome) : null,
      passed: outcome.status === 'scored' ? outcome.hard === 1 : null,
    });
  }

  /** Rollouts among the keys that a decision consumed. */
  consumed(keys: readonly string[]): number {
    let rollouts = 0;
    for (const key of keys) {
      this.pending.delete(key);
      if (!key.startsWith('reflection/')) rollouts++;
    }
    return rollouts;
  }

  /** Many rollouts of one text are laid out: the incumbent's on selection, with no candidate's since the gate before, are its first block anew. */
  started(event: EventOf<'evaluation.started'>, incumbent: string, selection: number): void {
    if (event.what !== 'loop' || event.skill !== incumbent || event.rollouts !== selection) return;
    if ([...this.pending.values()].some((p) => p.seq > this.gateSeq && p.skill !== incumbent)) return;
    this.bank.clear();
  }

  evaluated(event: EventOf<'evaluation.finished'>, at: { readonly round: number; readonly step: number }): void {
    if (event.split === 'open') return;
    this.measured.push({ ...at, split: event.split, why: event.why, skill: event.skill, tasks: event.tasks });
    for (const [task, score] of event.tasks) {
      if (event.split === 'selection') this.bank.set(task, [score]);
      else if (score !== null) this.train.set(task, score === 1);
    }
  }

  screenedEdit(event: EventOf<'screening.decided'>): void {
    const { round, edit, task, passed, kept } = event;
    this.screened.push({ round, edit, task, passed, kept });
    if (!kept || passed !== true || task === null) return;
    this.train.set(task, true);
    this.fixed.push(task);
  }

  gated(event: EventOf<'gate.decided'>, seq: number): void {
    this.gateSeq = seq;
    for (const p of this.pending.values()) if (p.seq < seq && p.skill === event.candidate) this.pending.delete(p.key);
    const accepted = event.gateAction === 'accept';
    if (accepted) this.bank.clear();
    for (const { task, block, before, after } of event.tasks) {
      const scores = this.bank.get(task) ?? [];
      scores[block] = accepted ? after : before;
      this.bank.set(task, scores);
    }
    if (event.draftDropped) for (const task of this.fixed) this.train.set(task, false);
    if (accepted || event.draftDropped) this.fixed = [];
  }

  /** Nothing of before can be compared with what comes. */
  environmentChanged(): void {
    this.bank.clear();
    this.train.clear();
    this.pending.clear();
  }

  /** Outcomes of the gate that is open now. */
  isOfOpenGate(p: { readonly seq: number }): boolean {
    return p.seq > this.gateSeq;
  }
}

/** 0…1 */
function scoreUnder(metric: Metric, o: { readonly hard: 0 | 1; readonly soft: number }): number {
  switch (metric) {
    case 'hard':
      return o.hard;
    case 'soft':
      return o.soft;
    case 'mixed':
      return (o.hard + o.soft) / 2;
    default:
      return metric satisfies never;
  }
}
