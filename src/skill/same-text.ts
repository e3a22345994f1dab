import { toLf } from './lines.ts';

/**
 * True when the two texts differ in nothing but line ends, blanks at the end of lines, and blanks at the end. What
 * they begin with alike is passed over, so that an edited text costs little more than the way to its first change.
 */
export function sameText(a: string, b: string): boolean {
  if (a === b) return true;
  const from = firstChangedLine(a, b);
  const linesOfA = toLf(a.slice(from)).split('\n');
  const linesOfB = toLf(b.slice(from)).split('\n');
  const most = Math.max(linesOfA.length, linesOfB.length);
  for (let line = 0; line < most; line++)
    if ((linesOfA[line] ?? '').trimEnd() !== (linesOfB[line] ?? '').trimEnd()) return false;
  return true;
}

/** Characters that are compared at a time. */
const PIECE = 512;

/** Start of a line before which the texts do not differ: behind a line feed, or 0. */
function firstChangedLine(a: string, b: string): number {
  let at = 0;
  while (at + PIECE <= a.length && a.startsWith(b.slice(at, at + PIECE), at)) at += PIECE;
  at = Math.min(at, b.length);
  return at === 0 ? 0 : a.lastIndexOf('\n', at - 1) + 1;
}
