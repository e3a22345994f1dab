import { isLastTry } from './attempts.ts';
import { judged, UNSCORED } from './eval-judge.ts';
import type { EvalArmName, EvalAttempt, EvalRow, EvalTask } from './eval-shapes.ts';
import type { EventOf, LoggedEvent } from './events.ts';
import { rolloutName } from './rollout-key.ts';
import type { RunState, Trouble, Unscored } from './run-state.ts';
import { SpendSum } from './spend.ts';
import { Stamps } from './stamp.ts';
import { Troubles } from './trouble.ts';

/** What the rollouts of one arm have taken, tries and unscored ones included. Null = unknown. */
export type ArmSpend = {
  readonly rollouts: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** Rollouts of which nothing is known: beside them the sums are the least that was spent. */
  readonly uncounted: number;
  /** Requests to a model, over the rollouts that tell them; and how many do not. */
  readonly turns: number | null;
  readonly turnsUntold: number;
  /** Wall time of its rollouts together, workspace and verifier included. */
  readonly durationMs: number;
};

/** What an eval's log says, as a fold over its lines. */
export type EvalState = {
  readonly created: EventOf<'eval.created'> | null;
  readonly lines: number;
  readonly startedAt: string | null;
  /** Running time up to the last line, without pauses and the time between two processes. */
  readonly minutes: number;
  readonly paused: RunState['paused'];
  /** The first of the failures since a rollout was last scored, and the first attempt of all that was not. */
  readonly trouble: RunState['trouble'];
  readonly firstUnscored: Trouble | null;
  /** The last command that worked on it, as it was typed; null = not known. */
  readonly command: string | null;
  readonly finished: boolean;
  readonly environmentChanged: string | null;
  /** Attempts that have come to their end, of those that are planned. */
  readonly done: number;
  readonly of: number;
  readonly rows: readonly EvalRow[];
  /** Trajectories of the last tries by task and arm, as hashes, in the order in which they came. */
  readonly trajectories: readonly { readonly task: string; readonly arm: EvalArmName; readonly hash: string }[];
  readonly spend: ReadonlyMap<EvalArmName, ArmSpend>;
  /** Short calls of the model before rollouts began, which no arm has made. */
  readonly preflight: Pick<ArmSpend, 'tokens' | 'costUsd' | 'uncounted'> & { readonly calls: number };
  readonly rollouts: {
    readonly started: number;
    readonly finished: number;
    readonly cancelled: number;
    readonly lost: number;
    /** By reason: how many, and one of them. */
    readonly unscored: ReadonlyMap<string, Unscored>;
  };
  readonly warnings: readonly string[];
};

type Ended = {
  readonly arm: EvalArmName;
  readonly task: EvalTask;
  readonly number: number;
  readonly attempt: EvalAttempt;
  readonly trajectory: string | null;
};

class Spent {
  rollouts = 0;
  private readonly sum = new SpendSum();
  private turns: number | null = null;
  private turnsUntold = 0;
  durationMs = 0;

  add(event: EventOf<'rollout.finished'>): void {
    this.rollouts++;
    this.sum.add(event.usage);
    const { requests } = event.usage;
    if (requests === null) this.turnsUntold++;
    else this.turns = (this.turns ?? 0) + requests;
    this.durationMs += event.durationMs;
  }

  get told(): ArmSpend {
    const { rollouts, durationMs, turns, turnsUntold, sum } = this;
    return { rollouts, ...sum.spent, uncounted: sum.uncounted, turns, turnsUntold, durationMs };
  }
}

/** Folds the log of an eval into its state. Give it every line in order; `state` may be read between two of them. */
export class EvalFold {
  private created: EventOf<'eval.created'> | null = null;
  private decided: EventOf<'eval.finished'> | null = null;
  private readonly ended: Ended[] = [];
  private readonly spend = new Map<EvalArmName, Spent>();
  private readonly unscored = new Map<string, Unscored>();
  private readonly checks = new SpendSum();
  private checked = 0;
  private readonly troubles = new Troubles();
  /** Tasks of rollouts that run, by key. */
  private readonly running = new Map<string, string>();
  private command: string | null = null;
  private readonly rollouts = { started: 0, finished: 0, cancelled: 0, lost: 0 };
  private readonly warnings: string[] = [];
  private readonly stamps = new Stamps();
  private lines = 0;
  private startedAt: string | null = null;
  private lastAtMs: number | null = null;
  private runningMs = 0;
  private paused: EvalState['paused'] = null;
  private moved: string | null = null;

  add(event: LoggedEvent): void {
    this.lines = event.seq;
    const atMs = this.stamps.ms(event.at);
    if (this.lastAtMs !== null && this.paused === null && event.type !== 'session.resumed')
      this.runningMs += Math.max(0, atMs - this.lastAtMs);
    this.lastAtMs = atMs;
    this.startedAt ??= event.at;
    this.troubles.note(event, (key) => this.running.get(key) ?? '');
    this.take(event);
  }

  private take(event: LoggedEvent): void {
    switch (event.type) {
      case 'eval.created':
        this.created = event;
        this.command = event.command ?? null;
        for (const { arm } of event.arms) this.spend.set(arm, new Spent());
        return;
      case 'rollout.started':
        this.rollouts.started++;
        this.running.set(event.key, event.task);
        return;
      case 'rollout.cancelled':
        if (event.begun === false) this.rollouts.started--;
        else this.rollouts.cancelled++;
        this.running.delete(event.key);
        return;
      case 'rollout.lost':
        this.rollouts.lost++;
        this.running.delete(event.key);
        return;
      case 'rollout.finished':
        this.running.delete(event.key);
        this.finished(event);
        return;
      case 'model.called':
        this.checked++;
        this.checks.add(event.usage);
        return;
      case 'input.received':
        if (event.input.kind === 'environment.changed') this.moved = event.input.what;
        return;
      case 'warning.raised':
        this.warnings.push(`${event.what}${event.fix ? `: ${event.fix}` : ''}`);
        return;
      case 'session.paused':
        this.paused = { why: event.why, fix: event.fix, where: event.where ?? null, role: event.role ?? null };
        return;
      case 'session.resumed':
        this.paused = null;
        this.command = event.command ?? this.command;
        return;
      case 'eval.finished':
        this.decided = event;
        return;
      default:
        return; // of a session, or for nobody's eyes
    }
  }

  private finished(event: EventOf<'rollout.finished'>): void {
    const { created } = this;
    const name = rolloutName(event.key);
    const arm = created?.arms.find((a) => a.skill === name.skill)?.arm;
    const task = created?.pack.tasks.find((t) => t.id === event.task);
    if (created === null || arm === undefined || task === undefined) return;
    this.rollouts.finished++;
    this.spend.get(arm)?.add(event);
    const { outcome } = event;
    if (outcome.status === 'unscored') {
      const before = this.unscored.get(outcome.reason) ?? { count: 0, task: event.task, detail: outcome.detail };
      this.unscored.set(outcome.reason, { ...before, count: before.count + 1 });
    }
    const score = outcome.status === 'scored' ? outcome.soft : null;
    if (!isLastTry({ score, try: name.try })) return;
    const attempt = outcome.status === 'scored' ? judged(outcome, task, arm, created.environment.opens) : UNSCORED;
    this.ended.push({ arm, task, number: name.attempt, attempt, trajectory: event.trajectory });
  }

  /** As decided, or as far as it has come. */
  private get rows(): readonly EvalRow[] {
    const { created } = this;
    if (created === null) return [];
    return (
      this.decided?.tasks ??
      created.pack.tasks.map(({ id }) => ({
        task: id,
        arms: created.arms.map(({ arm }) => ({
          arm,
          attempts: this.ended
            .filter((e) => e.task.id === id && e.arm === arm)
            .sort((a, b) => a.number - b.number)
            .slice(-created.attempts) // what was rolled anew, in another environment, stands for what it replaces
            .map((e) => e.attempt),
        })),
      }))
    );
  }

  get state(): EvalState {
    const { created, decided, rows } = this;
    const of = created === null ? 0 : created.arms.length * created.attempts * created.pack.tasks.length;
    return {
      created,
      lines: this.lines,
      startedAt: this.startedAt,
      minutes: this.runningMs / 60_000,
      paused: this.paused,
      trouble: { rollouts: this.troubles.rollouts, optimizer: null },
      firstUnscored: this.troubles.firstUnscored,
      command: this.command,
      finished: decided !== null,
      environmentChanged: decided === null ? this.moved : decided.environmentChanged,
      done: decided === null ? rows.reduce((n, r) => n + r.arms.reduce((m, a) => m + a.attempts.length, 0), 0) : of,
      of,
      rows,
      trajectories: this.ended.flatMap(({ task, arm, trajectory }) =>
        trajectory === null ? [] : [{ task: task.id, arm, hash: trajectory }],
      ),
      spend: new Map([...this.spend].map(([arm, spent]) => [arm, spent.told])),
      preflight: { calls: this.checked, ...this.checks.spent, uncounted: this.checks.uncounted },
      rollouts: { ...this.rollouts, unscored: new Map(this.unscored) },
      warnings: [...this.warnings],
    };
  }
}
