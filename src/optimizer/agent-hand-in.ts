import { shownBeginning } from '../process/half-words.ts';
import { type ReadHandIn, readHandIn } from './hand-in.ts';
import { type ReadText, type ReplyForm, readReplyText } from './reply-text.ts';

/** A file that is no JSON is looked through, as a reply of a model is, up to this many characters. */
const LONGEST_LOOSE = 50_000;
/** More edits than this are no hand-in: nobody is asked for as many. */
const MOST_EDITS = 100;
/** Longest file whose edits are looked at, in characters: each is tried on the text and held against the tasks. */
const LONGEST = 300_000;

/**
 * Finds the one hand-in in the text of a file: JSON, or what `readReplyText` makes of a short text around it. `form` says
 * of what kind it is.
 */
export function readFileText(text: string, form?: ReplyForm): ReadText {
  if (text.trim() === '') return { ok: false, problem: 'the file is empty' };
  if (text.length > LONGEST)
    return { ok: false, problem: `the file has ${text.length} characters, more than ${LONGEST}` };
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (text.length <= LONGEST_LOOSE) return readReplyText(text, form);
    return { ok: false, problem: `the file is not JSON: ${shownBeginning((error as Error).message, 200)}` };
  }
  if (form === undefined || form.isOne(value)) return { ok: true, value };
  return { ok: false, problem: `the file is no JSON object with "summary" and "${form.keys[0]}"` };
}

/** The edits of a file, each read by itself; or why there are none. */
export function readFileHandIn(text: string): ReadHandIn {
  const read = readFileText(text);
  if (!read.ok) return { problem: read.problem };
  const { edits } = (read.value ?? {}) as { readonly edits?: unknown };
  if (Array.isArray(edits) && edits.length > MOST_EDITS)
    return { problem: `it holds ${edits.length} edits, far more than were asked for` };
  return readHandIn(read.value);
}
