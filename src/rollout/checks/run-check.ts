import type { Check } from '../../ports/task.ts';
import { maxSearched, partAfter, plainAnswer, withoutFence } from './answer.ts';
import { atPath, isJson, jsonOf, sameJson } from './json.ts';
import { isWithin, oneNumber } from './numbers.ts';

/** A check that looks at the answer alone. */
export type TextCheck = Exclude<Check, { readonly kind: 'command' }>;

/**
 * Does the answer pass the check? Only the form is forgiven, never the content:
 *
 * | check | passes |
 * |---|---|
 * | equals | blanks and a fence, quotes, emphasis or a code sign around the whole, and one full stop at its end, left out |
 * | contains | the text stands somewhere in it |
 * | regex | the pattern fits somewhere in it; behind `after` without the blanks around it |
 * | json | the whole is JSON of whatever content; `anywhere`: some is found, see `jsonOf` |
 * | json-path | the value at the path is the same JSON; see `jsonOf` for where the JSON may stand |
 * | number | the one number of the part, see `oneNumber`; without `after`, of the last line that is not blank |
 *
 * With `after` a check looks at what follows on that line (`json` and `json-path`: to the end), see `partAfter`; without such a
 * line it fails. Regular expressions and numbers are looked for in the last `maxSearched` characters.
 */
export function runCheck(check: TextCheck, answer: string): boolean {
  const whole = plainAnswer(answer);
  const part = check.after === null ? whole : partAfter(whole, check.after, looksToEnd(check));
  if (part === null) return false;
  switch (check.kind) {
    case 'equals': {
      const wanted = folded(plainAnswer(check.value).trim(), check.ignoreCase);
      return forms(part).some((form) => folded(form, check.ignoreCase) === wanted);
    }
    case 'contains':
      return folded(part, check.ignoreCase).includes(folded(plainAnswer(check.value), check.ignoreCase));
    case 'regex':
      return new RegExp(check.pattern, check.flags).test(
        (check.after === null ? part : part.trim()).slice(-maxSearched),
      );
    case 'json':
      return check.place === 'whole' ? isJson(part) : jsonOf(part) !== null;
    case 'json-path': {
      const json = jsonOf(part);
      const found = json === null ? null : atPath(json.value, check.path);
      return found !== null && sameJson(found.value, check.value);
    }
    case 'number': {
      const number = oneNumber(check.after === null ? lastLine(part.slice(-maxSearched)) : part.slice(-maxSearched));
      return number !== null && isWithin(number, check.value, check.tolerance);
    }
    default:
      return check satisfies never;
  }
}

/** Whether a check behind its marker looks at further lines, too. */
export function looksToEnd(check: Check): boolean {
  return check.kind === 'json' || check.kind === 'json-path' || check.kind === 'command';
}

/** Parts in which a score is told: no threshold is missed by what binary numbers can't hold. */
const PARTS = 1e9;

/** Share of the weight that passed, 0…1; exactly 1 when all of it did, exactly 0 when none of it did. */
export function softScore(results: readonly { readonly weight: number; readonly passed: boolean }[]): number {
  const passed = results.filter((result) => result.passed);
  if (passed.length === 0) return 0;
  if (passed.length === results.length) return 1;
  const sum = (list: readonly { readonly weight: number }[]) => list.reduce((total, { weight }) => total + weight, 0);
  const parts = Math.round((sum(passed) / sum(results)) * PARTS);
  return Math.min(Math.max(parts, 1), PARTS - 1) / PARTS;
}

function folded(text: string, ignoreCase: boolean): string {
  return ignoreCase ? text.toLowerCase() : text;
}

const around: readonly (readonly [string, string])[] = [
  ['**', '**'],
  ['__', '__'],
  ['*', '*'],
  ['_', '_'],
  ['`', '`'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['„', '“'],
  ['«', '»'],
];

/** The text, and what is left of it when what is around the whole of it goes, layer by layer. */
function forms(text: string): readonly string[] {
  const found = new Set<string>();
  const waiting = [text.trim()];
  for (let form = waiting.pop(); form !== undefined; form = waiting.pop()) {
    if (found.has(form)) continue;
    found.add(form);
    const inner = withoutFence(form);
    if (inner !== null) waiting.push(inner.trim());
    if (form.endsWith('.') && !form.endsWith('..')) waiting.push(form.slice(0, -1).trimEnd());
    for (const [open, close] of around) {
      const middle = form.slice(open.length, form.length - close.length);
      const wraps = form.length > open.length + close.length && form.startsWith(open) && form.endsWith(close);
      if (wraps && !middle.includes(open) && !middle.includes(close)) waiting.push(middle.trim());
    }
  }
  return [...found];
}

/** The last line that is not blank, without a sign of a list or quote. */
export function lastLine(text: string): string {
  const line = text.split('\n').findLast((one) => one.trim() !== '') ?? '';
  return line.replace(/^\s*(?:[-*+>]\s+)+/, '');
}
