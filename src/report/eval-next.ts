import type { EvalState } from '../events/eval-state.ts';
import type { EvalSummary } from '../events/eval-summary.ts';
import { isUnmeasured } from '../events/eval-trouble.ts';
import { armName, cut } from './eval-words.ts';

/** Below this evidence chance alone is a good explanation. */
const ENOUGH = 0.95;

/** What comes next: of an eval that stopped, what mends it. */
export function evalNext(state: EvalState, summary: EvalSummary): string {
  if (!state.finished) return state.paused?.fix ?? 'give the same command again: it goes on where it stopped';
  const spoiled = summary.arms.filter((a) => a.unscored > a.scored);
  if (isUnmeasured(state.rows) || spoiled.length > 0) {
    const arms = state.created?.arms ?? [];
    const some = spoiled.length > 0 && spoiled.length < summary.arms.length;
    const of = some ? ` of ${spoiled.map((a) => cut(armName(arms, a.arm))).join(', ')}` : '';
    return `mend what keeps rollouts${of} from being scored first, then measure anew with another --out; no number here can be trusted`;
  }
  const [against] = summary.comparisons;
  if (against === undefined && state.created?.config.optimize !== 'description')
    return 'add --no-skill: what the agent does without it is the number to compare with';
  if (against === undefined) return 'make the description better: skillopt run --help';
  const shares = summary.arms.map((a) => a.share);
  if (shares.every((s) => s === 1)) return 'all passes, whatever the arm: bring harder tasks';
  if (shares.every((s) => s === 0))
    return 'nothing passes, whatever the arm: read what was done (--json lists the files) and whether the tasks say what they check';
  if (against.evidence < ENOUGH || against.wins === against.losses)
    return 'so few changed tasks can’t tell it from chance: more tasks tell most, --repeat 3 tells some';
  if (against.wins < against.losses) return 'read the trajectories of the tasks that it lost; --json lists their files';
  switch (state.created?.session?.split) {
    case undefined:
      return 'make it better: skillopt run --help';
    case 'test':
      return 'the first look at the test stays the headline: skillopt status';
    default:
      return 'the number to trust is that of the sealed test: skillopt finalize, when the search has ended';
  }
}
