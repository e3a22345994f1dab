import { endOfHead, startOfTail, wordRoom } from '../process/half-words.ts';

/** Below this a text that is cut in the middle says nothing any more. */
const LEAST_PIECE = 40;

/** A text of at most `limit` characters, cut in the middle where it is longer, with a mark that says how much is gone. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const mark = (gone: number) => `\n[… ${gone} characters left out …]\n`;
  const room = limit - mark(text.length).length;
  if (room < LEAST_PIECE) return `[${text.length} characters left out]`.slice(0, Math.max(0, limit));
  const half = Math.floor(room / 2);
  const end = endOfHead(text, half, wordRoom(half));
  const start = startOfTail(text, text.length - (room - half), wordRoom(half));
  return `${text.slice(0, end)}${mark(start - end)}${text.slice(start)}`.toWellFormed();
}

/** How `total` is shared over texts of these sizes: short ones get all they need, long ones the same of what is left. */
export function shares(sizes: readonly number[], total: number): readonly number[] {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = Math.max(0, total);
  for (const [at, size] of ascending.entries()) {
    const most = Math.floor(left / (ascending.length - at));
    if (size > most) return sizes.map((s) => Math.min(s, most));
    left -= size;
  }
  return sizes;
}
