/** Most characters that are given up on either side of a cut so that no half word stays. */
export const longestWord = 400;

/** What can be given up of a piece of this length: a short piece is not eaten up. */
export function wordRoom(pieceLength: number): number {
  return Math.min(longestWord, Math.floor(pieceLength / 4));
}

/**
 * Where a head that was to end at `end` ends, so that it does not end within a word (a run without blanks): half of a
 * key or password is no longer known for one, and would be kept. At most `most` characters are given up; in a longer
 * run the cut falls behind a quote, comma or bracket if there is one, else in the run. Counts in units of the string;
 * bytes may be given as Latin-1.
 */
export function endOfHead(text: string, end: number, most: number): number {
  if (end <= 0 || end >= text.length || isBlank(text[end])) return end;
  const least = Math.max(0, end - most);
  for (let at = end; at > least; at--) if (isBlank(text[at - 1])) return at;
  for (let at = least + 1; at <= end; at++) if (isBorder(text[at - 1])) return at;
  return least;
}

/** Where a tail that was to start at `start` starts, in the same way. */
export function startOfTail(text: string, start: number, most: number): number {
  if (start <= 0 || start >= text.length || isBlank(text[start - 1])) return start;
  const last = Math.min(text.length, start + most);
  for (let at = start; at < last; at++) if (isBlank(text[at])) return at;
  for (let at = last - 1; at >= start; at--) if (isBorder(text[at])) return at;
  return last;
}

/** The beginning of a text as one line of at most `limit` characters, ending with `…` where something is gone. */
export function shownBeginning(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= limit) return line;
  return `${line.slice(0, endOfHead(line, limit - 1, limit - 1)).trimEnd()}…`.toWellFormed();
}

function isBlank(unit: string | undefined): boolean {
  return unit === ' ' || (unit !== undefined && unit >= '\t' && unit <= '\r');
}

function isBorder(unit: string | undefined): boolean {
  return unit !== undefined && '"\'`,;{}()[]<>|&'.includes(unit);
}
