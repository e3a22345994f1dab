type Span = { readonly key: string; readonly start: number; readonly end: number };
type JsonObject = { readonly members: readonly Span[]; readonly close: number };

/**
 * The text of a JSON object with one value set: where the member stands (all of them, should it stand there more than
 * once), else at the object's end. Every other byte stays as it is, numbers beyond the precision of this program too.
 * `text` has to be valid JSON; what lies on the way and is no object is replaced by one.
 */
export function setIn(text: string, path: readonly [string, ...string[]], value: unknown): string {
  const [key, ...rest] = path;
  const { members, close } = objectIn(text);
  const inner = (old: string): string => {
    if (rest.length === 0) return JSON.stringify(value);
    const object = old.startsWith('{') ? old : '{}';
    return setIn(object, rest as unknown as [string, ...string[]], value);
  };
  const found = members.filter((m) => m.key === key);
  if (found.length === 0) {
    const comma = members.length === 0 ? '' : ',';
    return `${text.slice(0, close)}${comma}${JSON.stringify(key)}:${inner('{}')}${text.slice(close)}`;
  }
  return found.reduceRight(
    (t, { start, end }) => t.slice(0, start) + inner(text.slice(start, end)) + t.slice(end),
    text,
  );
}

function objectIn(text: string): JsonObject {
  const members: Span[] = [];
  let at = skipBlanks(text, 0) + 1;
  for (;;) {
    at = skipBlanks(text, at);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
    if (text[at] !== '"') return { members, close: at };
    const keyEnd = skipString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    // behind the colon
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    at = skipValue(text, start);
    members.push({ key, start, end: at });
  }
}

function skipBlanks(text: string, at: number): number {
  let i = at;
  while (i < text.length && ' \t\r\n'.includes(text.charAt(i))) i++;
  return i;
}

/** The index behind the string that begins at `at`. */
function skipString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** The index behind the value that begins at `at`. */
function skipValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return skipString(text, at);
  const marks = first === '{' || first === '[' ? /["{}[\]]/g : /[,}\]\s]|$/g;
  marks.lastIndex = at;
  if (first !== '{' && first !== '[') return marks.exec(text)?.index ?? text.length;
  let depth = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = skipString(text, mark.index);
    else depth += mark[0] === '{' || mark[0] === '[' ? 1 : -1;
    if (depth === 0) return mark.index + 1;
  }
  return text.length;
}
