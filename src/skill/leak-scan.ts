import type { LeakMaterial, LeakOf } from '../ports/leak.ts';
import { applyEdit } from './edits.ts';
import { type LeakIndex, LeakIndexBuilder, type LeakKind, PATTERN_START } from './leak-index.ts';
import { windowKey, windowLengths } from './leak-windows.ts';
import { harborPathsIn, literalsOf, squeezed, wordsOf } from './leak-words.ts';
import { countLineFeeds, toLf } from './lines.ts';

/**
 * Looks for what tasks know and a skill may not carry: names of tasks, paths, expected values, patterns, and long
 * quotes of verifiers, solutions and instructions. What stands in the seed or in the text before the edit is never a
 * leak; what an edit completes together with the lines around it is one. The sentence names the place in the edit and
 * what it is, never the task and never the value: it goes back to the optimizer.
 *
 * What can't be told from ordinary words is not looked for: answers of one or two words, small numbers, and stretches
 * of code that say no more than any program does. Two edits of one round that complete a leak between them are not
 * found either, since each is held against the same draft.
 */
export function leakScanner(material: LeakMaterial, seedText: string): LeakOf {
  const builder = new LeakIndexBuilder(seedText);
  for (const task of material.tasks) builder.add(task);
  return scannerOf(builder.finish(material.paths), seedText);
}

/** `leakScanner` for an index that was built before, of the same seed; `apply` is how its edits are applied. */
export function scannerOf(index: LeakIndex, seedText: string, apply = applyEdit): LeakOf {
  const inSeed = keysOf(index, toLf(seedText));
  let last: { readonly text: string; readonly keys: ReadonlySet<string | number> } | null = null;
  return (edit, text) => {
    if (last?.text !== text) last = { text, keys: keysOf(index, toLf(text)) };
    const { keys } = last;
    const applied = apply(text, edit);
    const content = toLf(edit.content);
    const after = applied.ok ? toLf(applied.text) : content;
    const change = applied.ok ? changeOf(toLf(text), after) : { from: 0, to: content.length };
    const slice = linesAround(after, change);
    const news = hits(index, after.slice(slice.from, slice.to)).filter((h) => !inSeed.has(h.key) && !keys.has(h.key));
    const first = news.reduce<Hit | null>((a, b) => (a === null || b.from < a.from ? b : a), null);
    if (first === null) return null;
    return sentence(first.kind, placeOf(content, after, change.from, first.from + slice.from, first.to + slice.from));
  };
}

type Hit = { readonly kind: LeakKind; readonly key: string | number; readonly from: number; readonly to: number };

const keysOf = (index: LeakIndex, text: string): ReadonlySet<string | number> =>
  new Set(hits(index, text).map((h) => h.key));

/** Everything of the index that stands in a text. */
function hits(index: LeakIndex, text: string): readonly Hit[] {
  return [
    ...windowHits(index, text),
    ...literalHits(index, text),
    ...patternHits(index, text),
    ...pathHits(index, text),
  ];
}

function* windowHits({ vocabulary, windows }: LeakIndex, text: string): Iterable<Hit> {
  const words = wordsOf(text);
  const ids = words.map((w) => vocabulary.idOf(w.text));
  // from the end: up to which word the words are known to the tasks
  let known = ids.length;
  for (let from = ids.length - 1; from >= 0; from--) {
    if (ids[from] === 0) known = from;
    for (const length of windowLengths) {
      if (from + length > known) break;
      const key = windowKey(ids, from, length);
      const kind = windows.get(key);
      if (kind !== undefined) yield { kind, key, from: words[from]!.from, to: words[from + length - 1]!.to };
    }
  }
}

function* literalHits({ literals }: LeakIndex, text: string): Iterable<Hit> {
  for (const { text: literal, from, to } of literalsOf(text)) {
    const kind = literals.get(literal);
    if (kind !== undefined) yield { kind, key: `literal ${literal}`, from, to };
  }
}

function* patternHits({ patterns }: LeakIndex, text: string): Iterable<Hit> {
  if (patterns.size === 0) return;
  const { text: bare, at } = squeezed(text);
  for (let i = 0; i + PATTERN_START <= bare.length; i++) {
    for (const needle of patterns.get(bare.slice(i, i + PATTERN_START)) ?? []) {
      if (bare.startsWith(needle, i))
        yield { kind: 'pattern', key: `pattern ${needle}`, from: at[i]!, to: at[i + needle.length - 1]! + 1 };
    }
  }
}

function* pathHits({ paths, shownPaths }: LeakIndex, text: string): Iterable<Hit> {
  for (const path of paths)
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1))
      if (path.endsWith('-') || !/^[\p{L}\p{N}_-]/u.test(text.slice(at + path.length, at + path.length + 2)))
        yield { kind: 'path', key: `path ${path}`, from: at, to: at + path.length };
  for (const { text: name, from, to } of harborPathsIn(text))
    if (!shownPaths.has(name)) yield { kind: 'path', key: `path ${name}`, from, to };
}

type Range = { readonly from: number; readonly to: number };

/** Where a text differs from the one before; `to` is empty-handed where something was taken out. */
function changeOf(before: string, after: string): Range {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let same = 0;
  while (same < most - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  return { from, to: after.length - same };
}

/** Characters before and behind a change that may make a leak together with it. */
const REACH = 600;

/** The change with the lines around it: whole ones, so that no word or literal is cut. */
function linesAround(text: string, { from, to }: Range): Range {
  const start = text.lastIndexOf('\n', Math.max(from - REACH, 0) - 1) + 1;
  const end = text.indexOf('\n', Math.min(to + REACH, text.length));
  return { from: from <= REACH ? 0 : start, to: end === -1 ? text.length : end };
}

/** Where a hit stands, as whoever wrote the edit counts. */
function placeOf(content: string, after: string, changed: number, from: number, to: number): string {
  const bare = content.trim();
  const at = bare === '' ? -1 : after.indexOf(bare, Math.max(changed - content.length, 0));
  if (at === -1 || to <= at || from >= at + bare.length) return 'where the edit joins the lines around it, the text';
  const lead = content.indexOf(bare);
  const line = countLineFeeds(content, lead + Math.max(from - at, 0)) + 1;
  const joined = from < at || to > at + bare.length ? ', together with the text beside it,' : '';
  return `line ${line} of the content${joined}`;
}

function sentence(kind: LeakKind, place: string): string {
  switch (kind) {
    case 'task':
      return `${place} names a task: say which kind of task is meant`;
    case 'path':
      return `${place} names a place where tasks are kept or checked: leave it out, the agent has no use for it`;
    case 'value':
      return `${place} holds a value that a task expects as its answer: say how it is found`;
    case 'pattern':
      return `${place} holds a pattern by which an answer is checked: describe the form in words`;
    case 'verifier':
      return `${place} quotes what checks a task: say in other words what a good result is like`;
    case 'solution':
      return `${place} quotes the solution of a single task: say what would help with others too`;
    case 'instruction':
      return `${place} quotes a long passage of a task’s instruction: say in a few words which tasks are meant`;
    default:
      return kind satisfies never;
  }
}
