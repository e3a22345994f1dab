/** A JSON object that somebody else has written: nothing of it is taken for granted. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The JSON objects of an output, one a line. Lines end at LF alone: other separators occur within strings. What is no
 * JSON object (a torn last line, a warning between events) is passed over.
 */
export function jsonEvents(output: string): readonly Fields[] {
  const events: Fields[] = [];
  for (const line of output.split('\n')) {
    const value = line.trimStart().startsWith('{') ? parsed(line) : undefined;
    if (isFields(value)) events.push(value);
  }
  return events;
}

/** The first JSON object in a text that goes on to its end or to a line's end; else null. */
export function jsonWithin(text: string): Fields | null {
  const start = text.indexOf('{');
  if (start < 0) return null;
  const rest = text.slice(start);
  const lineEnd = rest.indexOf('\n');
  const pieces = [rest, ...(lineEnd < 0 ? [] : [rest.slice(0, lineEnd)])];
  for (const piece of pieces) {
    const value = parsed(piece.slice(0, piece.lastIndexOf('}') + 1));
    if (isFields(value)) return value;
  }
  return null;
}

/** The value as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text; empty where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a count or an amount; null where it is none. */
export function amountOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** The sum of amounts; null as soon as one is none. */
export function sumOf(...values: readonly unknown[]): number | null {
  let sum: number | null = 0;
  for (const amount of values.map(amountOf)) sum = sum === null || amount === null ? null : sum + amount;
  return sum;
}

/** An exit code as a tool told it; null where it told none. */
export function exitCodeOf(value: unknown): number | null {
  return Number.isInteger(value) ? (value as number) : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
