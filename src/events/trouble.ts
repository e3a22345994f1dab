import type { LoggedEvent } from './events.ts';
import type { RunState, Trouble } from './run-state.ts';

/** Where a run first failed, and the smallest step that mends it. `line` null: it stands in no line of the log. */
export type FailurePoint = Omit<Trouble, 'line'> & { readonly line: number | null; readonly fix: string };

/** Keeps the first of each role's failures since the role last worked. */
export class Troubles {
  rollouts: Trouble | null = null;
  optimizer: Trouble | null = null;
  /** Of all, whatever came after it. */
  firstUnscored: Trouble | null = null;

  /** `taskOf` = the task of a rollout that is at work. */
  note(event: LoggedEvent, taskOf: (key: string) => string): void {
    switch (event.type) {
      case 'rollout.finished': {
        const { outcome } = event;
        if (outcome.status === 'scored') this.rollouts = null;
        else {
          const here = trouble(event.seq, `task ${event.task}`, `${outcome.reason}: ${outcome.detail}`);
          this.rollouts ??= here;
          this.firstUnscored ??= here;
        }
        return;
      }
      case 'rollout.cancelled':
        if (event.failed) this.rollouts ??= trouble(event.seq, `task ${taskOf(event.key)}`, event.why);
        return;
      case 'model.called':
        if (event.problem === null || event.preflight) return; // what it answered is judged by its reflection
        this.optimizer ??= trouble(event.seq, `model ${event.model}`, event.problem);
        return;
      case 'reflection.finished':
        if (event.answer.kind === 'proposal') this.optimizer = null;
        else this.optimizer ??= trouble(event.seq, `the reflection of round ${event.round}`, event.answer.detail);
        return;
      default:
    }
  }
}

/** Where what is paused first failed; null = its user has stopped it. */
export function pausedPoint(
  paused: NonNullable<RunState['paused']>,
  found: RunState['trouble'],
  fix: string,
): FailurePoint | null {
  if (paused.where === null) return null;
  const first = paused.role === 'optimizer' ? found.optimizer : paused.role === 'rollouts' ? found.rollouts : null;
  return { ...(first ?? { line: null, where: paused.where, what: paused.why }), fix };
}

function trouble(line: number, where: string, what: string): Trouble {
  return { line, where, what: what.trim().split('\n')[0] ?? '' };
}

/** Where the run that ended or paused on a failure first failed; null = it did not, or its user stopped it. */
export function failurePoint(state: RunState, fix: string): FailurePoint | null {
  const { paused, ended, trouble: found } = state;
  if (paused !== null && state.finalized === null) return pausedPoint(paused, found, fix);
  const first =
    ended?.cause === 'measurement-broken'
      ? found.rollouts
      : ended?.cause === 'optimizer-failed'
        ? found.optimizer
        : null;
  return first === null ? null : { ...first, fix };
}
