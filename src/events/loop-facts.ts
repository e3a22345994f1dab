/** What a reader of a log has to know of the rule `loop@1` that drew it. The engine takes these numbers from here. */

/** Tries after the first for a rollout that ended unscored. */
export const MORE_TRIES = 2;
/** Rejections in a row after which the incumbent's outcomes are rolled anew. */
export const REFRESH_AFTER = 3;
/** Why a draft is refused that never met the selection tasks; such a rejection says nothing of the incumbent. */
export const UNDONE = 'its edits undo each other';
