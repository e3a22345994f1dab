/** What is shorter stands in any text. */
const leastChars = 10;
/** Lines of this length and more are taken for the body's own. */
export const distinctiveChars = 24;
/** Read tools cut long lines. */
const mostChars = 200;
const mostLines = 64;
/** Of a body with so many distinctive lines two have to be found: a single line of code stands in many a file. */
const manyLines = 4;

/** The lines of a body by which it is known. Of a long one they come from all its parts: agents show a part at a time. */
export function distinctiveLines(body: string): readonly string[] {
  const lines = [...new Set(body.split(/\r\n|\r|\n/).map(plain))].filter((line) => line.length >= leastChars);
  const long = lines.filter((line) => line.length >= distinctiveChars);
  const known = long.length > 0 ? long : lines;
  const ofPart = Math.max(1, Math.ceil(known.length / mostLines));
  const parts = Array.from({ length: Math.ceil(known.length / ofPart) }, (_, i) =>
    known.slice(i * ofPart, (i + 1) * ofPart),
  );
  return parts
    .flatMap((part) => part.reduce((longest, line) => (line.length > longest.length ? line : longest)))
    .map((line) => line.slice(0, mostChars).trimEnd());
}

/** How many of the lines have to be found for a proof that the body was read. */
export function linesForProof(lines: readonly string[]): number {
  return lines.length >= manyLines ? 2 : 1;
}

const escapes: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
  '#x27': "'",
  '#34': '"',
};

/**
 * A text in the one form in which texts are compared: as it is before it is written into JSON (once or more often), or
 * into XML, and with every run of blanks as one.
 */
export function plain(text: string): string {
  return text
    .replace(/\\+u([0-9a-fA-F]{4})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+[nrtf]/g, ' ')
    .replace(/\\+/g, '')
    .replace(/&(?:amp;)*(lt|gt|quot|apos|#39|#x27|#34);/g, (_whole, name: string) => escapes[name] ?? '')
    .replace(/&(?:amp;)+/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
}
