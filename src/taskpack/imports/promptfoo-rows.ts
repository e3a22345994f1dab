import type { Losses } from './losses.ts';
import { knownAsserts } from './promptfoo-assert.ts';
import { isRecord, scalarText } from './texts.ts';

/** An assert written as one text, as in a column `__expected`: `contains: Paris`, `not-regex:^No`, or just the text itself. */
export function assertOfText(given: string): { readonly type: string; readonly value?: unknown } {
  const text = given.trim();
  const script = /^(?:javascript|fn|eval):([\s\S]*)$/.exec(text);
  if (script !== null) return { type: 'javascript', value: script[1]?.trim() };
  if (/^file:\/\/.*\.py(?::|$)/.test(text)) return { type: 'python', value: text };
  if (/^file:\/\/.*\.[cm]?[jt]s(?::|$)/.test(text)) return { type: 'javascript', value: text };
  const grade = /^grade:([\s\S]*)$/.exec(text);
  if (grade !== null) return { type: 'llm-rubric', value: grade[1]?.trim() };
  const inverse = text.startsWith('not-') ? 'not-' : '';
  const rest = text.slice(inverse.length);
  for (const type of longestFirst) {
    if (!rest.startsWith(type)) continue;
    const found = /^(?:\(\d+(?:\.\d+)?\))?(?::([\s\S]*))?$/.exec(rest.slice(type.length));
    if (found === null) continue;
    return found[1] === undefined ? { type: inverse + type } : { type: inverse + type, value: found[1].trim() };
  }
  return { type: 'equals', value: text };
}

/** One name of a type may begin another one. */
const longestFirst = [...knownAsserts].sort((a, b) => b.length - a.length);

/** A row of a table as a test: names of columns are variables, those that begin with `__` have a meaning. */
export function testOfRow(
  row: Readonly<Record<string, unknown>>,
  where: string,
  losses: Losses,
): Readonly<Record<string, unknown>> {
  const vars: Record<string, string> = {};
  const asserts: unknown[] = [];
  const options: Record<string, string> = {};
  const test: Record<string, unknown> = { vars, assert: asserts, options };
  for (const [column, cell] of Object.entries(row)) {
    const name = column.trim();
    const text = scalarText(cell) ?? '';
    if (/^__expected\d*$/.test(name)) {
      if (text.trim() !== '') asserts.push(assertOfText(text));
    } else if (name === '__prefix' || name === '__suffix') options[name.slice(2)] = text;
    else if (name === '__description') test.description = text;
    else if (name === '__providerOutput') {
      if (text !== '') test.providerOutput = text;
    } else if (name === '__threshold') {
      if (text.trim() !== '' && Number.isFinite(Number(text))) test.threshold = Number(text);
    } else if (name.startsWith('__')) losses.unused(where, `the column ${name}`, 'it says nothing about the task');
    else vars[name] = text;
  }
  return test;
}

/** Is it a row of a table rather than a test? */
export function isRow(entry: unknown): boolean {
  return isRecord(entry) && Object.keys(entry).some((key) => key.startsWith('__expected'));
}
