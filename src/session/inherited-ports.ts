import type { Decision, EventOf } from '../events/events.ts';
import type { Ask, EnginePorts, Interruption, ProposeAnswer, ProposeAsk } from '../ports/engine.ts';
import type { Input, InputPoint } from '../ports/inputs.ts';
import type { Outcome } from '../ports/outcome.ts';
import { EndOfLog } from './ends.ts';

/** A paid answer as it stands in a log. */
export type Effect = EventOf<'rollout.finished'> | EventOf<'reflection.finished'>;

/** What a fork takes over: effects by key, inputs by turn. */
export type Inheritance = {
  readonly effects: ReadonlyMap<string, Effect>;
  readonly inputs: ReadonlyMap<number, readonly EventOf<'input.received'>[]>;
};

/**
 * Both ports over what a fork inherits. The engine draws its decisions as far as that goes; each effect, input and
 * decision is written when the engine comes to it, so that what is written is sound after every line. It ends
 * (`EndOfLog`) where something is missing, where a person must be able to say something first (once `reached` says that
 * the fork's place is reached, and always before the confirmation and when the budget is spent), and before the end.
 */
export class InheritedPorts implements EnginePorts<Decision> {
  /** Awaited calls of take, propose and inputs so far. */
  private turn = 0;
  private readonly lastInput: number;
  readonly written = new Set<string>();

  constructor(
    private readonly from: Inheritance,
    private readonly write: (event: Effect | EventOf<'input.received'> | Decision) => void,
    private readonly reached: () => boolean,
  ) {
    this.lastInput = Math.max(0, ...from.inputs.keys());
  }

  plan(): void {}
  guess(): void {}
  drop(): void {}

  async take(ask: Ask): Promise<Outcome | Interruption> {
    this.turn++;
    const instead = this.given().find(isInterruption);
    if (instead) return instead;
    const effect = this.from.effects.get(ask.key);
    if (effect?.type !== 'rollout.finished') throw new EndOfLog(ask.key);
    this.once(effect);
    return effect.outcome;
  }

  async propose(ask: ProposeAsk): Promise<ProposeAnswer | Interruption> {
    this.turn++;
    const instead = this.given().find(isInterruption);
    if (instead) return instead;
    const effect = this.from.effects.get(ask.key);
    if (effect?.type !== 'reflection.finished') throw new EndOfLog(ask.key);
    this.once(effect);
    return effect.answer;
  }

  async inputs(point: InputPoint): Promise<readonly Input[]> {
    this.turn++;
    const given = this.given();
    if (given.length > 0 || this.turn < this.lastInput) return given;
    if (this.reached() || point === 'confirmation' || point === 'spent') throw new EndOfLog(point);
    return [];
  }

  async decide(decision: Decision): Promise<void> {
    if (decision.type === 'session.ended') throw new EndOfLog(decision.type);
    this.write(decision);
  }

  private given(): readonly Input[] {
    const here = this.from.inputs.get(this.turn) ?? [];
    for (const event of here) this.write(event);
    return here.map((event) => event.input);
  }

  private once(effect: Effect): void {
    if (this.written.has(effect.key)) return;
    this.written.add(effect.key);
    this.write(effect);
  }
}

function isInterruption(input: Input): input is Interruption {
  return input.kind === 'limit.reached' || input.kind === 'environment.changed';
}
