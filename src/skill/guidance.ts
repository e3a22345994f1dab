import type { Splice, View } from './view.ts';

/** The lines around the guidance: a region at the end of the body that only a slow update writes. */
export const GUIDANCE_BEGIN = '<!-- skillopt:guidance:begin -->';
export const GUIDANCE_END = '<!-- skillopt:guidance:end -->';
/** Most characters of the guidance. */
export const GUIDANCE_CHARACTERS = 2_000;

const MARK = 'skillopt:guidance:';

/** Where the region stands in a text with LF line ends, its marker lines included; offsets are UTF-16 units. */
export type Region = { readonly start: number; readonly end: number };

/**
 * The region in a text from `from` on: both markers once, each on a line of its own, and nothing but blanks behind.
 * `broken` = a marker is there, and no whole region.
 */
export function regionIn(text: string, from: number): Region | 'broken' | null {
  const first = text.indexOf(MARK, from);
  if (first === -1) return null;
  const start = text.indexOf(GUIDANCE_BEGIN, from);
  const last = text.indexOf(`\n${GUIDANCE_END}`, from);
  if (start === -1 || last < start + GUIDANCE_BEGIN.length) return 'broken';
  const end = last + 1 + GUIDANCE_END.length;
  const onOwnLines = (start === 0 || text[start - 1] === '\n') && text[start + GUIDANCE_BEGIN.length] === '\n';
  const inside = text.slice(start + GUIDANCE_BEGIN.length, last);
  const isWhole = onOwnLines && first === text.indexOf(MARK, start) && !inside.includes(MARK);
  return isWhole && text.slice(end).trim() === '' ? { start, end } : 'broken';
}

/** The region of a document's body. */
export function regionOf(view: Pick<View, 'plain' | 'bodyStart'>): Region | 'broken' | null {
  return regionIn(view.plain, view.bodyStart);
}

/** What stands between the markers of a text, without them; empty when there is no whole region. */
export function guidanceIn(text: string): string {
  const region = regionIn(text, 0);
  if (region === null || region === 'broken') return '';
  return text.slice(region.start + GUIDANCE_BEGIN.length, region.end - GUIDANCE_END.length).trim();
}

/** The whole region with this content. */
export function guidanceBlock(content: string): string {
  return `${GUIDANCE_BEGIN}\n${content.trim()}\n${GUIDANCE_END}`;
}

/** Whether a splice brings a marker in: by what it inserts, or by what it joins to what stands around it. */
export function bringsMark(text: string, { start, end, insert }: Splice): boolean {
  const reach = MARK.length - 1; // too short to hold a marker that stands there already
  return holdsMark(text.slice(Math.max(0, start - reach), start) + insert + text.slice(end, end + reach));
}

/** A text that names the markers could open or end a region. */
export function holdsMark(text: string): boolean {
  return text.includes(MARK);
}
