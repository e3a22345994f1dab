import { lineText, type View } from './view.ts';

const MOST_LINES_SHOWN = 6;
const SIMILAR_LINES_SHOWN = 3;
const LONGEST_LINE_SHOWN = 200;
const LONGEST_LINE_COMPARED = 400;
/** Below this share of common letter pairs two lines have nothing to do with each other. */
const LEAST_SIMILARITY = 0.4;

/** A line with its number (from 1 in the whole file), cut when it is very long. */
export function quotedLine(view: View, line: number): string {
  const text = lineText(view, line);
  const letters = [...text.slice(0, 2 * LONGEST_LINE_SHOWN)];
  const shown = letters.length > LONGEST_LINE_SHOWN ? `${letters.slice(0, LONGEST_LINE_SHOWN).join('')} […]` : text;
  return `${line + 1}| ${shown}`;
}

/**
 * The body's lines that resemble a target which was not found, quoted with their numbers: for a target of several
 * lines the block where its longest line fits best, else the three most similar lines.
 */
export function nearestLines(view: View, target: string): string {
  const wanted = target.split('\n');
  const anchor = wanted.reduce((best, line, at) => (line.trim().length > wanted[best]!.trim().length ? at : best), 0);
  const pairs = letterPairs(wanted[anchor]!);
  const lastLine = view.lineCount - 1;
  const ranked: { line: number; similarity: number }[] = [];
  for (let line = view.bodyLine; line <= lastLine; line += 1) {
    const similarity = similarityOf(pairs, letterPairs(lineText(view, line)));
    if (similarity >= LEAST_SIMILARITY) ranked.push({ line, similarity });
  }
  ranked.sort((a, b) => b.similarity - a.similarity || a.line - b.line);
  const best = ranked[0];
  if (best === undefined) return 'no line of the body resembles it';
  let shown: number[];
  if (wanted.length > 1) {
    const first = Math.max(best.line - anchor, view.bodyLine);
    const count = Math.min(wanted.length, MOST_LINES_SHOWN, lastLine - first + 1);
    shown = Array.from({ length: count }, (_, at) => first + at);
    if (!shown.includes(best.line)) shown = [best.line];
  } else {
    shown = ranked.slice(0, SIMILAR_LINES_SHOWN).map((r) => r.line);
    shown.sort((a, b) => a - b);
  }
  return `the nearest lines are:\n${shown.map((line) => quotedLine(view, line)).join('\n')}`;
}

/** Pairs of neighbouring characters (as one number), with their counts; case and runs of blanks do not matter. */
function letterPairs(line: string): ReadonlyMap<number, number> {
  const text = ` ${line.slice(0, LONGEST_LINE_COMPARED).trim().toLowerCase().replace(/\s+/g, ' ')} `;
  const pairs = new Map<number, number>();
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Dice's coefficient: 1 = the same pairs, 0 = none in common. */
function similarityOf(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): number {
  let common = 0;
  let all = 0;
  for (const [pair, count] of a) {
    common += Math.min(count, b.get(pair) ?? 0);
    all += count;
  }
  for (const count of b.values()) all += count;
  return (2 * common) / all;
}
