import { jsonSteps } from '../../ports/json-path.ts';
import { fenced } from './answer.ts';

/** The JSON of an answer: the whole of it, else that of its last fence that holds any, else from its first bracket to its last. */
export function jsonOf(text: string): { readonly value: unknown } | null {
  const bracket = /[[{]/.exec(text)?.index;
  const inText =
    bracket === undefined ? [] : [text.slice(bracket, Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1)];
  for (const piece of [text, ...fenced(text).toReversed(), ...inText]) {
    try {
      return { value: JSON.parse(piece) as unknown };
    } catch {
      // the next piece
    }
  }
  return null;
}

/** Is the whole of a text JSON? */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What stands at a path (see `jsonSteps`); null = nothing does. */
export function atPath(value: unknown, path: string): { readonly value: unknown } | null {
  let here = value;
  for (const step of jsonSteps(path.normalize('NFC')) ?? ['']) {
    if (typeof here !== 'object' || here === null) return null;
    if (typeof step === 'number' ? !Array.isArray(here) : Array.isArray(here)) return null;
    if (!Object.hasOwn(here, step)) return null;
    here = (here as Readonly<Record<string | number, unknown>>)[step];
  }
  return { value: here };
}

/** Are two JSON values the same? The order of keys does not count, that of items does. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a.normalize('NFC') === b.normalize('NFC');
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a, b] as Readonly<Record<string, unknown>>[];
  const keys = Object.keys(left ?? {});
  return (
    keys.length === Object.keys(right ?? {}).length &&
    keys.every((key) => Object.hasOwn(right ?? {}, key) && sameJson(left?.[key], right?.[key]))
  );
}
