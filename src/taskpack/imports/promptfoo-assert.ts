import {
  allOf,
  type CheckOrWhy,
  canonical,
  containing,
  containingAll,
  containingAny,
  literal,
  nowhere,
  regexCheck,
} from './patterns.ts';
import { checkOfExpression } from './promptfoo-javascript.ts';
import { scalarText } from './texts.ts';

const JUDGE = 'a judging model would have to decide it';
const PROGRAM = 'it is a program of the other tool; write it as a check with a command';
const SIMILAR = 'it asks for a degree of likeness, which no check of ours measures';
const RUN = 'it looks at how the answer came about (cost, time, calls), not at the answer';
const SYNTAX = 'no check of ours parses this language; a check with a command can';

/** Why an assert of this type has no check of ours; types that may have one are not in it. */
const without: Readonly<Record<string, string>> = {
  ...fill(JUDGE, [
    'agent-rubric',
    'answer-relevance',
    'classifier',
    'context-faithfulness',
    'context-recall',
    'context-relevance',
    'conversation-relevance',
    'factuality',
    'g-eval',
    'guardrails',
    'human',
    'is-refusal',
    'llm-rubric',
    'max-score',
    'model-graded-closedqa',
    'model-graded-factuality',
    'moderation',
    'pi',
    'search-rubric',
    'select-best',
    'trajectory:goal-success',
  ]),
  ...fill(PROGRAM, ['python', 'ruby', 'webhook']),
  ...fill(SIMILAR, ['bleu', 'gleu', 'levenshtein', 'meteor', 'rouge-n', 'similar']),
  ...fill(SIMILAR, ['similar:cosine', 'similar:dot', 'similar:euclidean']),
  ...fill(RUN, ['cost', 'finish-reason', 'latency', 'perplexity', 'perplexity-score', 'skill-used', 'tool-call-f1']),
  ...fill(RUN, ['trace-error-spans', 'trace-span-count', 'trace-span-duration', 'trajectory:step-count']),
  ...fill(RUN, ['trajectory:tool-args-match', 'trajectory:tool-sequence', 'trajectory:tool-used']),
  ...fill(SYNTAX, ['contains-html', 'contains-sql', 'contains-xml', 'is-html', 'is-sql', 'is-xml']),
  ...fill(SYNTAX, ['is-valid-function-call', 'is-valid-openai-function-call', 'is-valid-openai-tools-call']),
  'word-count': 'no check of ours counts words',
};

const carried = [
  'equals',
  'contains',
  'icontains',
  'contains-any',
  'icontains-any',
  'contains-all',
  'icontains-all',
  'regex',
  'starts-with',
  'is-json',
  'contains-json',
  'javascript',
] as const;
type Carried = (typeof carried)[number];

/** Every type of assert that is known, without `not-`. */
export const knownAsserts: ReadonlySet<string> = new Set([...carried, ...Object.keys(without)]);

/** Why asserts of a type can't be checks, whatever their value; null = they may be. */
export function whyNoCheck(type: string): string | null {
  const base = baseOf(type);
  if (Object.hasOwn(without, base)) return without[base] ?? null;
  return isCarried(base) ? null : 'a type of assert that is not known here';
}

function baseOf(type: string): string {
  return type.startsWith('not-') ? type.slice('not-'.length) : type;
}

/**
 * The check that passes for exactly the answers for which the assert does, whose value is rendered already. A regular
 * expression of ours looks at the last 20,000 characters of an answer; `contains` at all of it.
 */
export function checkOfAssert(type: string, value: unknown): CheckOrWhy {
  const inverse = type.startsWith('not-');
  const base = baseOf(type);
  if (!isCarried(base)) return { ok: false, why: whyNoCheck(type) ?? 'it is not known here' };
  switch (base) {
    case 'equals':
      return equals(value, inverse);
    case 'regex': {
      if (typeof value !== 'string' || value === '') return { ok: false, why: 'its value is not a text' };
      const pattern = value.normalize('NFC');
      const direct = regexCheck(pattern);
      return inverse && direct.ok ? regexCheck(nowhere(pattern)) : direct;
    }
    case 'starts-with': {
      if (typeof value !== 'string' || value === '') return { ok: false, why: 'its value is not a text' };
      return regexCheck(inverse ? `^(?!${literal(value)})` : `^${literal(value)}`);
    }
    case 'contains':
    case 'icontains': {
      const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
      if (text === '') return { ok: false, why: 'its value is not a text' };
      const ignoreCase = base === 'icontains';
      return inverse ? regexCheck(nowhere(literal(text)), ignoreCase ? 'i' : '') : containing(text, ignoreCase);
    }
    case 'contains-any':
    case 'icontains-any': {
      const texts = textsOf(value);
      if (texts === null) return { ok: false, why: 'its value is not a list of texts' };
      const ignoreCase = base === 'icontains-any';
      if (!inverse) return containingAny(texts, ignoreCase);
      return regexCheck(nowhere(texts.map(literal).join('|')), ignoreCase ? 'i' : '');
    }
    case 'contains-all':
    case 'icontains-all': {
      const texts = textsOf(value);
      if (texts === null) return { ok: false, why: 'its value is not a list of texts' };
      const ignoreCase = base === 'icontains-all';
      if (!inverse) return containingAll(texts, ignoreCase);
      return regexCheck(`^(?!${allOf(texts)})`, ignoreCase ? 'i' : '');
    }
    case 'javascript': {
      const made = typeof value === 'string' ? checkOfExpression(value, inverse) : null;
      return made ?? { ok: false, why: PROGRAM };
    }
    case 'is-json':
    case 'contains-json':
      return json(base, value, inverse);
    default:
      return base satisfies never;
  }
}

/** JSON of whatever content. A schema can't be said, nor that there is no JSON. */
function json(type: 'is-json' | 'contains-json', schema: unknown, inverse: boolean): CheckOrWhy {
  if (inverse) return { ok: false, why: 'no check of ours asks for no JSON' };
  if (schema !== undefined && schema !== null && schema !== '')
    return { ok: false, why: 'no check of ours holds JSON against a schema; a json-path asks for a value in it' };
  if (type === 'is-json') return { ok: true, check: { json: 'whole' } };
  const changed = 'JSON is looked for in the whole answer, its last fence, or from the first bracket to the last';
  return { ok: true, check: { json: 'anywhere' }, changed };
}

/** Equality of the whole text, as it stands; of JSON where the value is an object or a list. */
function equals(value: unknown, inverse: boolean): CheckOrWhy {
  const text = scalarText(value);
  if (text !== null) return regexCheck(inverse ? `^(?!${literal(text)}$)` : `^${literal(text)}$`);
  if (typeof value !== 'object' || value === null) return { ok: false, why: 'it has no value' };
  if (inverse) return { ok: false, why: 'no check of ours asks for other JSON than this' };
  return {
    ok: true,
    check: { 'json-path': '$', value },
    changed: 'the JSON may also stand in a fence, or in a text around it',
  };
}

/** Texts of a list, or of a text with commas between them; a part in quotes may hold a comma. Null = there are none. */
function textsOf(value: unknown): readonly string[] | null {
  if (typeof value === 'string') return betweenCommas(value);
  if (!Array.isArray(value) || value.length === 0) return null;
  const texts = value.map(scalarText);
  return texts.every((text) => text !== null) ? texts : null;
}

function betweenCommas(value: string): readonly string[] | null {
  const parts: string[] = [];
  const part = /\s*(?:"((?:[^"\\]|\\[\s\S]|"")*)"\s*(?=,|$)|([^",][^,]*))?(?:,|$)/y;
  while (part.lastIndex < value.length) {
    const found = part.exec(value);
    if (found === null) return null;
    const text =
      found[1]?.replace(/\\(["\\])|""/g, (_all, kept: string | undefined) => kept ?? '"') ?? found[2]?.trim();
    if (text !== undefined && text !== '') parts.push(canonical(text));
  }
  return parts.length > 0 ? parts : null;
}

function isCarried(type: string): type is Carried {
  return (carried as readonly string[]).includes(type);
}

function fill(why: string, types: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(types.map((type) => [type, why]));
}
