import { attemptsOf } from './attempts.ts';
import { testArms } from './loop-facts.ts';
import type { RunState } from './run-state.ts';
import { countText, minutesText, shortCount } from './words.ts';

/** How far a session is. Rollouts are those of the budget: what decisions have consumed and what waits for the next one. */
export type Progress = {
  readonly consumed: number;
  /** Finished rollouts that the next decisions can consume. */
  readonly waiting: number;
  readonly budget: number;
  /** Running time, the stretch since the last line included. */
  readonly minutes: number;
  /** Minutes to the end of the search or of the test, at the pace so far; null = nothing can be said yet. */
  readonly leftMinutes: number | null;
  /** True: no more than that, as the search may end long before its budget. False: an estimate. */
  readonly leftIsMost: boolean;
};

/** `nowMs` = the time now, in ms since 1970; a clock that jumps back adds nothing. `thenTest`: the sealed test follows by itself. */
export function progress(state: RunState, nowMs: number, thenTest = false): Progress {
  const minutes = state.minutes + (isLive(state) ? sinceLastLineMs(state, nowMs) / 60_000 : 0);
  const left = withTest(state, leftRollouts(state), thenTest);
  return {
    consumed: state.planned,
    waiting: waitingRollouts(state),
    budget: state.plan?.budget ?? 0,
    minutes,
    leftMinutes: left === null ? null : leftMinutes(state, left, minutes),
    leftIsMost: left?.isMost ?? false,
  };
}

/** Something goes on, or would if nobody had cut the power. */
function isLive(state: RunState): boolean {
  const over = state.ended !== null && !(state.finalizeStarted && state.finalized === null);
  return state.paused === null && !over;
}

function sinceLastLineMs(state: RunState, nowMs: number): number {
  return state.lastAt === null ? 0 : Math.max(0, nowMs - Date.parse(state.lastAt));
}

function waitingRollouts(state: RunState): number {
  let waiting = 0;
  for (const p of state.pending.values()) if (p.line !== 'finalize' && p.seq > 0) waiting++;
  return Math.max(0, Math.min(waiting, (state.plan?.budget ?? 0) - state.planned)); // run-ahead may be more
}

/** Rollouts of what is on that are still to do. */
type Left = { readonly rollouts: number; readonly isMost: boolean };

function leftRollouts(state: RunState): Left | null {
  const { plan, phase, tasks } = state;
  if (plan === null) return null;
  switch (phase) {
    case 'starting':
    case 'measuring':
    case 'searching': {
      const budget = plan.budget - state.planned - waitingRollouts(state);
      const limit = (plan.limits.rollouts ?? Number.POSITIVE_INFINITY) - state.rollouts.started;
      return { rollouts: Math.max(0, Math.min(budget, limit)), isMost: true };
    }
    case 'confirming': {
      const all = state.confirmation === null ? 2 * tasks.selection.length : 0;
      return { rollouts: Math.max(0, all - settled(state, 'confirmation')), isMost: false };
    }
    case 'finalizing':
      return { rollouts: Math.max(0, testRollouts(state) - settled(state, 'finalize')), isMost: false };
    case 'searched':
    case 'finished':
      return { rollouts: 0, isMost: false };
    default:
      return phase satisfies never;
  }
}

/** The sealed test, where it is still to come. */
function withTest(state: RunState, left: Left | null, thenTest: boolean): Left | null {
  if (left === null || !thenTest || state.finalizeStarted || state.ended !== null) return left;
  return { ...left, rollouts: left.rollouts + testArms(state.plan?.optimize) * state.tasks.test.length };
}

/** Rollouts of the sealed test: every task with every arm. */
function testRollouts({ opened, tasks }: RunState): number {
  return tasks.test.length * (opened?.arms.length ?? 0) * (opened?.attempts ?? 1);
}

/** Attempts that are through. Of the confirmation, what was cut in two and rolled anew counts once. */
function settled(state: RunState, line: 'confirmation' | 'finalize'): number {
  const ended = attemptsOf(state, (r) => r.line === line).filter((a) => a.settled);
  return line === 'finalize' ? ended.length : new Set(ended.map((a) => `${a.skill}/${a.task}`)).size;
}

function leftMinutes(state: RunState, left: Left, minutes: number): number | null {
  if (left.rollouts === 0) return 0;
  const { finished, inherited } = state.rollouts;
  // in the search, run-ahead that no decision reads is part of the price of one that it reads
  const done = left.isMost ? state.planned + waitingRollouts(state) - inherited : finished;
  if (done <= 0 || minutes <= 0) return null;
  const each = minutes / done;
  const most = state.plan?.limits.minutes ?? null;
  if (!left.isMost || most === null) return left.rollouts * each;
  // the limit on minutes ends the search; a confirmation follows
  return Math.min(left.rollouts * each, Math.max(0, most - minutes) + 2 * state.tasks.selection.length * each);
}

/** Where a session that does not run stands, and what going on costs. */
export type Standing = {
  readonly at: 'start' | 'baseline' | 'step' | 'confirmation' | 'searched' | 'test' | 'finished';
  /** The step that is on; 0 before the first one. */
  readonly step: number;
  /** Rollouts that have finished. */
  readonly finished: number;
  /** Null = nothing is left to do, or nothing is known of it. */
  readonly left: CostsLeft | null;
};

/** What going on costs, by what was done so far. */
export type CostsLeft = {
  readonly rollouts: number;
  readonly minutes: number | null;
  /** Tokens and US dollars at the mean so far; null = unknown. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly isMost: boolean;
};

export function standing(state: RunState): Standing {
  const left = leftRollouts(state);
  const { finished } = state.rollouts;
  const { costUsd, tokens } = state.spend;
  const each = (sum: number | null) => (sum === null || finished === 0 ? null : sum / finished);
  const more = (mean: number | null) => (mean === null || left === null ? null : mean * left.rollouts);
  return {
    at: whereOf(state),
    step: state.phase === 'searching' ? state.steps.length + 1 : state.steps.length,
    finished,
    left:
      left === null || left.rollouts === 0
        ? null
        : {
            rollouts: left.rollouts,
            minutes: leftMinutes(state, left, state.minutes),
            tokens: more(each(tokens)),
            costUsd: more(each(costUsd)),
            isMost: left.isMost,
          },
  };
}

function whereOf({ phase, plan }: RunState): Standing['at'] {
  switch (phase) {
    case 'starting':
      return 'start';
    case 'measuring':
      return plan === null ? 'start' : 'baseline';
    case 'searching':
      return 'step';
    case 'confirming':
      return 'confirmation';
    case 'searched':
      return 'searched';
    case 'finalizing':
      return 'test';
    case 'finished':
      return 'finished';
    default:
      return phase satisfies never;
  }
}

/** `stopped at step 4 after 61 rollouts` and `continuing costs at most about 12 min, 130 rollouts, no model cost`. */
export function standingTexts(s: Standing): readonly string[] {
  const after = `after ${countText(s.finished, 'rollout')}`;
  const where: Readonly<Record<Standing['at'], string>> = {
    start: 'stopped before the baseline',
    baseline: `stopped in the baseline ${after}`,
    step: `stopped at step ${s.step} ${after}`,
    confirmation: `stopped in the confirmation ${after}`,
    searched: `the search ended ${after}`,
    test: `stopped in the sealed test ${after}`,
    finished: `all is done, ${after}`,
  };
  return s.left === null ? [where[s.at]] : [where[s.at], continuingText(s.left)];
}

/** `continuing costs at most about 12 min, 130 rollouts, no model cost`. */
export function continuingText({ rollouts, minutes, tokens, costUsd, isMost }: CostsLeft): string {
  const time = minutes === null ? [] : [minutesText(minutes)];
  const read = tokens === null || tokens === 0 ? [] : [`${shortCount(tokens)} tokens`];
  const costs = [...time, countText(rollouts, 'rollout'), ...read, costText(costUsd)];
  return `continuing costs ${isMost ? 'at most about' : 'about'} ${costs.join(', ')}`;
}

function costText(costUsd: number | null): string {
  if (costUsd === null) return 'cost unknown';
  return costUsd === 0 ? 'no model cost' : `$${costUsd.toFixed(2)}`;
}

/** Finished rollouts of those that the budget allows; `ofTest`: of the sealed test, which stands outside it. */
export function counted(state: RunState): { readonly done: number; readonly of: number; readonly ofTest: boolean } {
  if (!state.finalizeStarted)
    return { done: state.planned + waitingRollouts(state), of: state.plan?.budget ?? 0, ofTest: false };
  const of = testRollouts(state);
  const done = state.finalized === null ? Math.min(of, settled(state, 'finalize')) : state.tested.length;
  return { done, of, ofTest: true };
}

/** `at most 31 min left`, `about 3 min left`; empty when nothing can be said. */
export function leftText(p: Pick<Progress, 'leftMinutes' | 'leftIsMost'>): string {
  if (p.leftMinutes === null) return '';
  return `${p.leftIsMost ? 'at most' : 'about'} ${minutesText(p.leftMinutes)} left`;
}
