/** One step into a JSON value: a key of an object, or the number of an item, from 0. */
export type JsonStep = string | number;

/** A key without quotes holds none of `.`, `[`, `]` and `"`; one that does stands as `["key"]`. */
const step = /^(?:\.?([^.[\]"]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\])/;

/**
 * The steps of a path such as `a.b[0]` or `["a key.with dots"].b`; a leading `$` stands for the whole value and may be
 * left out. Null = no such path can be.
 */
export function jsonSteps(path: string): readonly JsonStep[] | null {
  let rest = path.replace(/^\$(?=$|[.[])/, '');
  if (rest === '') return path === '$' ? [] : null;
  if (rest.startsWith('.') && path === rest) return null;
  const steps: JsonStep[] = [];
  while (rest !== '') {
    const found = step.exec(rest);
    if (found === null) return null;
    const [whole, key, index, quoted] = found;
    if (steps.length > 0 && key !== undefined && !whole.startsWith('.')) return null;
    if (index !== undefined) steps.push(Number(index));
    else if (quoted === undefined) steps.push(key ?? '');
    else {
      const text = unquoted(quoted);
      if (text === null) return null;
      steps.push(text);
    }
    rest = rest.slice(whole.length);
  }
  return steps;
}

function unquoted(text: string): string | null {
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}
