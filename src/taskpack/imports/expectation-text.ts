import { jsonSteps } from '../../ports/json-path.ts';
import { type CheckOrWhy, containing, literal, nowhere, regexCheck } from './patterns.ts';
import { checkOfAssert } from './promptfoo-assert.ts';
import { isRecord, scalarText } from './texts.ts';

/** A text between quotes of one kind, and nothing else. */
const quoted = '(?:"([^"]+)"|\'([^\']+)\'|`([^`]+)`|“([^”]+)”|‘([^’]+)’)';
const subject = '(?:the\\s+)?(?:final\\s+)?(?:output|answer|response|reply)';
const noun =
  '(?:(?:the|an?)\\s+)?(?:(?:exact|literal)\\s+)?(?:(?:text|string|word|words|phrase|line|value|token)\\s+)?';

const says = (verb: string, what = `${noun}${quoted}`) => new RegExp(`^${subject}\\s+${verb}\\s+${what}\\s*\\.?$`, 'i');
const contains = says('(?:contains?|includes?)');
const containsNot = says("(?:(?:does|must|should)\\s+not|doesn't)\\s+(?:contain|include)".replace("'", "['’]"));
const begins = says('(?:starts?|begins?)\\s+with');
const ends = says('ends?\\s+with');
const exactly = says('(?:is|equals?)\\s+exactly');
const matches = says(
  '(?:matches|fits)',
  '(?:the\\s+)?(?:regex|regular\\s+expression|pattern)?\\s*(?:`([^`]+)`|/(.+)/)',
);

/**
 * The check of a statement about the answer. Only what says a text word for word, in quotes and in a plain sentence
 * (`The output contains "TOTAL: 42"`), or an object with a type and a value, becomes one: everything else needs a judge.
 */
export function checkOfExpectation(given: unknown): CheckOrWhy {
  if (isRecord(given)) return ofObject(given);
  if (typeof given !== 'string') return { ok: false, why: 'it is no text' };
  const text = given.trim().replace(/\s+/g, ' ');
  const value = (form: RegExp) =>
    form
      .exec(text)
      ?.slice(1)
      .find((part) => part !== undefined) ?? null;
  const inside = value(contains);
  if (inside !== null) return containing(inside, false);
  const outside = value(containsNot);
  if (outside !== null) return regexCheck(nowhere(literal(outside)));
  const start = value(begins);
  if (start !== null) return regexCheck(`^\\s*${literal(start)}`);
  const end = value(ends);
  if (end !== null) return regexCheck(`${literal(end)}\\s*$`);
  const whole = value(exactly);
  if (whole !== null) return { ok: true, check: { equals: whole } };
  const pattern = value(matches);
  if (pattern !== null) return regexCheck(pattern);
  return { ok: false, why: JUDGE };
}

const JUDGE = 'a judge would have to decide it; write it as a check if it can be told from the answer’s text';

/** Names that are in use for the same thing. */
const sameAs: Readonly<Record<string, string>> = {
  exact: 'equals',
  'exact-match': 'equals',
  matches: 'regex',
  pattern: 'regex',
  'contains-text': 'contains',
  'does-not-contain': 'not-contains',
};

/** An assertion with a type: the types are those of other tools, with `_` or `-`. */
function ofObject(given: Readonly<Record<string, unknown>>): CheckOrWhy {
  const named = scalarText(given.type ?? given.check)
    ?.toLowerCase()
    .replaceAll('_', '-');
  if (named === undefined) {
    const text = given.text ?? given.assertion ?? given.expectation ?? given.description;
    return typeof text === 'string' ? checkOfExpectation(text) : { ok: false, why: 'it has neither a type nor a text' };
  }
  const type = sameAs[named] ?? named;
  const value = given.value ?? given.pattern ?? given.expected;
  const path = scalarText(given.path ?? given.json_path);
  if (type === 'json-path' || type === 'jsonpath') {
    if (path === null || value === undefined) return { ok: false, why: 'it has no path, or no value' };
    if (jsonSteps(path) === null) return { ok: false, why: 'its path is of a form that checks do not have, as a.b[0]' };
    return { ok: true, check: { 'json-path': path, value } };
  }
  return checkOfAssert(type, value);
}
