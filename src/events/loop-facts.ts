import type { OptimizedPart } from '../ports/edit.ts';
import type { gateRuleName } from './shapes.ts';

/** What a reader of a log has to know of the rules `loop@1` and `loop@2` that drew it. The engine takes these facts from here. */

/** Tries after the first for a rollout that ended unscored. */
export const MORE_TRIES = 2;
/** Rejections in a row after which the incumbent's outcomes are rolled anew. */
export const REFRESH_AFTER = 3;
/** Why a draft is refused that never met the selection tasks; such a rejection says nothing of the incumbent. */
export const UNDONE = 'its edits undo each other';

export type GateRuleName = (typeof gateRuleName.options)[number];

/** Passes over selection that a gate takes at most. */
export const GATE_BLOCKS: Readonly<Record<GateRuleName, number>> = { balanced: 2, bold: 1, careful: 3, skillopt: 1 };

/** Acceptances after which `bold` judges as `balanced` does. */
const BOLD_FOR = 3;

/** The rule that a gate goes by after so many acceptances. */
export const ruleAfter = (plan: GateRuleName, accepted: number): GateRuleName =>
  plan === 'bold' && accepted >= BOLD_FOR ? 'balanced' : plan;

/** Arms of the sealed test: without a skill a description has nothing to be measured by. */
export const testArms = (optimize?: OptimizedPart): number => (optimize === 'description' ? 2 : 3);
