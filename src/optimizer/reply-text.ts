import { isHandIn } from './hand-in.ts';
import { objectAt } from './json-text.ts';

/** A hand-in found in the text of a reply, not yet checked; or why there is none that can be relied on. */
export type ReadText =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** What is looked for in a reply: an object that is one, and the keys by which one that is cut is known. */
export type ReplyForm = { readonly isOne: (value: unknown) => boolean; readonly keys: readonly [string, string] };

const handInForm: ReplyForm = { isOne: isHandIn, keys: ['edits', 'summary'] };

/** Braces that nothing closes: with more of them a reply is noise, and takes long to look through. */
const MOST_CUT = 20;
/** Characters of objects that are none, nested ones counted anew: beyond them, the same. */
const MOST_BROKEN = 1_000_000;

/**
 * Finds the one hand-in in the text of a reply: a JSON object with a list of edits, or of another form, with or without a fence or prose
 * around it. Closed thoughts are passed over. An object that does not end, thoughts that do not end, and two hand-ins
 * that differ are none.
 */
export function readReplyText(reply: string, form = handInForm): ReadText {
  if (reply.trim() === '') return problem('the reply is empty');
  const closed = /<\/(?:think|thinking)>/.exec(reply);
  if (closed === null || /<(?:think|thinking)>/.test(reply.slice(0, closed.index))) return scan(reply, 0, form);
  // thoughts that the server opened and the model closed, or the word in a text of the hand-in itself
  const after = scan(reply.slice(closed.index + closed[0].length), 0, form);
  return after.ok ? after : scan(reply, closed.index, form);
}

/** Objects that end before `from` are passed over. */
function scan(text: string, from: number, { isOne, keys }: ReplyForm): ReadText {
  const start = new RegExp(`^\\{[^{}]*"(?:${keys.join('|')})"\\s*:`);
  const found: unknown[] = [];
  let broken: string | null = null;
  let misses = 0;
  let inVain = 0;
  for (let at = nextStart(text, 0); at !== -1; ) {
    const thought = thoughtAt(text, at);
    if (thought === 'unclosed' && broken === null) return problem('the reply ends within its thoughts');
    if (thought !== null) {
      at = nextStart(text, thought === 'unclosed' ? at + 1 : thought);
      continue;
    }
    const object = objectAt(text, at);
    if (object.kind === 'cut' && start.test(text.slice(at)))
      return problem(
        'the reply ends before its JSON object does, or a quotation mark inside a text is not written \\"',
      );
    if (object.kind === 'cut' && ++misses > MOST_CUT) return problem('it is full of braces that nothing closes');
    if (object.kind === 'broken') {
      broken ??= object.problem;
      inVain += object.end - at;
      if (inVain > MOST_BROKEN) return problem(`the JSON object can't be read: ${broken}`);
    }
    if (object.kind === 'whole' && object.end > from && isOne(object.value)) found.push(object.value);
    at = nextStart(text, object.kind === 'whole' ? object.end : at + 1);
  }
  const [first, ...others] = found;
  if (first === undefined)
    return problem(
      broken === null
        ? `there is no JSON object with "summary" and "${keys[0]}" in the reply`
        : `the JSON object can't be read: ${broken}`,
    );
  if (others.some((o) => JSON.stringify(o) !== JSON.stringify(first)))
    return problem('there are two hand-ins in the reply, and they differ');
  return { ok: true, value: first };
}

function problem(text: string): ReadText {
  return { ok: false, problem: text };
}

/** Where the next object or thought may start; a brace counts only before a key, a comment or its end. */
function nextStart(text: string, from: number): number {
  const starts = /\{(?=\s*(?:["}/]|$))|<(?:think|thinking)>/g;
  starts.lastIndex = from;
  return starts.exec(text)?.index ?? -1;
}

/** Behind a thought that starts here; null = none does. */
function thoughtAt(text: string, at: number): number | 'unclosed' | null {
  const name = ['think', 'thinking'].find((n) => text.startsWith(`<${n}>`, at));
  if (name === undefined) return null;
  const end = text.indexOf(`</${name}>`, at);
  return end === -1 ? 'unclosed' : end + name.length + 3;
}
