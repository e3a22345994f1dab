import { resolve } from 'node:path';
import { standing } from '../events/progress.ts';
import { editTitle, gateText, scoreText, verdictText } from '../events/words.ts';
import { afterRun, afterRunLines } from '../report/after-run.ts';
import { leftLines } from './before-spending.ts';
import type { CommandContext } from './context.ts';
import { powerOf } from './power-of.ts';
import { readState, shownDir } from './read-state.ts';

/** Prints where a session stands. */
export function status(dir: string, context: CommandContext): void {
  const path = resolve(dir);
  const { state, head } = readState(path);
  const report = afterRun(state, { command: context.command, dir: shownDir(path), head, power: powerOf(state) });
  const metric = state.plan?.gate.metric;
  const steps = state.steps.map((s) => `step ${String(s.step).padEnd(7)}${gateText(s)} · ${verdictText(s)}`);
  const draft = [...state.edits.values()].filter((e) => e.fate === 'in-draft');
  const { left } = standing(state);
  context.io.result({ ...report, stepRows: state.steps, draft: draft.map((e) => e.edit), left }, [
    `phase       ${state.phase}${state.paused ? ' (paused)' : ''}`,
    `baseline    selection ${scoreText(state.seed.selection, metric)} · train ${scoreText(state.seed.train, metric)}`,
    ...steps,
    ...(state.ended === null && draft.length > 0
      ? [`draft       ${draft.length} edits`, ...draft.map((e) => `            + ${editTitle(e)}`)]
      : []),
    ...leftLines(state),
    ...afterRunLines(report, state),
  ]);
}
