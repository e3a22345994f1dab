import { expect } from 'bun:test';
import { worldOps } from '../bench/rulebook-world.ts';
import type { Decision, EventOf } from '../events/events.ts';
import type { Edit } from '../ports/edit.ts';
import type { Ask, EnginePorts, ProposeAnswer, ProposeAsk } from '../ports/engine.ts';
import type { Input } from '../ports/inputs.ts';
import { type Outcome, scored, unscored } from '../ports/outcome.ts';
import { withoutWorld } from './guard-fixture.ts';
import { optimize } from './loop.ts';
import type { LoopPlan } from './plan.ts';

/** The engine over scripted answers: what tests of single rules work with. */
export const refs = (prefix: string, n: number) =>
  Array.from({ length: n }, (_, i) => ({
    id: `${prefix}${i}`,
    hash: `${prefix}${i}`,
    instructionHash: `${prefix}${i}`,
  }));
const pass = (x: 0 | 1 | null): Outcome =>
  x === null ? unscored('environment', '') : scored({ reward: x }, x, 1, { read: true });
export const line = (text: string, ...cites: string[]): Edit => ({
  op: 'append_section',
  target: '',
  content: text,
  cites,
  reason: `because of ${text}`,
});

export type Script = {
  readonly outcome: (text: string, task: string, attempt: number) => 0 | 1 | null;
  readonly propose: (ask: ProposeAsk, draft: string) => readonly Edit[] | null;
  readonly inputs?: (
    point: string,
    state: { readonly decisions: readonly Decision[]; readonly taken: number },
  ) => readonly Input[];
};

export class ScriptPorts implements EnginePorts<Decision> {
  readonly decisions: Decision[] = [];
  readonly asks: ProposeAsk[] = [];
  readonly taken: { readonly text: string; readonly ask: Ask }[] = [];
  readonly planned = new Set<string>();
  readonly guessed: Ask[] = [];
  readonly points: string[] = [];
  constructor(private readonly script: Script) {}
  plan(asks: readonly Ask[]): void {
    for (const a of asks) this.planned.add(a.key);
  }
  guess(list: () => readonly { readonly ask: Ask }[]): void {
    this.guessed.push(...list().map((g) => g.ask));
  }
  drop(asks: readonly Ask[]): void {
    for (const a of asks) this.planned.delete(a.key);
  }
  async take(ask: Ask, text: string | null): Promise<Outcome> {
    this.taken.push({ text: text ?? '', ask });
    this.planned.delete(ask.key);
    return pass(this.script.outcome(text ?? '', ask.task, ask.attempt));
  }
  async propose(ask: ProposeAsk, texts: { readonly draft: string }): Promise<ProposeAnswer> {
    this.asks.push(ask);
    const edits = this.script.propose(ask, texts.draft);
    return edits === null
      ? { kind: 'unusable', detail: 'cut off' }
      : { kind: 'proposal', proposal: { edits, summary: '' } };
  }
  async inputs(point: string): Promise<readonly Input[]> {
    this.points.push(point);
    return this.script.inputs?.(point, { decisions: this.decisions, taken: this.taken.length }) ?? [];
  }
  async decide(d: Decision): Promise<void> {
    this.decisions.push(d);
  }
  of<T extends Decision['type']>(type: T): EventOf<T>[] {
    return this.decisions.filter((d) => d.type === type) as EventOf<T>[];
  }
}

export const basePlan: LoopPlan = {
  rule: 'loop@2',
  sessionSeed: 's',
  seedText: 'seed\n',
  environment: 'e',
  train: refs('t', 6),
  selection: refs('s', 4),
  test: refs('x', 2),
  budget: 200,
  gate: { rule: 'balanced', metric: 'hard' },
  editBudget: null,
  search: { draftSize: 2, dryRounds: 3, memory: true },
  seedAttempt: 'fresh',
};

export async function play(script: Script, more: Partial<LoopPlan> = {}, ops = worldOps) {
  const ports = new ScriptPorts(script);
  const end = await withoutWorld(() => optimize({ ...basePlan, ...more }, ports, ops));
  expect(ports.planned.size).toBe(0); // whatever was laid out was taken or dropped
  return { ports, end };
}

/** Task `t0` needs the line `fix t0`, and so on; selection task `s0` needs `fix t0` too. */
export const needs = (text: string, task: string): 0 | 1 => (text.includes(`fix t${task.slice(1)}`) ? 1 : 0);
