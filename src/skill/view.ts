import { isProblem, layoutOf } from './frontmatter.ts';
import { countLineFeeds, hasBadCharacters, toLf } from './lines.ts';
import { type Blocks, parseBlocks } from './markdown.ts';
import { sameText } from './same-text.ts';
import { eitherSigns, type Signs, signsOf } from './signs.ts';

/**
 * A SKILL.md with all line ends as LF, and the way back to the original. Targets are matched and spans are planned on
 * `plain`; offsets are UTF-16 units into it, lines count from 0 in the whole file.
 */
export type View = {
  readonly original: string;
  readonly plain: string;
  /** The original up to the body, byte order mark included. */
  readonly head: string;
  /** No CR stands in it, so that `plain` is the original. */
  readonly onlyLf: boolean;
  /** Where the body starts. */
  readonly bodyStart: number;
  readonly bodyLine: number;
  readonly lineCount: number;
  /** Length of the body, and whether it ends with a line end: told without touching a text that was just put together. */
  readonly bodyLength: number;
  readonly endsInLf: boolean;
  // functions: worked out at the first call, since most texts are looked at once and need none of them
  readonly lineStarts: () => readonly number[];
  /** Offsets of those LFs that stand for CRLF, ascending. */
  readonly crlfEnds: () => readonly number[];
  /** The body's Markdown blocks. */
  readonly blocks: () => Blocks;
  /** What the body may hold. */
  readonly signs: Signs;
  /** Blanks at most stand in the body. */
  readonly isBlank: () => boolean;
};

/** Null when the text has no frontmatter that is closed. */
export function viewOf(original: string): View | null {
  const layout = layoutOf(original);
  if (isProblem(layout)) return null;
  const plain = toLf(original);
  const bodyStart = toLf(original.slice(0, layout.body.start)).length;
  const bodyLine = countLineFeeds(plain, bodyStart);
  const lineCount = countLineFeeds(plain) + 1;
  const body = plain.slice(bodyStart);
  return newView({
    original,
    plain,
    head: original.slice(0, layout.body.start),
    onlyLf: plain === original,
    bodyStart,
    bodyLine,
    lineCount,
    bodyLength: body.length,
    endsInLf: plain.endsWith('\n'),
    signs: { ...signsOf(body), badCharacters: hasBadCharacters(original) },
    isBlank: () => body.trim() === '',
  });
}

function newView(facts: Omit<View, 'lineStarts' | 'crlfEnds' | 'blocks'>): View {
  const { original, plain, onlyLf, bodyStart } = facts;
  return {
    ...facts,
    lineStarts: once(() => lineStartsOf(plain)),
    crlfEnds: once(() => (onlyLf ? [] : crlfEndsOf(original))),
    blocks: once(() => parseBlocks(plain.slice(bodyStart))),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A text after a change of its body, with its view. */
export type Edited = { readonly text: string; readonly view: View | null };

/**
 * Carries a splice out. Of a text with LF alone only the changed lines are looked at, and the new one need not even be
 * written out: screening looks at every edit of a session in this way, and many are never tried.
 */
export function edited(view: View, splice: Splice): Edited {
  const text = spliced(view, splice);
  if (!view.onlyLf) return { text, view: viewOf(text) };
  const { plain, head, bodyStart, bodyLine } = view;
  const { start, end, insert } = splice;
  const changed =
    plain.slice(lineStartBefore(plain, start), start) + insert + plain.slice(end, lineEndAfter(plain, end));
  return {
    text,
    view: newView({
      original: text,
      plain: text,
      head,
      onlyLf: true,
      bodyStart,
      bodyLine,
      lineCount: view.lineCount + countLineFeeds(insert) - countLineFeeds(plain.slice(start, end)),
      bodyLength: view.bodyLength + insert.length - (end - start),
      endsInLf: end < plain.length ? view.endsInLf : (plain.slice(0, start).slice(-1) + insert).endsWith('\n'),
      signs: eitherSigns(view.signs, signsOf(changed)),
      isBlank: () => insert.trim() === '' && text.slice(bodyStart).trim() === '',
    }),
  };
}

/** Does a splice change nothing but trailing blanks? */
export function changesNothing({ plain }: View, { start, end, insert }: Splice): boolean {
  const from = lineStartBefore(plain, start);
  return sameText(plain.slice(from), plain.slice(from, start) + insert + plain.slice(end));
}

function lineStartBefore(plain: string, offset: number): number {
  return offset === 0 ? 0 : plain.lastIndexOf('\n', offset - 1) + 1;
}

function lineEndAfter(plain: string, offset: number): number {
  const at = plain.indexOf('\n', offset);
  return at === -1 ? plain.length : at;
}

/** The line that holds the character at `offset`, without its line end; a line end belongs to the line that it ends. */
export function lineTextAt({ plain }: View, offset: number): string {
  return plain.slice(lineStartBefore(plain, offset), lineEndAfter(plain, offset));
}

export function bodyOf(view: View): string {
  return view.plain.slice(view.bodyStart);
}

function lineStartsOf(plain: string): number[] {
  const starts = [0];
  for (let at = plain.indexOf('\n'); at !== -1; at = plain.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function crlfEndsOf(original: string): number[] {
  const ends: number[] = [];
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2)) ends.push(at - ends.length);
  return ends;
}

/** How many of the ascending `values` are below `limit`. */
function countBelow(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The line that holds the character at `offset`; a line end belongs to the line that it ends. */
export function lineAt(view: View, offset: number): number {
  return countBelow(view.lineStarts(), offset + 1) - 1;
}

/** Start of a line; the end of the text for a line past the last. */
export function startOfLine(view: View, line: number): number {
  return line >= view.lineCount ? view.plain.length : (view.lineStarts()[line] ?? view.plain.length);
}

/** Offset behind the last character of a line, before its line end. */
export function endOfLine(view: View, line: number): number {
  const next = view.lineStarts()[line + 1];
  return next === undefined ? view.plain.length : next - 1;
}

export function lineText(view: View, line: number): string {
  return view.plain.slice(startOfLine(view, line), endOfLine(view, line));
}

/** All places where `target` (LF line ends, not empty) occurs from `from` on, overlapping ones included. */
export function occurrences(view: View, target: string, from: number): readonly number[] {
  const found: number[] = [];
  for (let at = view.plain.indexOf(target, from); at !== -1; at = view.plain.indexOf(target, at + 1)) found.push(at);
  return found;
}

/** A change of a view: what stands from `start` to `end` is replaced by `insert` (LF line ends). */
export type Splice = { readonly start: number; readonly end: number; readonly insert: string };

/** Carries a splice out on the original: nothing outside the span changes; new lines end like those around it. */
export function spliced(view: View, splice: Splice): string {
  const insert =
    view.crlfEnds().length > 0 && splice.insert.includes('\n')
      ? splice.insert.replaceAll('\n', lineEndAround(view, splice))
      : splice.insert;
  return (
    view.original.slice(0, toOriginal(view, splice.start)) + insert + view.original.slice(toOriginal(view, splice.end))
  );
}

function toOriginal(view: View, offset: number): number {
  return offset + countBelow(view.crlfEnds(), offset);
}

/** The line end of the lines around a span, the ones beside it included: the more frequent, else that of the document. */
function lineEndAround(view: View, { start, end }: Splice): '\n' | '\r\n' {
  const from = startOfLine(view, Math.max(lineAt(view, start) - 1, 0));
  const to = startOfLine(view, lineAt(view, end) + 2);
  return moreFrequent(view, from, to) ?? moreFrequent(view, 0, view.plain.length) ?? '\n';
}

function moreFrequent(view: View, from: number, to: number): '\n' | '\r\n' | null {
  const crlf = countBelow(view.crlfEnds(), to) - countBelow(view.crlfEnds(), from);
  const all = countBelow(view.lineStarts(), to + 1) - countBelow(view.lineStarts(), from + 1);
  if (crlf * 2 === all) return null;
  return crlf * 2 > all ? '\r\n' : '\n';
}
