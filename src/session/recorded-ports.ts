import type { Decision } from '../events/events.ts';
import type { Ask, EnginePorts, Interruption, LedgerLine, ProposeAnswer, ProposeAsk } from '../ports/engine.ts';
import { sha256 } from '../ports/hash.ts';
import type { Input, InputPoint, LimitKind } from '../ports/inputs.ts';
import type { Outcome } from '../ports/outcome.ts';
import { EndOfLog, Interrupted, OtherDecision, Paused } from './ends.ts';
import { evalLimitReached, limitTooLow } from './limit-failures.ts';
import type { Live } from './live.ts';
import { diverged, type Logged } from './logged.ts';
import { Pool } from './pool.ts';
import { performReflection } from './reflections.ts';

/**
 * Both ports over the log: what stands there is returned, what does not is performed once and written first.
 * With `live` null it is `verify`: nothing can be performed, and the first decision that differs is an error.
 */
export class RecordedPorts implements EnginePorts<Decision> {
  private readonly pool: Pool | null;
  /** Awaited calls of take, propose and inputs so far: the coordinate of every input. */
  private turn = 0;
  /** Decisions drawn so far. */
  private drawn = 0;
  /** Last turn at which the log, as it was opened, holds an input: until then no new one is read. */
  private readonly lastLoggedTurn: number;
  private drift: Live['drift'];
  private readonly released: () => void;
  /** Whose rollouts the engine took last. */
  private line: LedgerLine = 'loop';
  /** The limit that was reached last. */
  private reached: LimitKind | null = null;

  constructor(
    private readonly logged: Logged,
    private readonly live: Live | null,
  ) {
    this.drift = live?.drift ?? null;
    this.lastLoggedTurn = Math.max(0, ...logged.inputs.keys());
    this.pool = live === null ? null : new Pool(live.journal, logged, live, () => this.mayStart);
    this.released = live?.hold.subscribe(() => this.pool?.pumpLater()) ?? (() => {});
    live?.signal.addEventListener('abort', () => this.pool?.stop(new Interrupted()), { once: true });
  }

  /** Logged decisions still lie ahead: nothing may start and nothing new may be read. */
  get replaying(): boolean {
    return this.drawn < this.logged.decisions.length;
  }

  /** Nothing starts while logged decisions or inputs lie ahead, or while the engine has not heard of a drift. */
  private get mayStart(): boolean {
    return (
      !this.replaying && this.turn >= this.lastLoggedTurn && this.drift === null && this.live?.hold.isHeld !== true
    );
  }

  private missing(what: string): Error {
    const ahead = this.logged.decisions[this.drawn] ?? this.inputAhead;
    return ahead
      ? diverged(ahead.line, `${ahead.type} needs an effect that does not stand above it`, what, '')
      : new EndOfLog(what);
  }

  /** An input that stands at a later turn: whatever comes before it has to stand in the log, too. */
  private get inputAhead(): { readonly line: number; readonly type: string } | undefined {
    if (this.turn >= this.lastLoggedTurn) return undefined;
    const line = this.logged.inputs.get(this.lastLoggedTurn)?.[0]?.line ?? 0;
    return { line, type: 'input.received' };
  }

  private loggedInputs(turn: number, points: readonly string[]): readonly Input[] | null {
    const here = this.logged.inputs.get(turn);
    if (!here) return null;
    const other = here.find((i) => !points.includes(i.point));
    if (other) throw diverged(other.line, 'an input stands at another point', other.point, points.join(' or '));
    const ahead = this.logged.decisions[this.drawn];
    const below = ahead && here.find((i) => i.line > ahead.line);
    if (ahead && below) throw diverged(ahead.line, 'takes an input that stands below it', below.input.kind, '');
    return here.map((i) => i.input);
  }

  private record(live: Live, point: InputPoint | 'take' | 'propose', input: Input): void {
    const line = live.journal.append({ type: 'input.received', turn: this.turn, point, input }).seq;
    const here = this.logged.inputs.get(this.turn) ?? [];
    here.push({ point, input, line });
    this.logged.inputs.set(this.turn, here);
  }

  // -- rollouts ----------------------------------------------------------------------------------------------------

  plan(asks: readonly Ask[], text: string | null, line: LedgerLine): void {
    const [first] = asks;
    if (this.live && !this.replaying && first && asks.length > 1 && asks.some((a) => !this.logged.outcomes.has(a.key)))
      this.live.journal.append({ type: 'evaluation.started', what: line, skill: first.skill, rollouts: asks.length });
    this.pool?.plan(asks, text, line);
  }

  guess(list: () => readonly { readonly ask: Ask; readonly text: string }[]): void {
    this.pool?.guess(list());
  }

  drop(asks: readonly Ask[]): void {
    this.pool?.drop(asks);
  }

  take(ask: Ask, text: string | null, line: LedgerLine): Outcome | Interruption | Promise<Outcome | Interruption> {
    this.turn++;
    this.line = line;
    const instead = this.loggedInterruption('take');
    if (instead) return instead;
    const hit = this.logged.outcomes.get(ask.key);
    if (!hit) return this.perform(ask, text, line);
    this.checkAbove(hit.line, ask.key);
    return (this.turn & 1023) === 0 ? afterOthers(hit.outcome) : hit.outcome; // lets the screen breathe
  }

  private async perform(ask: Ask, text: string | null, line: LedgerLine): Promise<Outcome | Interruption> {
    if (!this.live || !this.pool || this.replaying || this.inputAhead) throw this.missing(ask.key);
    if (this.live.signal.aborted) throw new Interrupted();
    const moved = this.moved(this.live, 'take');
    if (moved) return moved;
    const answer = await this.pool.take(ask, text, line);
    return typeof answer === 'string'
      ? this.instead(this.live, 'take', { kind: 'limit.reached', limit: answer })
      : answer;
  }

  private loggedInterruption(point: 'take' | 'propose'): Interruption | undefined {
    const instead = this.loggedInputs(this.turn, [point])?.find(
      (i): i is Interruption => i.kind === 'limit.reached' || i.kind === 'environment.changed',
    );
    if (instead?.kind === 'limit.reached') this.reached = instead.limit;
    return instead;
  }

  /** An input in place of an answer, into the log first. */
  private instead(live: Live, point: 'take' | 'propose', input: Interruption): Interruption {
    this.record(live, point, input);
    if (input.kind === 'limit.reached') this.reached = input.limit;
    return input;
  }

  /** The environment moved since the outcomes in the log: told with the first thing that would be performed. */
  private moved(live: Live, point: 'take' | 'propose'): Interruption | null {
    const { drift } = this;
    if (drift === null) return null;
    this.drift = null;
    return this.instead(live, point, drift);
  }

  /** An effect may only be consumed by a decision below it. */
  private checkAbove(line: number, key: string): void {
    const ahead = this.logged.decisions[this.drawn];
    if (ahead && line > ahead.line) throw diverged(ahead.line, 'consumes an effect that stands below it', key, '');
  }

  // -- reflection --------------------------------------------------------------------------------------------------

  async propose(
    ask: ProposeAsk,
    texts: { readonly draft: string; readonly incumbent: string },
  ): Promise<ProposeAnswer | Interruption> {
    this.turn++;
    const instead = this.loggedInterruption('propose');
    if (instead) return instead;
    const hit = this.logged.proposals.get(ask.key);
    if (hit) {
      this.checkAbove(hit.line, ask.key);
      return hit.answer;
    }
    if (!this.live || this.replaying || this.inputAhead) throw this.missing(ask.key);
    if (this.live.signal.aborted) throw new Interrupted();
    const moved = this.moved(this.live, 'propose');
    if (moved) return moved;
    const may = this.live.ledger.may('loop'); // an edit that can't be tried is not asked for
    const limit = may === 'start' || may === 'wait' ? this.live.ledger.spentForCall() : may;
    if (limit !== null) return this.instead(this.live, 'propose', { kind: 'limit.reached', limit });
    return performReflection(this.live, this.logged, ask, texts);
  }

  // -- inputs and decisions ----------------------------------------------------------------------------------------

  async inputs(point: InputPoint): Promise<readonly Input[]> {
    this.turn++;
    const old = this.loggedInputs(this.turn, [point]);
    if (old) return old;
    if (!this.live || this.replaying || this.turn < this.lastLoggedTurn) return [];
    if (this.live.signal.aborted) throw new Interrupted();
    const fresh = this.live.inputs(point);
    if (point === 'spent' && fresh.length === 0) this.refuseTooLow(this.live);
    for (const input of fresh) {
      this.record(this.live, point, input);
      if (input.kind === 'limits.changed') this.live.ledger.limits = input.limits;
    }
    return fresh;
  }

  /**
   * A limit that cuts confirmation or sealed test short says nothing of the result, and one on money or tokens that lets
   * no edit be tried says nothing of the skill: the session waits for a higher one.
   */
  private refuseTooLow(live: Live): void {
    const { line, reached } = this;
    if (line === 'eval') throw new Paused(evalLimitReached(live.ledger, reached ?? 'rollouts', this.logged.left));
    const isOfSpend = reached === 'usd' || reached === 'tokens';
    if (line === 'loop' && !(isOfSpend && this.hasTriedNothing)) return;
    const { splits } = this.logged;
    const measuring = splits === null ? 1 : splits.selection.length + splits.train.length + 1;
    throw new Paused(limitTooLow(live.ledger, line, reached ?? 'rollouts', measuring));
  }

  /** No edit has been tried; rounds may have come to nothing, as when a limit cuts a reflection short. */
  private get hasTriedNothing(): boolean {
    return !this.logged.decisions.some((d) => d.type === 'screening.decided');
  }

  async decide(decision: Decision): Promise<void> {
    const old = this.logged.decisions[this.drawn];
    if (!old) {
      if (!this.live) throw new EndOfLog(decision.type);
      const line = this.live.journal.append(decision).seq;
      this.drawn++;
      this.logged.decisions.push({ hash: '', line, type: decision.type });
      return;
    }
    const body = JSON.stringify(decision);
    if (old.hash !== sha256(body)) throw new OtherDecision(old.line, old.type, body);
    this.drawn++;
    if (!this.replaying) this.pool?.pump();
  }

  /** The line of the first decision or input that the engine never came to; null when it came to all. */
  rest(): number | null {
    const ahead = this.logged.decisions[this.drawn];
    if (ahead) return ahead.line;
    let first: number | null = null;
    for (const [turn, here] of this.logged.inputs)
      if (turn > this.turn) for (const i of here) first = Math.min(first ?? i.line, i.line);
    return first;
  }

  /** Keys performed by this process. */
  get performed(): readonly string[] {
    return this.pool?.performed ?? [];
  }

  /** The engine has come to its end, and asks for nothing more. */
  forgo(): void {
    this.pool?.forgo();
  }

  async drain(): Promise<void> {
    await Promise.all([this.pool?.drain(), this.live?.proposals.settled?.()]);
  }

  close(): void {
    this.released();
    this.pool?.close();
  }
}

/** Answers when all that waits has had its turn. */
function afterOthers<T>(answer: T): Promise<T> {
  return new Promise((resolve) => setImmediate(resolve, answer));
}
