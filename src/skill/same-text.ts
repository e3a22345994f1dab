import { toLf } from './lines.ts';

/**
 * True when the two texts differ in nothing but line ends, blanks at the end of lines, and blanks at the end. What
 * they begin with alike is passed over, so that an edited text costs little more than the way to its first change.
 */
export function sameText(a: string, b: string): boolean {
  if (a === b) return true;
  const from = firstChangedLine(a, b);
  return sameLines(toLf(a.slice(from)), toLf(b.slice(from)));
}

/** Line by line, up to the first that differs. */
function sameLines(a: string, b: string): boolean {
  for (let atA = 0, atB = 0; atA <= a.length || atB <= b.length; ) {
    const endA = lineEnd(a, atA);
    const endB = lineEnd(b, atB);
    if (a.slice(atA, endA).trimEnd() !== b.slice(atB, endB).trimEnd()) return false;
    atA = endA + 1;
    atB = endB + 1;
  }
  return true;
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? Math.max(text.length, from) : at;
}

/** Characters that are compared at a time, at first and at last. */
const PIECES = [1 << 16, 1 << 13, 1 << 10, 1 << 7];

/** Start of a line before which the texts do not differ: behind a line feed, or 0. */
function firstChangedLine(a: string, b: string): number {
  let at = 0;
  for (const piece of PIECES)
    while (at + piece <= Math.min(a.length, b.length) && a.startsWith(b.slice(at, at + piece), at)) at += piece;
  return at === 0 ? 0 : a.lastIndexOf('\n', at - 1) + 1;
}
