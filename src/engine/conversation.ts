import type { Decision, DecisionBody } from '../events/events.ts';
import { MORE_TRIES } from '../events/loop-facts.ts';
import { TASK_REF_LENGTH } from '../events/rollout-key.ts';
import type { Edit } from '../ports/edit.ts';
import type { Ask, EnginePorts, Interruption, LedgerLine, ProposeAnswer, ProposeAsk } from '../ports/engine.ts';
import { sha256, shortHash } from '../ports/hash.ts';
import type { InputPoint } from '../ports/inputs.ts';
import type { Outcome, Reading } from '../ports/outcome.ts';
import type { LoopPlan } from './plan.ts';

/** Ends the search (or the finalize) at the place where it is thrown; whoever holds planned work drops it on the way. */
export class Stop {
  constructor(
    readonly cause:
      | 'completed'
      | 'budget'
      | 'limit'
      | 'stopped'
      | 'ceiling'
      | 'plateau'
      | 'optimizer-failed'
      | 'measurement-broken',
  ) {}
}

/** The environment moved: all outcomes so far are of another world. Thrown at a named point. */
export class EnvironmentChanged {
  constructor(readonly what: string) {}
}

/** A rollout after its tries. `value` is the score under the metric in 1/1000; `hard` decides on train. Null = unscored. */
export type Settled = {
  readonly value: number | null;
  readonly hard: 0 | 1 | null;
  readonly rollout: string;
  readonly read: Reading;
};

/** Key of one rollout: skill, task and environment by hash, attempt and try. Names the same draw on every machine. */
export function rolloutKey(
  skill: string,
  task: string,
  environment: string,
  attempt: number,
  tryNumber: number,
): string {
  return `${skill}/${task}/${environment}/${attempt}.${tryNumber}`;
}

/** Texts whose hashes are remembered: seed, incumbent, draft and the edits of a round. */
const HASHES_KEPT = 16;

/** What of a plan the talk itself is a function of. */
export type TalkPlan = Pick<LoopPlan, 'environment' | 'train' | 'selection' | 'test' | 'budget'> & {
  readonly gate: Pick<LoopPlan['gate'], 'metric'>;
};

/** The arm without any skill. */
export const NO_SKILL = 'none';

/**
 * One thread of talk between engine and ports: numbers attempts, counts the planned ledger, and writes into each
 * decision what was consumed since the one before. Every consumed effect and input goes into exactly one decision.
 */
export class Conversation {
  /** Planned ledger: rollouts consumed. */
  used = 0;
  calls = 0;
  /** Rollouts that may be consumed on the current line. */
  budget: number;
  line: LedgerLine = 'loop';
  readonly notes: string[] = [];
  readonly banned: string[] = [];
  /** Edits of the user that wait for the next round. */
  humanEdits: Edit[] = [];
  /** At the last point: was a limit raised, did the environment move? */
  limitsRaised = false;
  /** At the last point: was there any input? */
  heard = false;
  /** Part of every key: the plan's fingerprint, and another one each time the environment moves. */
  environment: string;
  /** Next attempt of each task, by skill. */
  private readonly next = new Map<string, Map<string, number>>();
  /** The part of a task's hash that stands in keys. */
  private readonly refs = new Map<string, string>();
  private consumed: string[] = [];
  private seen = '';
  private read = '';
  /** The newest last. A list: as keys of a map long texts would be hashed once more. */
  private readonly hashes: { readonly text: string; readonly hash: string }[] = [];

  constructor(
    readonly plan: TalkPlan,
    private readonly ports: EnginePorts<Decision>,
    readonly reserve: number,
  ) {
    this.budget = plan.budget - reserve;
    this.environment = plan.environment;
    for (const t of [...plan.train, ...plan.selection, ...plan.test])
      this.refs.set(t.id, t.hash.slice(0, TASK_REF_LENGTH));
  }

  hash(text: string): string {
    const known = this.hashes.findLast((h) => h.text === text);
    if (known !== undefined) return known.hash;
    const hash = shortHash(text);
    this.hashes.push({ text, hash });
    if (this.hashes.length > HASHES_KEPT) this.hashes.shift();
    return hash;
  }

  // -- attempts ----------------------------------------------------------------------------------------------------

  private ask(skill: string, task: string, attempt: number, tryNumber: number): Ask {
    const ref = this.refs.get(task);
    if (ref === undefined) throw new Error(`no task ${task} in the plan`);
    return {
      key: rolloutKey(skill, ref, this.environment, attempt, tryNumber),
      skill,
      task,
      attempt,
      try: tryNumber,
    };
  }

  /** The next attempt of (skill, task), without taking it. */
  private peek(text: string, task: string): Ask {
    const skill = this.hash(text);
    return this.ask(skill, task, this.next.get(skill)?.get(task) ?? 0, 0);
  }

  /** Takes the next attempt of (skill, task). Numbers are taken when work is laid out and never given back. */
  number(text: string | null, task: string): Ask {
    return this.numberFor(text === null ? NO_SKILL : this.hash(text), task);
  }

  /** As `number`, by what stands for the skill in keys. */
  numberFor(skill: string, task: string): Ask {
    let next = this.next.get(skill);
    if (next === undefined) {
      next = new Map();
      this.next.set(skill, next);
    }
    const attempt = next.get(task) ?? 0;
    next.set(task, attempt + 1);
    return this.ask(skill, task, attempt, 0);
  }

  // -- rollouts ----------------------------------------------------------------------------------------------------

  layOut(asks: readonly Ask[], text: string | null): void {
    if (asks.length > 0) this.ports.plan(asks, text, this.line);
  }

  drop(asks: readonly Ask[]): void {
    if (asks.length > 0) this.ports.drop(asks);
  }

  /** Rollouts that later decisions will probably ask for, in place of the ones before. */
  guess(guesses: readonly { readonly task: string; readonly text: string }[]): void {
    this.ports.guess(() => guesses.map(({ task, text }) => ({ ask: this.peek(text, task), text })));
  }

  /** Rollouts that still fit into the planned ledger. */
  get room(): number {
    return Math.max(0, this.budget - this.used);
  }

  /**
   * One attempt, with up to two more tries while it ends unscored. Throws Stop at the budget or at a limit. At once when
   * the port answers at once, as it does in a replay.
   */
  settle(ask: Ask, text: string | null, tryNumber = 0): Settled | Promise<Settled> {
    if (this.used >= this.budget) throw new Stop('budget');
    const now = tryNumber === 0 ? ask : this.ask(ask.skill, ask.task, ask.attempt, tryNumber);
    const answer = this.ports.take(now, text, this.line);
    return answer instanceof Promise
      ? answer.then((later) => this.answered(now, text, later))
      : this.answered(now, text, answer);
  }

  private answered(ask: Ask, text: string | null, answer: Outcome | Interruption): Settled | Promise<Settled> {
    if ('kind' in answer) this.interrupted(answer);
    this.used++;
    this.consumed.push(ask.key);
    this.seen += answer.status === 'scored' ? String(answer.hard) : 'x';
    this.read += `${visible(answer)};`;
    if (answer.status === 'scored')
      return { value: this.valueOf(answer), hard: answer.hard, rollout: ask.key, read: answer.read };
    if (ask.try < MORE_TRIES) return this.settle(ask, text, ask.try + 1);
    return { value: null, hard: null, rollout: '', read: null };
  }

  private valueOf(o: Extract<Outcome, { status: 'scored' }>): number {
    const soft = Math.round(o.soft * 1000);
    switch (this.plan.gate.metric) {
      case 'hard':
        return o.hard * 1000;
      case 'soft':
        return soft;
      case 'mixed':
        return Math.round((o.hard * 1000 + soft) / 2);
      default:
        return this.plan.gate.metric satisfies never;
    }
  }

  /** Planned rollouts of one text, in planned order; what is left is dropped when `each` says `enough`, or on a throw. */
  async roll(
    text: string,
    tasks: readonly string[],
    each: (task: string, settled: Settled) => 'enough' | undefined,
  ): Promise<void> {
    const skill = this.hash(text);
    const asks = tasks.map((t) => this.numberFor(skill, t));
    this.layOut(asks.slice(0, this.room), text);
    let done = 0;
    try {
      for (const ask of asks) {
        const settling = this.settle(ask, text);
        const settled = settling instanceof Promise ? await settling : settling;
        done++;
        if (each(ask.task, settled) === 'enough') return;
      }
    } finally {
      this.drop(asks.slice(done));
    }
  }

  /** An input that came in place of an answer ends what waits for it. */
  private interrupted(input: Interruption): never {
    this.read += `${JSON.stringify(input)};`;
    if (input.kind === 'limit.reached') throw new Stop('limit');
    throw this.moved(input);
  }

  /** From now on keys are of another world: nothing rolled before can be taken for it. */
  private moved(input: Extract<Interruption, { kind: 'environment.changed' }>): EnvironmentChanged {
    const versions = Object.entries(input.versions).sort(([a], [b]) => (a < b ? -1 : 1));
    this.environment = shortHash(JSON.stringify([this.environment, versions]), 8);
    return new EnvironmentChanged(input.what);
  }

  // -- reflection --------------------------------------------------------------------------------------------------

  async propose(
    ask: ProposeAsk,
    texts: { readonly draft: string; readonly incumbent: string },
  ): Promise<ProposeAnswer> {
    const answer = await this.ports.propose(ask, texts);
    if (answer.kind === 'limit.reached' || answer.kind === 'environment.changed') this.interrupted(answer);
    this.calls++;
    this.consumed.push(ask.key);
    this.seen += answer.kind === 'proposal' ? 'p' : 'u';
    this.read += `${answer.kind === 'proposal' ? sha256(JSON.stringify(answer.proposal.edits.map(orderedEdit))) : 'unusable'};`;
    return answer;
  }

  // -- inputs ------------------------------------------------------------------------------------------------------

  /** A named point. Throws Stop for `finish`, EnvironmentChanged where the caller can start measuring anew. */
  async point(at: InputPoint): Promise<void> {
    this.limitsRaised = this.heard = false;
    let finish = false;
    let moved: EnvironmentChanged | null = null;
    for (const input of await this.ports.inputs(at)) {
      this.heard = true;
      this.read += `${JSON.stringify(input)};`;
      switch (input.kind) {
        case 'note':
          this.notes.push(input.text);
          break;
        case 'ban':
          this.banned.push(input.text);
          break;
        case 'edit':
          this.humanEdits.push(input.edit);
          break;
        case 'budget.changed':
          if (this.line === 'loop') this.budget = input.rollouts - this.reserve;
          break;
        case 'limits.changed':
          this.limitsRaised = true;
          break;
        case 'environment.changed':
          moved = this.moved(input);
          break;
        case 'finish':
          finish = true;
          break;
        case 'limit.reached':
          break;
        default:
          input satisfies never;
      }
    }
    if (finish) throw new Stop('stopped');
    if (moved !== null) throw moved;
  }

  /**
   * After a limit outside the loop: asks at the point *spent* until there is a raise or nothing more to hear; a raise
   * beside a `finish` counts. Throws EnvironmentChanged.
   */
  async limitRaised(): Promise<boolean> {
    try {
      do {
        await this.point('spent');
        if (this.limitsRaised) return true;
      } while (this.heard);
    } catch (e) {
      if (!(e instanceof Stop)) throw e;
    }
    return this.limitsRaised;
  }

  // -- decisions ---------------------------------------------------------------------------------------------------

  /** Something was consumed or taken that no decision holds yet. */
  get open(): boolean {
    return this.consumed.length > 0 || this.read !== '';
  }

  async decide(body: DecisionBody): Promise<void> {
    const decision = {
      ...body,
      consumed: this.consumed,
      seen: this.seen,
      digest: shortHash(this.read, 16),
    } as Decision;
    this.consumed = [];
    this.seen = '';
    this.read = '';
    await this.ports.decide(decision);
  }
}

/** All that the engine sees of an outcome; the digest of a decision is taken over it. */
function visible(o: Outcome): string {
  if (o.status !== 'scored') return o.reason;
  const rewards = Object.entries(o.rewards);
  if (rewards.length > 1) rewards.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([o.hard, o.soft, rewards, o.read, o.agentTimedOut ?? false]);
}

function orderedEdit(e: Edit): readonly unknown[] {
  const fields = [e.op, e.target, e.content, e.cites, e.reason];
  return e.leak === undefined ? fields : [...fields, e.leak];
}
