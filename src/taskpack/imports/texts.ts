/** Is it an object, and no list? */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a value that may be written as a number or a truth value; null for anything else. */
export function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** Words of a text as a name: lower case letters and digits with `-` between them, at most `most` characters. May be empty. */
export function slug(text: string, most = 40): string {
  const words = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  let name = '';
  for (const word of words) {
    if (name !== '' && name.length + 1 + word.length > most) break;
    name = name === '' ? [...word].slice(0, most).join('') : `${name}-${word}`;
  }
  return name;
}
