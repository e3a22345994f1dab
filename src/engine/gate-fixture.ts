import type { Decision, EventOf } from '../events/events.ts';
import type { GateRuleName } from '../events/loop-facts.ts';
import type { Ask, EnginePorts, SkillOps } from '../ports/engine.ts';
import { type Outcome, unscored } from '../ports/outcome.ts';
import { Conversation } from './conversation.ts';
import { consider } from './gate.ts';
import type { LoopPlan } from './plan.ts';
import { startState } from './state.ts';

const seed = 'the seed';
const candidate = 'the candidate';
const ops: SkillOps = { apply: (text) => ({ ok: true, text }), same: (a, b) => a === b };
const refs = (n: number, prefix: string) =>
  Array.from({ length: n }, (_, i) => ({
    id: `${prefix}${i}`,
    hash: `${prefix}${i}`,
    instructionHash: `${prefix}${i}`,
  }));

export type Answer = (who: 'incumbent' | 'candidate', task: number, attempt: number) => Outcome;

/** One real gate over given outcomes. */
export async function oneGate(n: number, rule: GateRuleName, answer: Answer, more: Partial<LoopPlan> = {}) {
  const plan: LoopPlan = {
    rule: 'loop@2',
    sessionSeed: 's',
    seedText: seed,
    environment: 'e',
    train: refs(2, 'train-'),
    selection: refs(n, 's'),
    test: refs(2, 'test-'),
    budget: 100_000,
    gate: { rule, metric: 'hard' },
    editBudget: null,
    search: { draftSize: 8, dryRounds: 12, memory: true },
    seedAttempt: 'fresh',
    ...more,
  };
  const decisions: Decision[] = [];
  let candidateRollouts = 0;
  const ports: EnginePorts<Decision> = {
    plan() {},
    guess() {},
    drop() {},
    async take(ask: Ask, text) {
      if (ask.task.startsWith('train')) return unscored('environment', '');
      if (text === candidate) candidateRollouts++;
      return answer(text === candidate ? 'candidate' : 'incumbent', Number(ask.task.slice(1)), ask.attempt);
    },
    propose: async () => ({ kind: 'unusable', detail: '' }),
    inputs: async () => [],
    async decide(d) {
      decisions.push(d);
    },
  };
  const talk = new Conversation(plan, ports, 0);
  const s = startState(plan);
  s.draft = [
    { edit: { op: 'append_section', target: '', content: 'x', cites: [], reason: '' }, hash: 'x', fixed: null },
  ];
  s.draftText = candidate;
  await consider(plan, s, talk, ops);
  const decided = decisions.find((d) => d.type === 'gate.decided') as EventOf<'gate.decided'>;
  return { decided, candidateRollouts };
}
