import { GATE_BLOCKS, type GateRuleName, ruleAfter } from '../events/loop-facts.ts';
import type { EditBudget } from '../events/shapes.ts';

/** Number of the engine that draws decisions, and the versions of its rules; both stand in the first line of a log. */
export const ENGINE = 1;
export const RULES = ['loop@2'] as const;
/** Every set of rules that this program can draw by: rules are kept by version, so that older sessions go on. */
export const KNOWN_RULES = [['loop@1'], RULES] as const;
/** A version of the loop's rule. */
export type LoopRule = (typeof KNOWN_RULES)[number][0];

/** The version that a log names; throws for one that is not known. */
export function loopRule(rules: readonly string[]): LoopRule {
  const known = KNOWN_RULES.find((set) => JSON.stringify(set) === JSON.stringify(rules));
  if (known === undefined) throw new Error(`unknown rules: ${rules.join(', ')}`);
  return known[0];
}

/** A gate: at most `blocks` repeats of selection; levels in 1/1000. */
export type GateRule = {
  readonly name: string;
  readonly blocks: number;
  /** Accept at the end when p ≤ alpha. */
  readonly alpha: number;
  /** Accept after a block that is not the last when p ≤ early. */
  readonly early: number;
};

/** Levels by rule; the number of its blocks is a fact that readers of a log need too. */
const levels: Readonly<Record<GateRuleName, Pick<GateRule, 'alpha' | 'early'>>> = {
  balanced: { alpha: 350, early: 250 },
  bold: { alpha: 500, early: 500 },
  careful: { alpha: 250, early: 200 },
  skillopt: { alpha: 500, early: 500 },
};

/** Futility between blocks: a candidate whose p is above this is refused. */
export const FUTILITY = 500;

/** The rule that stands now. `bold` is bold for the first three acceptances and balanced afterwards. */
export function gateRule(plan: GateRuleName, accepted: number): GateRule {
  const name = ruleAfter(plan, accepted);
  return { name, blocks: GATE_BLOCKS[name], ...levels[name] };
}

/** Least share of scored rollouts on each side of a gate, and the most by which the sides may differ. */
export const LEAST_COVERAGE = 0.6;
export const COVERAGE_GAP = 0.2;
/** Rejections in a row after which the draft is dropped. */
export const DROP_AFTER = 2;
/** Points of an edit in memory. */
export const POINTS = { pass: 3, fail: -1, floor: -1 } as const;
/** `loop@2`: a removal comes again when it was asked for in the rounds before, less than `within` ago; they are waited for when one in `oneIn` comes again. */
export const REMOVALS = { within: 12, oneIn: 10 } as const;

/** Where a search stands when it asks for edits. */
export type BudgetPlace = {
  /** Share of the loop's rollouts that are consumed, 0…1. */
  readonly consumed: number;
  /** The reflections so far: for each that handed in edits how many it handed in and how many were kept. */
  readonly hits: readonly { readonly offered: number; readonly kept: number }[];
};

/** Without the last digits, which are not the same for a cosine on all machines: a half stays a half. */
const settled = (x: number): number => Math.round(x * 1e9) / 1e9;

/**
 * Most edits that one reflection is asked for: a third of train, 2 to 8, bounded by the edit budget. A schedule goes
 * from `max` to `min` along the consumed share of the budget: on a line, or on half a cosine. *Autonomous* follows the
 * optimizer's own hits: it starts at `max`, one fewer after a round that kept nothing, one more after a round that kept
 * at least half, never outside `min` and `max`.
 */
export function mostEdits(trainTasks: number, editBudget: EditBudget, at: BudgetPlace): number {
  const most = Math.max(2, Math.min(8, Math.round(trainTasks / 3)));
  if (editBudget === null) return most;
  if (typeof editBudget === 'number') return Math.min(most, editBudget);
  const max = Math.min(most, editBudget.max);
  const min = Math.min(max, editBudget.min);
  const share = Math.max(0, Math.min(1, at.consumed));
  switch (editBudget.schedule) {
    case 'constant':
      return max;
    case 'linear':
      return Math.round(max - (max - min) * share);
    case 'cosine':
      return Math.round(settled(min + ((max - min) * (1 + Math.cos(Math.PI * share))) / 2));
    case 'autonomous':
      return at.hits.reduce((now, { offered, kept }) => {
        if (kept === 0) return Math.max(min, now - 1);
        return 2 * kept >= offered ? Math.min(max, now + 1) : now;
      }, max);
    default:
      return editBudget.schedule satisfies never;
  }
}
