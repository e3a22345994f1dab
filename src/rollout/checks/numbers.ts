/** Groups of three digits may be parted by one of these, the same throughout; a blank must be one that does not break. */
const separators = ",'’_\\u00a0\\u2009\\u202f";
/** A run of what a number can be written with, a sign before it. */
const run = new RegExp(`[+\\-−]?(?:\\d|\\.\\d)[\\d.${separators}]*(?:e[+-]?\\d+)?`, 'giu');
const plain = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;
const grouped = new RegExp(`^[+-]?\\d{1,3}(?:([${separators}])\\d{3})(?:\\1\\d{3})*(?:\\.\\d+)?$`, 'u');
const allSeparators = new RegExp(`[${separators}]`, 'gu');
const trailing = new RegExp(`[.${separators}]+$`, 'u');

/** A letter that multiplies: `42k`, `42 M`. Other units (`m`, `g`, `km`) do not. */
const bigLetter = /^\s?[kKMBGT](?![\p{L}\d])/u;
/** What else makes another number of it: `42 million`, `10^5`, `1/2`, `0x2A`, `4x4`. */
const goesOn = /^(?:\s*(?:hundred|thousand|million|billion|trillion|dozen|mio|mrd|bn)\b|\s*\^|\s*\/\s*\d|\p{L}+\d)/iu;
/** A dash apart from its number: a minus, or none. */
const looseDash = /(?:[-−]\s*\(?\s*|–\s*)$/u;
const arrows = /[=-]>|[→⇒]/g;
/** Not the number itself. */
const comparison = /[<>≤≥≠]|!=/;

/**
 * The one number of a piece of text; null where there is none, more than one, or one that can be read in two ways.
 *
 * Read as 1234.5: `1234.5`, `1,234.5`, `1'234.5`, `1_234.5`, `+1234.50`, `1.2345e3`, with any currency sign or unit
 * around it (`$1,234.5`, `1234.5 km`, `1234.5%`: units are not compared). After an `=` or `≈` only what follows the last
 * one counts. Not read: decimal commas (`3,14`), `42k`, `42 million`, fractions, ranges, dates, `< 42`, a minus apart
 * from its number. A digit inside a word (`H2O`, `GPT-4`) is no number.
 */
export function oneNumber(text: string): number | null {
  const direct = text.replace(arrows, ' ');
  if (comparison.test(direct)) return null;
  const piece = direct.slice(Math.max(direct.lastIndexOf('='), direct.lastIndexOf('≈')) + 1);
  const found: (number | null)[] = [];
  for (const match of piece.matchAll(run)) {
    const before = piece.slice(0, match.index);
    const word = match[0].replace(trailing, '');
    const after = piece.slice(match.index + word.length);
    if (/\p{L}[\p{L}\d]*_?$/u.test(before)) continue;
    const isRange = /[\d.)]$/.test(before);
    found.push(
      isRange || looseDash.test(before) || bigLetter.test(after) || goesOn.test(after) ? null : readNumber(word),
    );
  }
  return found.length === 1 ? (found[0] ?? null) : null;
}

function readNumber(word: string): number | null {
  const text = word.replace('−', '-');
  const digits = plain.test(text) ? text : grouped.test(text) ? text.replace(allSeparators, '') : null;
  const value = digits === null ? Number.NaN : Number(digits);
  return Number.isFinite(value) ? value : null;
}

/** Is `value` within the tolerance of `wanted`? The last digits that binary numbers can't hold do not count. */
export function isWithin(value: number, wanted: number, tolerance: number): boolean {
  const noise = tolerance === 0 ? 0 : 8 * Number.EPSILON * Math.max(Math.abs(value), Math.abs(wanted));
  return Math.abs(value - wanted) <= tolerance + noise;
}
