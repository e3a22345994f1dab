/** An object of JSON at a place of a text: whole, cut off by the end of the text, or none. `end` = behind what was read. */
export type FoundObject =
  | { readonly kind: 'whole'; readonly value: unknown; readonly end: number }
  | { readonly kind: 'broken'; readonly problem: string; readonly end: number }
  | { readonly kind: 'cut' };

/**
 * Reads the JSON object that starts at `start`. What can't change a meaning is passed over: trailing commas, comments
 * outside of texts, and line breaks that were not written as `\n`. Everything else has to be JSON.
 */
export function objectAt(text: string, start: number): FoundObject {
  const open: string[] = [];
  const json: string[] = [];
  let comma = -1; // the last thing that is no blank, where it is a comma
  for (let at = start; at < text.length; ) {
    const c = text[at]!;
    if (c === '"') {
      const end = endOfString(text, at);
      if (end === -1) return { kind: 'cut' };
      json.push(withoutRawControls(text.slice(at, end)));
      comma = -1;
      at = end;
      continue;
    }
    const skipped = c === '/' ? endOfComment(text, at) : at;
    if (skipped !== at) {
      at = skipped;
      continue;
    }
    if (c === '{' || c === '[') open.push(c === '{' ? '}' : ']');
    if (c === '}' || c === ']') {
      if (open.pop() !== c) return { kind: 'broken', problem: `a ${c} closes what was not opened`, end: at + 1 };
      if (comma !== -1) json[comma] = '';
    }
    if (c.trim() !== '') comma = c === ',' ? json.length : -1;
    json.push(c);
    at += 1;
    if (open.length === 0) return parsed(json.join(''), at);
  }
  return { kind: 'cut' };
}

function parsed(json: string, end: number): FoundObject {
  try {
    return { kind: 'whole', value: JSON.parse(json), end };
  } catch (error) {
    return { kind: 'broken', problem: (error as Error).message, end };
  }
}

/** Behind the closing quote, or -1 when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

/** Behind a comment that starts here; the same place when none does. */
function endOfComment(text: string, at: number): number {
  if (text.startsWith('//', at)) {
    const end = text.indexOf('\n', at);
    return end === -1 ? text.length : end;
  }
  if (!text.startsWith('/*', at)) return at;
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? text.length : end + 2;
}

function withoutRawControls(string: string): string {
  const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return string.replace(/[\n\r\t]/g, (c) => named[c]!);
}
