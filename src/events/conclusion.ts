import { shellWord } from '../ports/printable.ts';
import { isAgentOptimizer } from './optimizer-words.ts';
import type { Power } from './power.ts';
import type { RunState } from './run-state.ts';
import { failurePoint } from './trouble.ts';
import { armsText, intervalNote, lookedAgainText, lookText, scoreText, unscoredTexts } from './words.ts';

/** What may be said at the end of a run, and the one next step. */
export type Conclusion = {
  /** The headline in a sentence; the sealed test is the only one that counts. */
  readonly headline: string;
  readonly next: string;
};

/** `dir` is the session's directory as the user would type it; `power` = what its gates can tell, where it is known. */
export function conclusion(state: RunState, dir: string, power: Power | null): Conclusion {
  const { ended, confirmation, finalized } = state;
  const metric = state.plan?.gate.metric ?? 'hard';
  const at = dir === '.' ? '' : ` ${shellWord(dir)}`;
  const looks = state.session?.fork?.looks ?? 0;
  const opens =
    looks === 0 ? '(opens the sealed test, once)' : `(opens the sealed test; it counts as look ${looks + 1})`;
  if (state.paused !== null && finalized === null)
    return { headline: `paused: ${state.paused.why}`, next: state.paused.fix };
  if (state.finalizeStarted && !finalized)
    return {
      headline: 'the sealed test is open and not finished',
      next: `skillopt finalize${at}   (goes on with what is left)`,
    };
  if (!ended) return { headline: 'the search has not ended', next: `skillopt run${at}   (goes on where it stopped)` };
  if (finalized) {
    const result = finalized.arms.find((a) => a.arm === 'result');
    const narrow = intervalNote(state);
    const interval = result?.interval
      ? `, 95 % interval ${percent(result.interval[0])} to ${percent(result.interval[1])}${narrow === '' ? '' : `, which is ${narrow}`}`
      : '';
    const notes = [
      lookText(finalized.look),
      ...(state.lookedAgain > 0 ? [lookedAgainText(state.lookedAgain)] : []),
      ...(finalized.complete ? [] : ['cut short by a limit']),
      ...(finalized.environmentChanged ? [`the environment changed on the way: ${finalized.environmentChanged}`] : []),
    ];
    return {
      headline: `sealed test: ${armsText(finalized, metric)} (${notes.join(', ')}${interval})`,
      next: afterTest(state, dir, at),
    };
  }
  switch (ended.result) {
    case 'improved':
      return {
        headline: `confirmed on selection: ${scoreText(confirmation?.final, metric)} against the seed’s ${scoreText(confirmation?.seed, metric)}, fresh runs (selection numbers are picked because they were good)`,
        next: `skillopt finalize${at}   ${opens}`,
      };
    case 'no-measurable-difference':
      return ended.accepted === 0
        ? { headline: 'nothing was kept: the seed is the result', next: nothingKept(state, at) }
        : {
            headline: `no measurable difference: ${scoreText(confirmation?.final, metric)} against the seed’s ${scoreText(confirmation?.seed, metric)}, fresh runs`,
            next: `skillopt finalize${at}   ${opens}, or add tasks and start again`,
          };
    case 'not-confirmed':
      return {
        headline: `not confirmed: on fresh runs ${scoreText(confirmation?.final, metric)} against the seed’s ${scoreText(confirmation?.seed, metric)}; the seed is handed back and the test stays sealed`,
        next: `add selection tasks and start anew, or raise the budget and go on in a fork: skillopt fork${at}`,
      };
    case 'underpowered':
      return {
        headline: `this pack can’t tell: with ${state.tasks.selection.length} selection tasks even a gain of 20 points is mostly missed; the seed is the result`,
        next: moreTasks(state, power),
      };
    default:
      return ended.result satisfies never;
  }
}

function afterTest(state: RunState, dir: string, at: string): string {
  const { finalized, session } = state;
  if (finalized && finalized.wins < finalized.losses)
    return `keep the seed: the result lost ${finalized.losses} test tasks against it and won ${finalized.wins}`;
  if (session?.skill.from.startsWith('example:'))
    return `read ${dir}/skillopt.md, then bring a skill of your own: skillopt run --help`;
  return `read the diff in ${dir}/skillopt.md, then skillopt finalize${at} --apply`;
}

/** How many tasks would do: of selection, and of the pack if the shares of the splits stay. */
function moreTasks({ tasks }: RunState, power: Power | null): string {
  const enough = power?.kind === 'told' ? (power.enough ?? null) : null;
  if (enough === null) return 'bring more tasks, and harder ones: no number of tasks like these tells 20 points apart';
  const { train, selection, test } = tasks;
  const all = Math.ceil((enough / selection.length) * (train.length + selection.length + test.length));
  return `bring about ${enough} selection tasks in place of ${selection.length} (a pack of about ${all} at these shares), which find 20 points in four of five gates, and start anew`;
}

function nothingKept(state: RunState, at: string): string {
  switch (state.ended?.cause) {
    case 'completed': {
      const seed = state.seed.train;
      if (seed === null || seed.passed < seed.of)
        return `set search.steps or search.epochs higher and go on in a fork: skillopt fork${at}`;
      return 'the seed passes every train task: bring harder tasks';
    }
    case 'ceiling':
      if (state.seed.train && state.seed.train.scored < state.seed.train.of)
        return `${state.seed.train.of - state.seed.train.scored} train tasks could not be scored: mend that first (${unscoredTexts(state)[0] ?? ''})`;
      return state.seed.train && state.seed.train.passed === state.seed.train.of
        ? 'the seed passes every train task: bring harder tasks'
        : 'what passes train did not win on selection: bring more selection tasks, or tasks that are more alike';
    case 'measurement-broken':
      return `mend the measurement first (${unscoredTexts(state)[0] ?? 'no rollout could be scored'})`;
    case 'optimizer-failed':
      return `${isAgentOptimizer(state.plan) ? 'name a model as "optimizer", or another agent' : 'use another optimizer model, or set reflection.form to one-shot'} (it said: ${failurePoint(state, '')?.what ?? 'nothing that could be read'})`;
    case 'budget':
      return `raise the budget in the config and go on in a fork: skillopt fork${at}`;
    case 'limit':
      if (state.seed.train === null)
        return 'it was too low to measure the seed: raise the limit and start anew in another directory';
      return `raise the limit in the config and go on in a fork: skillopt fork${at}`;
    default:
      return 'try another optimizer, or bring tasks that the skill should help with';
  }
}

function percent(x: number): string {
  return `${Math.round(x * 100)} %`;
}
