/** A part of a text: UTF-16 offsets. */
export type Range = { readonly from: number; readonly to: number };

/** How a secret may stand in a text, as a search for its places. `encoded`: in base64, of which all of the word goes. */
export type Spelling = { readonly encoded: boolean; find(text: string): readonly Range[] };

/** The ways to write a value: as it is, as JSON, URLs, HTML and shells write it (also one within another), and base64. */
export function spellingsOf(value: string): readonly Spelling[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((before) => {
    const length = before + bytes.length;
    // What depends on the bytes around the value is left off on both sides.
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor((length * 8) / 6));
  });
  return [
    { encoded: false, find: finder(value, written) },
    ...[...new Set(cores)].map((core) => ({ encoded: true, find: finder(core, writtenBase64) })),
  ];
}

/** Finds a value as it is, and spelled in the ways that `spelling` gives for each of its characters. */
function finder(value: string, spelling: (character: string) => string): (text: string) => readonly Range[] {
  // The longest part that no spelling changes tells cheaply that there is nothing to find.
  const needle = (value.match(/[A-Za-z0-9]+/g) ?? []).reduce((a, b) => (b.length > a.length ? b : a), '');
  const parts = value.match(/\\+|[^\\]/gsu) ?? [];
  const pattern = needle === value ? null : new RegExp(parts.map(spelling).join(''), 'g');
  return (text) => {
    if (!text.includes(needle)) return [];
    if (pattern !== null) return [...text.matchAll(pattern)].map((m) => ({ from: m.index, to: m.index + m[0].length }));
    const found: Range[] = [];
    for (let from = text.indexOf(value); from !== -1; from = text.indexOf(value, from + value.length)) {
      found.push({ from, to: from + value.length });
    }
    return found;
  };
}

const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** A character, or a run of backslashes, as a regular expression of the ways to write it. */
function written(part: string): string {
  if (/^[\w.-]$/.test(part)) return RegExp.escape(part);
  const percent = [...Buffer.from(part)]
    .map((byte) => `%(?:25)?${anyCase(byte.toString(16).padStart(2, '0'))}`)
    .join('');
  if (part.startsWith('\\')) return `(?:\\\\{${part.length},${8 * part.length}}|${percent})`;
  if (part === '\n') return `(?:\\r?\\n|(?:\\\\{1,8}r)?\\\\{1,8}n|(?:%(?:25)?0[dD])?${percent})`;
  const units = part.split('').map((unit) => {
    const hex = anyCase(unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return hex.startsWith('00') ? `\\\\{1,8}(?:u00|x)${hex.slice(2)}` : `\\\\{1,8}u${hex}`;
  });
  const ways = [`\\\\{0,8}${RegExp.escape(part)}`, percent, units.join('')];
  if (part === ' ') ways.push('\\+');
  if (part === '\t') ways.push('\\\\{1,8}t');
  if (part === "'") ways.push("'\\\\{1,2}''", "'\"'\"'");
  if (entities[part] !== undefined) {
    const code = part.charCodeAt(0);
    ways.push(`&(?:${entities[part]}|#0{0,4}${code}|#[xX]0{0,4}${anyCase(code.toString(16))});`);
  }
  return `(?:${ways.join('|')})`;
}

function writtenBase64(part: string): string {
  if (part === '+') return '(?:[+-]|%2[bB])';
  if (part === '/') return '(?:\\\\{0,8}\\/|_|%2[fF])';
  return part;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
