import { expect, test } from 'bun:test';
import type { EvalState } from '../events/eval-state.ts';
import { playEval } from '../session/eval-fixture.ts';
import { attemptLine } from './eval-progress.ts';

test.each([
  [7, 24, /^ {2}7 of 24 {3}count-reefers · /],
  [100, 200, /^ {2}100 of 200 count-reefers · /],
  [10_000, 20_000, /^ {2}10000 of 20000 count-reefers · /],
])('%d of %d stands apart from the task', async (done, of, line) => {
  const { state } = await playEval({ tasks: 2 });
  const far: EvalState = { ...state, done, of };
  expect(attemptLine(far, 'count-reefers', 'skill', true)).toMatch(line);
});
