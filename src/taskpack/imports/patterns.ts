import { regexProblem } from '../regex-problem.ts';
import type { CheckEntry } from './imported.ts';

/** A check that says what was asked, or why there is none. `changed`: how it differs all the same. */
export type CheckOrWhy =
  | { readonly ok: true; readonly check: CheckEntry; readonly changed?: string }
  | { readonly ok: false; readonly why: string };

/** A text as a regular expression that fits this text alone, in the characters that answers are looked at in. */
export function literal(text: string): string {
  return canonical(text).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Answers are compared in canonical characters and with plain line ends. */
export function canonical(text: string): string {
  return text.normalize('NFC').replace(/\r\n?/g, '\n');
}

/** A check by a regular expression, if our checks take it. `i`: without case. */
export function regexCheck(pattern: string, flags = ''): CheckOrWhy {
  const problem = regexProblem(pattern, flags);
  if (problem !== null) return { ok: false, why: `${problem.what}; ${problem.fix}` };
  if (!pattern.isWellFormed()) return { ok: false, why: 'it holds half a character' };
  if (pattern.trim() === '') return { ok: true, check: { regex: `(?:${pattern})` } };
  return { ok: true, check: flags === '' ? { regex: pattern } : { regex: pattern, flags } };
}

/** A pattern that fits where none of `pattern` does, anywhere in the text. */
export function nowhere(pattern: string): string {
  return `^(?![\\s\\S]*(?:${pattern}))`;
}

/** The text stands somewhere in the answer. */
export function containing(text: string, ignoreCase: boolean): CheckOrWhy {
  if (!text.isWellFormed()) return { ok: false, why: 'it holds half a character' };
  if (text.trim() === '') return regexCheck(literal(text));
  return { ok: true, check: ignoreCase ? { contains: text, ignoreCase } : { contains: text } };
}

/** One of the texts stands somewhere in the answer. */
export function containingAny(texts: readonly string[], ignoreCase: boolean): CheckOrWhy {
  const [only] = texts;
  if (only !== undefined && texts.length === 1) return containing(only, ignoreCase);
  return regexCheck(`(?:${texts.map(literal).join('|')})`, ignoreCase ? 'i' : '');
}

/** All of the texts stand somewhere in the answer, in whatever order. One check: it counts as one. */
export function containingAll(texts: readonly string[], ignoreCase: boolean): CheckOrWhy {
  const [only] = texts;
  if (only !== undefined && texts.length === 1) return containing(only, ignoreCase);
  return regexCheck(`^${allOf(texts)}`, ignoreCase ? 'i' : '');
}

/** Looks ahead from where it stands for each of the texts. */
export function allOf(texts: readonly string[]): string {
  return texts.map((text) => `(?=[\\s\\S]*${literal(text)})`).join('');
}
