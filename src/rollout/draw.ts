import type { RolloutRequest } from '../ports/rollouts.ts';

/** Tries of one attempt are numbered 0 to 2. */
const TRIES = 3;

/** Number by which a model draws: another one for each try of an attempt. */
export function drawOf({ attempt, try: again }: Pick<RolloutRequest, 'attempt' | 'try'>): number {
  return attempt * TRIES + again;
}
