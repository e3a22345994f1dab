/** Most of an answer that is searched by a regular expression or for a number, in UTF-16 units: of a longer one the end, where results stand. */
export const maxSearched = 20_000;

/** Signs of Markdown that may stand before a line's words: quotes, headings, list signs, emphasis, code. */
const signs = '[>#*_`~\\s-]{0,20}?';

/** The answer as every check sees it: canonical characters and plain line ends. */
export function plainAnswer(answer: string): string {
  return answer.normalize('NFC').replace(/\r\n?/g, '\n');
}

/**
 * What follows `after` on the last line that begins with it; signs of Markdown before it (`**ANSWER:** 42`) and the
 * emphasis that it closes do not count. Null = no line begins with it. With `toEnd` all that follows it, further lines
 * too.
 */
export function partAfter(answer: string, after: string, toEnd: boolean): string | null {
  const wanted = after.normalize('NFC');
  const begins = new RegExp(`^${signs}${RegExp.escape(wanted)}`);
  const lines = answer.split('\n');
  const at = lines.findLastIndex((line) => begins.test(line));
  const line = lines[at];
  if (line === undefined) return null;
  const opening = begins.exec(line)?.[0] ?? '';
  const closed = /[*_]+(?=\S*$)/.exec(opening.slice(0, opening.length - wanted.length))?.[0] ?? '';
  const rest = line.slice(opening.length);
  const part = withoutClosing(rest, closed);
  return toEnd ? [part, ...lines.slice(at + 1)].join('\n') : part;
}

/** The emphasis that was opened before the marker ends right behind it, or with the line. */
function withoutClosing(rest: string, closed: string): string {
  if (closed === '') return rest;
  if (rest.startsWith(closed)) return rest.slice(closed.length);
  const end = rest.trimEnd();
  return end.endsWith(closed) ? end.slice(0, -closed.length) : rest;
}

/** A text without the fence that is around the whole of it; null = there is none. */
export function withoutFence(text: string): string | null {
  return /^(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?[ \t]*\1\s*$/.exec(text.trim())?.[2] ?? null;
}

/** What stands in the fences of a text, in their order; one that is not closed is none. */
export function fenced(text: string): readonly string[] {
  const found: string[] = [];
  let open: { readonly fence: string; readonly lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const fence = /^\s{0,8}(`{3,}|~{3,})/.exec(line)?.[1];
    if (open === null) {
      if (fence !== undefined) open = { fence, lines: [] };
    } else if (fence?.startsWith(open.fence) && line.trim() === fence) {
      found.push(open.lines.join('\n'));
      open = null;
    } else open.lines.push(line);
  }
  return found;
}
