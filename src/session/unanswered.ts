import type { Failure } from '../ports/failure.ts';
import type { Outcome, UnscoredReason } from '../ports/outcome.ts';

/** Waves, and tasks in them, after which a provider that answered nobody is taken for one that is down. */
const PAUSE_AFTER = 3;
/** And rollouts: where one in ten fails by itself, so many in a row are one in a thousand million. */
const LEAST_ROLLOUTS = 9;

const unanswered: readonly UnscoredReason[] = ['provider-error', 'provider-rate-limit', 'agent-did-no-work'];

/**
 * Notices a provider that answers nobody. Each unanswered rollout is an outcome, unscored, for it may be the task's
 * own; many in a row, at several tasks, are not, and would use up the budget. Rollouts that ran side by side are one
 * wave and count once.
 */
export class Unanswered {
  private waves = 0;
  private rollouts = 0;
  private readonly tasks = new Set<string>();

  /** Which wave a rollout that starts now belongs to. */
  get wave(): number {
    return this.waves;
  }

  /** Notes an outcome; why the session has to pause, or null. `wave` = what it was when the rollout started. */
  note(task: string, outcome: Outcome, wave: number): Failure | null {
    if (outcome.status === 'scored' || !unanswered.includes(outcome.reason)) {
      this.forget();
      return null;
    }
    this.rollouts++;
    this.tasks.add(task);
    if (wave === this.waves) this.waves++;
    if (this.waves < PAUSE_AFTER || this.tasks.size < PAUSE_AFTER || this.rollouts < LEAST_ROLLOUTS) return null;
    return {
      code: 'environment-down',
      what: `no answer in ${this.rollouts} rollouts in a row, at ${this.tasks.size} tasks; the last one: ${outcome.detail}`,
      where: `task ${task}`,
      fix: 'mend what does not answer, then start it again: it goes on where it stopped',
      retryable: true,
    };
  }

  private forget(): void {
    this.waves = 0;
    this.rollouts = 0;
    this.tasks.clear();
  }
}
