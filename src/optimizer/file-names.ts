import { shortHash } from '../ports/hash.ts';

/** Characters of an id that stand in a file's name. */
const LONGEST = 80;

/** Files of these names are taken for orders by agents that come upon them. */
const obeyed = /^(?:agents?|claude|codex|gemini|opencode|skill)(?:\.|$)/i;

/**
 * A file name for each id, `ending` behind it: plain characters alone, no two alike, upper and lower case apart, and
 * none that agents obey. An id that is such a name already keeps it.
 */
export function fileNames(ids: readonly string[], ending: string): readonly string[] {
  const plain = ids.map(plainForm);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return ids.map((id, at) => {
    const name = plain[at] ?? '';
    const isOwn = name === id && counts.get(name.toLowerCase()) === 1 && !obeyed.test(name);
    return `${isOwn ? name : `${name}-${shortHash(id, 8)}`}${ending}`;
  });
}

function plainForm(id: string): string {
  const name = id
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(0, LONGEST);
  return name === '' ? 'task' : name;
}
