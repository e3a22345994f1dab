/** How the lines of a text end. `mixed` also covers lone carriage returns; `none` = a single line. */
export type LineEndingStyle = 'none' | 'lf' | 'crlf' | 'mixed';

/** Every line end (CRLF, LF, lone CR) as LF: the form in which texts are compared and Markdown is parsed. */
export function toLf(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

export function lineEndingStyle(text: string): LineEndingStyle {
  if (!text.includes('\r')) return text.includes('\n') ? 'lf' : 'none';
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf += 1;
    else lf += 1;
  }
  if (hasLoneCarriageReturn(text)) return 'mixed';
  if (crlf > 0 && lf > 0) return 'mixed';
  if (crlf > 0) return 'crlf';
  return lf > 0 ? 'lf' : 'none';
}

function hasLoneCarriageReturn(text: string): boolean {
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', at + 1)) {
    if (text[at + 1] !== '\n') return true;
  }
  return false;
}

/** Number of lines of an LF text; a final line end does not start another line. */
export function countLines(lfText: string): number {
  if (lfText === '') return 0;
  return countLineFeeds(lfText) + (lfText.endsWith('\n') ? 0 : 1);
}

/** Line feeds before `end`: the number of the line at that offset is one more. */
export function countLineFeeds(text: string, end: number = text.length): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** A lone surrogate or a NUL: such a text cannot be written as UTF-8 text and read back the same. */
export function hasBadCharacters(text: string): boolean {
  return !text.isWellFormed() || text.includes('\0');
}
