import { printableName } from '../ports/printable.ts';
import type { Tone } from './theme.ts';

/** A piece of a line, and what it means. */
export type Span = { readonly text: string; readonly tone: Tone };

/** One line of the screen: never wider than what it is fitted to, never with a line break. */
export type Line = readonly Span[];

export const span = (text: string, tone: Tone = 'plain'): Span => ({ text, tone });
export const line = (text: string, tone: Tone = 'plain'): Line => [span(text, tone)];
export const empty: Line = [];

/** Nothing but printable ASCII: a column a character, and nothing to make safe. Most texts are so, and a frame has thousands. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text);
const safeOf = (text: string): string => (isPlain(text) ? text : printableName(text));

/** Columns that a text takes on a terminal. */
export const widthOf = (text: string): number => (isPlain(text) ? text.length : Bun.stringWidth(text));

const graphemes = new Intl.Segmenter();

/** At most `width` columns of a text; what is cut off shows as `…`. Nothing in it can steer the terminal. */
export function cut(text: string, width: number): string {
  const safe = safeOf(text);
  if (widthOf(safe) <= width) return safe;
  if (width <= 0) return '';
  let out = '';
  let used = 0;
  for (const { segment } of graphemes.segment(safe)) {
    const columns = widthOf(segment);
    if (used + columns > width - 1) break;
    out += segment;
    used += columns;
  }
  return `${out}…`;
}

/** Exactly `width` columns: cut or filled up on the right. */
export function pad(text: string, width: number): string {
  const fitted = cut(text, width);
  return fitted + ' '.repeat(Math.max(0, width - widthOf(fitted)));
}

/** Exactly `width` columns, filled up on the left. */
export function padLeft(text: string, width: number): string {
  const fitted = cut(text, width);
  return ' '.repeat(Math.max(0, width - widthOf(fitted))) + fitted;
}

/** Columns of a line. */
export const lineWidth = (l: Line): number => l.reduce((sum, s) => sum + widthOf(safeOf(s.text)), 0);

/** Do two lines look alike? */
export const sameLine = (a: Line, b: Line): boolean =>
  a.length === b.length && a.every((s, at) => s.text === b[at]?.text && s.tone === b[at]?.tone);

/** A line cut to `width` columns. */
export function fit(l: Line, width: number): Line {
  const out: Span[] = [];
  let left = width;
  for (const [at, s] of l.entries()) {
    const safe = safeOf(s.text);
    const columns = widthOf(safe);
    const rest = l.slice(at + 1).some((next) => next.text !== '');
    if (columns < left || (columns === left && !rest)) {
      out.push({ ...s, text: safe });
      left -= columns;
      continue;
    }
    out.push({ ...s, text: columns === left ? cut(`${safe} `, left) : cut(safe, left) });
    break;
  }
  return out;
}

/** A line of exactly `width` columns. */
export function fill(l: Line, width: number): Line {
  const fitted = fit(l, width);
  const missing = width - lineWidth(fitted);
  return missing > 0 ? [...fitted, span(' '.repeat(missing))] : fitted;
}

/** Left and right ends of a line of `width` columns; the right one goes first when there is no room for both. */
export function ends(left: Line, right: Line, width: number): Line {
  const room = width - lineWidth(right) - 1;
  if (room < 8) return fill(left, width);
  return [...fill(left, room), span(' '), ...right];
}

/** Words on lines of at most `width` columns; the second and later ones begin with `indent` blanks. */
export function wrap(text: string, width: number, indent = 0): readonly string[] {
  const safe = safeOf(text);
  if (width < 8 || widthOf(safe) <= width) return [cut(safe, width)];
  const lead = ' '.repeat(Math.min(indent, width - 8));
  return Bun.wrapAnsi(safe, width - lead.length, { hard: true, trim: true })
    .split('\n')
    .map((part, i) => (i === 0 ? part : lead + part));
}

/** A rule with a title: `── feed ─────`. */
export function rule(title: string, width: number, note = ''): Line {
  const head = `── ${title} `;
  const tail = note === '' ? '' : ` ${note} ─`;
  const dashes = Math.max(0, width - widthOf(head) - widthOf(tail));
  return fit([span('── ', 'quiet'), span(title, 'accent'), span(` ${'─'.repeat(dashes)}${tail}`, 'quiet')], width);
}

/** The part of a list that is shown: `height` items from `from` on, clamped so that nothing runs out. */
export function windowed<T>(items: readonly T[], from: number, height: number): readonly T[] {
  const first = Math.max(0, Math.min(from, items.length - height));
  return items.slice(first, first + Math.max(0, height));
}

/** `0:41`, `12:05`, `1:02:09`; seconds of a duration that goes on. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const hours = Math.floor(s / 3600);
  return hours > 0 ? `${hours}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}
