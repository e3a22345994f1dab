import { codeWords, proseWords, type Stretch, wordsOf } from './leak-words.ts';

/** Most words of a stretch that is looked up at once, by what it is of. */
export const QUOTE_WORDS = 8;
export const INSTRUCTION_WORDS = 12;
/** Of an instruction, where it is to be told by a description whether it fits: such prompts are a line or two. */
export const TRIGGER_PROMPT_WORDS = 6;
/** A line of code with fewer words counts from so many characters on, blanks aside. */
export const LONG_LINE = 30;
/** Lengths, in words, at which a text is looked through. */
export const windowLengths = [2, 3, 4, 5, TRIGGER_PROMPT_WORDS, 7, QUOTE_WORDS, INSTRUCTION_WORDS] as const;
export type QuoteLength = (typeof windowLengths)[number];

/** What a word is, whatever the task: of a program, of a sentence, or one of its own. */
const CODE = 0;
const PROSE = 1;
const OWN = 2;

/** Numbers for words. A word that no task has is 0, and no window holds it. */
export class Vocabulary {
  private readonly ids = new Map<string, number>();
  private readonly sorts: number[] = [CODE];

  /** Words of the seed are as common as those of code. */
  constructor(private readonly seed: ReadonlySet<string>) {}

  learn(word: string): number {
    let id = this.ids.get(word);
    if (id === undefined) {
      id = this.ids.size + 1;
      this.ids.set(word, id);
      this.sorts.push(this.sortOf(word));
    }
    return id;
  }

  learnAll(words: readonly Stretch[]): readonly number[] {
    return words.map((w) => this.learn(w.text));
  }

  idOf(word: string): number {
    return this.ids.get(word) ?? 0;
  }

  isProse(id: number): boolean {
    return this.sorts[id] === PROSE;
  }

  /** Neither prose nor code's own nor the seed's. */
  isOwn(id: number): boolean {
    return this.sorts[id] === OWN;
  }

  private sortOf(word: string): number {
    if (proseWords.has(word)) return PROSE;
    if (word.length < (/^\d+$/.test(word) ? 3 : 2) || codeWords.has(word) || this.seed.has(word)) return CODE;
    return OWN;
  }
}

/** A number of 53 bits for some words in their order: two of a pack and a skill are alike by chance once in 10⁹ packs. */
export function windowKey(ids: readonly number[], from: number, length: number): number {
  let a = length;
  let b = length ^ 0x5bd1e995;
  for (let i = from; i < from + length; i++) {
    const id = ids[i]!;
    a = Math.imul(a ^ id, 0x9e3779b1);
    a ^= a >>> 15;
    b = Math.imul(b + id, 0x85ebca6b);
    b = (b << 13) | (b >>> 19);
  }
  return (a >>> 0) * 2 ** 21 + (Math.imul(b ^ (b >>> 16), 0xc2b2ae35) >>> 11);
}

/** More tasks than this are not told apart in a count. */
const MOST_COUNTED = 255;

/** Which windows of the tasks' texts there are, and how many tasks have each. */
export class WindowCounts {
  /** The number of the last task that had it, and how many had it. */
  private readonly counts = new Map<number, number>();

  add(key: number, task: number): void {
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, task * (MOST_COUNTED + 1) + 1);
    else if (Math.floor(known / (MOST_COUNTED + 1)) !== task)
      this.counts.set(key, task * (MOST_COUNTED + 1) + Math.min((known % (MOST_COUNTED + 1)) + 1, MOST_COUNTED));
  }

  /** Windows that fewer than so many tasks have. */
  *rarerThan(tasks: number): Iterable<number> {
    for (const [key, entry] of this.counts) if (entry % (MOST_COUNTED + 1) < tasks) yield key;
  }
}

/** What the agent of a task is shown: what stands in it is no secret. */
export type Shown = { readonly ids: ReadonlySet<number>; readonly joined: string };

export function shownOf(ids: readonly number[]): Shown {
  return { ids: new Set(ids), joined: ` ${ids.join(' ')} ` };
}

/** Do these words stand in what is shown, one behind the other? */
export function isShown({ ids: known, joined }: Shown, ids: readonly number[], from = 0, length = ids.length): boolean {
  for (let i = from; i < from + length; i++) if (!known.has(ids[i]!)) return false;
  return joined.includes(` ${ids.slice(from, from + length).join(' ')} `);
}

/**
 * Says a window of a verifier or a solution more than any program does? Two words of prose, or three of its own that the
 * agent is not shown. `with open("/app/out.json") as f: data = json.load(f)` does not.
 */
export function saysSomething(
  words: Vocabulary,
  shown: Shown,
  ids: readonly number[],
  from: number,
  length: number,
): boolean {
  let prose = 0;
  let own = 0;
  for (let i = from; i < from + length; i++) {
    const id = ids[i]!;
    const isProse = words.isProse(id);
    if (!isProse && (!words.isOwn(id) || shown.ids.has(id))) continue;
    let isNew = true;
    for (let j = from; j < i; j++) if (ids[j] === id) isNew = false;
    if (!isNew) continue;
    if (isProse) prose++;
    else own++;
    if (prose >= 2 || own >= 3) return true;
  }
  return false;
}

/** Different words of its own that a window has and the agent is not shown. */
export function ownWords(words: Vocabulary, shown: Shown, ids: readonly number[]): number {
  return new Set(ids.filter((id) => words.isOwn(id) && !shown.ids.has(id))).size;
}

/** Lines that install or import something, or say which program reads the file: the same in thousands of projects. */
const setUp =
  /^\s*(?:#!|(?:sudo\s+)?(?:apt|apt-get|apk|yum|dnf|brew|pip3?|uv|npm|npx|yarn|cargo)\s|python3?\s+-m\s+(?:pip|venv)\s|(?:import|from)\s+[\w.]+|source\s|set\s+-|export\s+PATH|(?:curl|wget)\s.*\|\s*(?:ba|z)?sh\b)/;

/** A text without its lines of setting up, in stretches of lines that follow one another. */
export function tellingParts(text: string): readonly string[] {
  const parts: string[] = [];
  let lines: string[] = [];
  for (const line of text.split(/\r\n?|\n/)) {
    if (!setUp.test(line)) {
      lines.push(line);
      continue;
    }
    if (lines.length > 0) parts.push(lines.join('\n'));
    lines = [];
  }
  if (lines.length > 0) parts.push(lines.join('\n'));
  return parts;
}

/** The words of each line that has too few for a quote and is long all the same. */
export function longLines(text: string): readonly (readonly Stretch[])[] {
  return text.split('\n').flatMap((line) => {
    if (line.length < LONG_LINE || line.replace(/\s+/g, '').length < LONG_LINE) return [];
    const words = wordsOf(line);
    return words.length >= 3 && words.length < QUOTE_WORDS ? [words] : [];
  });
}
