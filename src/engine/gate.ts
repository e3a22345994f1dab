import type { EventOf } from '../events/events.ts';
import { REFRESH_AFTER, UNDONE } from '../events/loop-facts.ts';
import type { SkillOps } from '../ports/engine.ts';
import { type Conversation, EnvironmentChanged, type Settled, Stop } from './conversation.ts';
import { incumbentBlock, sweep } from './measure.ts';
import type { LoopPlan } from './plan.ts';
import { COVERAGE_GAP, DROP_AFTER, FUTILITY, type GateRule, gateRule, LEAST_COVERAGE } from './rules.ts';
import { type Cell, cellOf, dropDraft, emptyBank, isLastStep, type SearchState, scoreOf, shown } from './state.ts';
import { signFlipAtMost, signFlipP, signTestAtMost, signTestP } from './stats.ts';

type Metric = LoopPlan['gate']['metric'];
type Verdict = { readonly action: EventOf<'gate.decided'>['gateAction']; readonly why: string };

/** Pairs as they come in, and the arithmetic on them. Values are scores in 1/1000. */
export class Tally {
  wins = 0;
  losses = 0;
  readonly pairs: { task: string; block: number; before: Cell; after: Cell }[] = [];
  private readonly differences: number[] = [];
  private reads: (boolean | null)[] = [];

  constructor(private readonly metric: Metric) {}

  add(task: string, block: number, before: Cell, after: Settled): void {
    const cell = cellOf(after);
    this.pairs.push({ task, block, before, after: cell });
    if (cell !== null) this.reads.push(after.read);
    if (before === null || cell === null) return;
    const d = cell.value - before.value;
    this.differences.push(d);
    if (d > 0) this.wins++;
    if (d < 0) this.losses++;
  }

  private get sum(): number {
    return this.differences.reduce((a, b) => a + b, 0);
  }

  /** Strictly better so far: more wins than losses; with soft metrics a higher mean. */
  get better(): boolean {
    return this.metric === 'hard' ? this.wins > this.losses : this.sum > 0;
  }

  get worse(): boolean {
    return this.metric === 'hard' ? this.wins < this.losses : this.sum < 0;
  }

  atMost(level: number): boolean {
    return this.metric === 'hard'
      ? signTestAtMost(this.wins, this.losses, level)
      : signFlipAtMost(this.differences, level);
  }

  /** 1 − p, four places. */
  get confidence(): number {
    const p = this.metric === 'hard' ? signTestP(this.wins, this.losses) : signFlipP(this.differences);
    return Math.round((1 - p) * 10000) / 10000;
  }

  /** No outcome of the tasks still to come can bring an acceptance; `can` is the `room` on them. */
  lost(can: number, last: boolean, alpha: number): boolean {
    if (this.metric !== 'hard') return this.sum + can <= 0;
    return this.wins + can <= this.losses || (last && !signTestAtMost(this.wins + can, this.losses, alpha));
  }

  /** The most that a task can bring, by what the incumbent scored there: wins, with soft metrics points. */
  room(before: Cell): number {
    if (before === null) return 0;
    if (this.metric === 'hard') return before.value === 0 ? 1 : 0;
    return 1000 - before.value;
  }

  /** Coverage is below the least on a side, or differs too much between them. */
  get thin(): boolean {
    const n = this.pairs.length;
    const before = this.pairs.filter((p) => p.before !== null).length;
    const after = this.pairs.filter((p) => p.after !== null).length;
    return before < LEAST_COVERAGE * n || after < LEAST_COVERAGE * n || Math.abs(before - after) > COVERAGE_GAP * n;
  }

  /** Every scored outcome of the candidate says that the skill was not read. */
  get unread(): boolean {
    return this.reads.length > 0 && this.reads.every((r) => r === false);
  }

  get shownPairs(): EventOf<'gate.decided'>['tasks'] {
    return this.pairs.map((p) => ({ task: p.task, block: p.block, before: shown(p.before), after: shown(p.after) }));
  }

  get scores(): EventOf<'gate.decided'>['selection'] {
    return { incumbent: scoreOf(this.pairs.map((p) => p.before)), candidate: scoreOf(this.pairs.map((p) => p.after)) };
  }
}

/** Block after block, paired by (task, block), tasks that the incumbent scored lowest first. Only rejection is curtailed, exactly. */
async function compare(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  candidate: string,
  rule: GateRule,
  tally: Tally,
): Promise<Verdict> {
  for (let block = 0; block < rule.blocks; block++) {
    await talk.point('block');
    const last = block === rule.blocks - 1;
    const base = await incumbentBlock(plan, s, talk, block);
    const rank = (t: string) => base.get(t)?.value ?? 1001;
    const order = plan.selection.map((t) => t.id).sort((a, b) => rank(a) - rank(b));
    let can = order.reduce((sum, t) => sum + tally.room(base.get(t) ?? null), 0);
    let lost = false;
    await talk.roll(candidate, order, (task, settled) => {
      const before = base.get(task) ?? null;
      can -= tally.room(before);
      tally.add(task, block, before, settled);
      // what only the machinery has lost is left to the coverage at the block's end
      lost = tally.lost(can, last, rule.alpha) && !tally.thin;
      return lost ? 'enough' : undefined;
    });
    if (lost) return { action: 'reject', why: why(tally) };
    if (tally.thin) return { action: 'indecisive', why: 'coverage' };
    if (last) break;
    if (!tally.better || !tally.atMost(FUTILITY)) return { action: 'reject', why: why(tally) };
    if (tally.atMost(rule.early)) return { action: 'accept', why: 'more wins than losses' };
  }
  return tally.better && tally.atMost(rule.alpha)
    ? { action: 'accept', why: 'more wins than losses' }
    : { action: 'reject', why: why(tally) };
}

/** Why a candidate is refused, said of the pairs so far; a curtailed one could not have done better than this. */
function why(t: Tally): string {
  if (t.better) return 'too few wins to tell';
  if (t.worse) return 'it lost more tasks than it won';
  return t.wins + t.losses === 0 ? 'a tie: no task changed' : 'it lost as many tasks as it won';
}

/** How a candidate did at its gate. `cut` = what ended the gate before its verdict. */
export type Met = {
  readonly rule: GateRule;
  readonly tally: Tally;
  readonly verdict: Verdict;
  readonly cut: Stop | EnvironmentChanged | null;
};

/** A candidate meets the selection tasks; null = there is nothing to meet them with. It is a step, whatever comes of it. */
export async function meet(plan: LoopPlan, s: SearchState, talk: Conversation, candidate: string | null): Promise<Met> {
  if (s.rejectedSinceRefresh >= REFRESH_AFTER) {
    s.bank = emptyBank(plan);
    s.rejectedSinceRefresh = 0;
  }
  const rule = gateRule(plan.gate.rule, s.accepted);
  const tally = new Tally(plan.gate.metric);
  let verdict: Verdict;
  let cut: Met['cut'] = null;
  try {
    verdict =
      candidate === null ? { action: 'reject', why: UNDONE } : await compare(plan, s, talk, candidate, rule, tally);
    // where the description is optimized, opening the skill is what is measured
    if (tally.unread && plan.optimize !== 'description')
      verdict = { action: 'indecisive', why: 'the skill was not read' };
  } catch (e) {
    if (!(e instanceof Stop) && !(e instanceof EnvironmentChanged)) throw e;
    cut = e;
    verdict = { action: 'indecisive', why: e instanceof Stop ? e.cause : 'environment-changed' };
  }
  s.steps++;
  if (cut === null) s.gates++;
  return { rule, tally, verdict, cut };
}

/** What a row of the score table says of the comparison. */
export function compared(plan: LoopPlan, { rule, tally, verdict }: Met) {
  return {
    gateAction: verdict.action,
    why: verdict.why,
    wins: tally.wins,
    losses: tally.losses,
    pairs: tally.pairs.length,
    of: rule.blocks * plan.selection.length,
    confidence: tally.confidence,
    selection: tally.scores,
    tasks: tally.shownPairs,
  };
}

/** A gate that could not be judged; three in a row, sweeps among them, end the run. */
export function noteIndecisive(s: SearchState): void {
  s.indecisive++;
  if (s.indecisive >= 3) throw new Stop('measurement-broken');
}

/** The candidate is the incumbent from now on, with the outcomes of its gate. */
export function enthrone(plan: LoopPlan, s: SearchState, text: string, tally: Tally): void {
  s.accepted++;
  s.incumbent = text;
  s.bank = emptyBank(plan);
  for (const p of tally.pairs) s.bank.get(p.task)?.push(p.after);
  s.indecisive = s.rejectedSinceRefresh = 0;
}

/**
 * The draft meets the selection tasks; the verdict and what follows from it. False: its edits undid each other, so that
 * there was nothing to meet them with. Throws Stop when the run can't go on.
 */
export async function consider(plan: LoopPlan, s: SearchState, talk: Conversation, ops: SkillOps): Promise<boolean> {
  const undone = ops.same(s.draftText, s.incumbent);
  const met = await meet(plan, s, talk, undone ? null : s.draftText);
  const { verdict, cut } = met;
  s.gateCut = cut !== null;
  const dropped =
    verdict.action === 'reject' && (undone || plan.gate.rule === 'skillopt' || s.rejectedInRow + 1 >= DROP_AFTER);
  await talk.decide({
    type: 'gate.decided',
    step: s.steps,
    rounds: s.rounds - s.roundsAtGate,
    rule: met.rule.name,
    metric: plan.gate.metric,
    edits: s.draft.map((k) => k.hash),
    tried: s.offered,
    incumbent: talk.hash(s.incumbent),
    candidate: talk.hash(s.draftText),
    ...compared(plan, met),
    draftDropped: dropped,
  });
  s.roundsAtGate = s.rounds;
  s.offered = 0;
  if (cut !== null) throw cut;
  switch (verdict.action) {
    case 'indecisive':
      noteIndecisive(s);
      break;
    case 'accept':
      s.judged++;
      await accept(plan, s, talk, met.tally);
      break;
    case 'reject':
      if (undone)
        dropDraft(s); // it says nothing of the edits
      else reject(s, dropped);
      break;
    default:
      verdict.action satisfies never;
  }
  return !undone;
}

async function accept(plan: LoopPlan, s: SearchState, talk: Conversation, tally: Tally): Promise<void> {
  const before = talk.hash(s.incumbent);
  const edits = s.draft.map((k) => k.hash);
  const now = new Set(s.draft.map((k) => k.edit));
  enthrone(plan, s, s.draftText, tally);
  s.tried = s.tried.map((t) => (t.fate === 'in-draft' && now.has(t.edit) ? { ...t, fate: 'accepted' as const } : t));
  s.draft = [];
  s.gated = s.rejectedInRow = 0;
  const skill = talk.hash(s.incumbent);
  await talk.decide({
    type: 'skill.added',
    version: s.accepted,
    step: s.steps,
    skill,
    parent: before,
    edits,
    text: s.incumbent,
  });
  await talk.decide({ type: 'incumbent.changed', from: before, to: skill, why: 'accepted' });
  if (isLastStep(plan, s)) return;
  const still = plan.train.map((t) => t.id).filter((t) => s.train.get(t) !== 1);
  await sweep(plan, s, talk, still, 'after the acceptance');
}

function reject(s: SearchState, dropped: boolean): void {
  s.judged++;
  s.indecisive = 0;
  s.rejectedSinceRefresh++;
  s.rejectedInRow++;
  s.refused.push({ step: s.steps, edits: s.draft.map((k) => k.edit) });
  s.gated = s.draft.length;
  if (!dropped) return;
  s.rejectedInRow = 0;
  dropDraft(s);
}
