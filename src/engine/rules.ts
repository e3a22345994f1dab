/** Number of the engine that draws decisions, and the versions of its rules; both stand in the first line of a log. */
export const ENGINE = 1;
export const RULES = ['loop@1'] as const;
/** Every set of rules that this program can draw by: rules are kept by version, so that older sessions go on. */
export const KNOWN_RULES: readonly (readonly string[])[] = [RULES];

export type GateRuleName = 'balanced' | 'bold' | 'careful' | 'skillopt';

/** A gate: at most `blocks` repeats of selection; levels in 1/1000. */
export type GateRule = {
  readonly name: string;
  readonly blocks: number;
  /** Accept at the end when p ≤ alpha. */
  readonly alpha: number;
  /** Accept after a block that is not the last when p ≤ early. */
  readonly early: number;
};

const balanced: GateRule = { name: 'balanced', blocks: 2, alpha: 350, early: 250 };
const bold: GateRule = { name: 'bold', blocks: 1, alpha: 500, early: 500 };
const careful: GateRule = { name: 'careful', blocks: 3, alpha: 250, early: 200 };
const oneShot: GateRule = { name: 'skillopt', blocks: 1, alpha: 500, early: 500 };

/** Futility between blocks: a candidate whose p is above this is refused. */
export const FUTILITY = 500;

/** The rule that stands now. `bold` is bold for the first three acceptances and balanced afterwards. */
export function gateRule(name: GateRuleName, accepted: number): GateRule {
  switch (name) {
    case 'balanced':
      return balanced;
    case 'bold':
      return accepted < 3 ? bold : balanced;
    case 'careful':
      return careful;
    case 'skillopt':
      return oneShot;
    default:
      return name satisfies never;
  }
}

/** Least share of scored rollouts on each side of a gate, and the most by which the sides may differ. */
export const LEAST_COVERAGE = 0.6;
export const COVERAGE_GAP = 0.2;
/** Rejections in a row after which the draft is dropped. */
export const DROP_AFTER = 2;
/** Points of an edit in memory. */
export const POINTS = { pass: 3, fail: -1, floor: -1 } as const;

/** Most edits that one reflection is asked for: a third of train, 2 to 8, bounded by the edit budget. */
export function mostEdits(trainTasks: number, editBudget: number | null): number {
  const most = Math.max(2, Math.min(8, Math.round(trainTasks / 3)));
  return editBudget === null ? most : Math.min(most, editBudget);
}
