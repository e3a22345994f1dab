import type { Check } from '../../ports/task.ts';
import { maxSearched, partAfter, plainAnswer } from './answer.ts';
import { jsonOf } from './json.ts';
import { oneNumber } from './numbers.ts';
import { lastLine, looksToEnd, runCheck } from './run-check.ts';

/**
 * Why checks could not even look at an answer, a sentence each: its form, never what was expected. It stands in the
 * trajectory, where the optimizer reads it: a skill can teach a form that nobody can guess from a failure.
 */
export function formProblems(checks: readonly Check[], answer: string): readonly string[] {
  const whole = plainAnswer(answer);
  return [...new Set(checks.flatMap((check) => problemOf(check, whole) ?? []))];
}

function problemOf(check: Check, whole: string): string | null {
  const toEnd = looksToEnd(check);
  const part = check.after === null ? whole : partAfter(whole, check.after, toEnd);
  if (part === null) return `No line of the answer begins with “${check.after}”, and what follows it is looked at.`;
  switch (check.kind) {
    case 'json':
      if (runCheck({ ...check, after: null }, part)) return null;
      return check.place === 'whole'
        ? 'The answer is not JSON as a whole.'
        : 'The answer holds no JSON that can be read.';
    case 'json-path':
      return jsonOf(part) === null ? 'The answer holds no JSON that can be read.' : null;
    case 'number': {
      const searched = part.slice(-maxSearched);
      const line = check.after === null ? lastLine(searched) : searched;
      const place = check.after === null ? 'The last line of the answer' : `What follows “${check.after}”`;
      return oneNumber(line) === null ? `${place} does not hold exactly one number that can be read.` : null;
    }
    case 'equals':
    case 'contains':
    case 'regex':
    case 'command':
      return null;
    default:
      return check satisfies never;
  }
}
