import type { TaskSecrets } from '../ports/leak.ts';
import {
  INSTRUCTION_WORDS,
  isShown,
  longLines,
  ownWords,
  QUOTE_WORDS,
  type QuoteLength,
  type Shown,
  saysSomething,
  shownOf,
  tellingParts,
  Vocabulary,
  WindowCounts,
  windowKey,
} from './leak-windows.ts';
import {
  canonical,
  harborPathsIn,
  isDistinctive,
  isPattern,
  literalsOf,
  SHORTEST_PATTERN,
  squeezed,
  wordsOf,
} from './leak-words.ts';

/** What a skill would carry. */
export type LeakKind = 'task' | 'path' | 'value' | 'pattern' | 'verifier' | 'solution' | 'instruction';

/** What may not come into a skill, ready to be looked up. */
export type LeakIndex = {
  readonly vocabulary: Vocabulary;
  /** By the key of a window of words. */
  readonly windows: ReadonlyMap<number, LeakKind>;
  /** By the canonical form of a literal. */
  readonly literals: ReadonlyMap<string, LeakKind>;
  /** Squeezed patterns, by their first characters. */
  readonly patterns: ReadonlyMap<string, readonly string[]>;
  readonly paths: readonly string[];
  /** Harbor's paths that agents are shown. */
  readonly shownPaths: ReadonlySet<string>;
};

/** Shortest literal of letters and digits: of an expected value or between quotation marks, and of other text. */
const SHORTEST_VALUE = 8;
const SHORTEST_LITERAL = 16;
/** What so many tasks expect or say is a convention of the pack, and no answer of a task. */
const CONVENTION = 3;
/** A step that two solutions share is the method that a skill is to teach. */
const METHOD = 2;
const SHORTEST_PHRASE = 16;
export const PATTERN_START = 6;

class LiteralCounts {
  readonly tasks = new Map<string, Set<number>>();

  add(literal: string, task: number): void {
    const known = this.tasks.get(literal);
    if (known === undefined) this.tasks.set(literal, new Set([task]));
    else known.add(task);
  }
}

/** Builds an index task by task, so that whoever reads the tasks can do it between two reads. */
export class LeakIndexBuilder {
  private readonly vocabulary: Vocabulary;
  private readonly windows = {
    task: new WindowCounts(),
    value: new WindowCounts(),
    verifier: new WindowCounts(),
    solution: new WindowCounts(),
    instruction: new WindowCounts(),
  };
  private readonly literals = {
    task: new LiteralCounts(),
    value: new LiteralCounts(),
    verifier: new LiteralCounts(),
    solution: new LiteralCounts(),
  };
  private readonly patterns = new Map<string, Set<string>>();

  private readonly shownPaths = new Set<string>();
  private tasks = 0;

  /** The words of the seed are no news. So many words of an instruction in a row are a quote. */
  constructor(
    seedText: string,
    private readonly instructionWords: QuoteLength = INSTRUCTION_WORDS,
  ) {
    this.vocabulary = new Vocabulary(new Set(wordsOf(seedText).map((w) => w.text)));
  }

  add(task: TaskSecrets): void {
    const index = this.tasks++;
    for (const { text } of harborPathsIn(task.instruction)) this.shownPaths.add(text);
    const told = this.vocabulary.learnAll(wordsOf(task.instruction));
    const shown = shownOf(told);
    const shownLiterals = new Set(literalsOf(task.instruction).map((l) => l.text));
    const shownSqueezed = squeezed(task.instruction).text;
    this.id(task.id, index, shown, shownLiterals);
    for (const value of task.expected) this.value(value, index, shown, shownLiterals);
    for (const pattern of task.patterns) {
      this.pattern(pattern, shownSqueezed);
      // what a pattern says outright
      const plain = pattern.replace(/\\[a-zA-Z]/g, ' ').replace(/[\\^$]/g, '');
      if (!/[[\](){}*+?|]/.test(plain)) this.value(plain, index, shown, shownLiterals);
      for (const { text } of literalsOf(plain))
        if (!shownLiterals.has(text) && isDistinctive(text, SHORTEST_VALUE)) this.literals.value.add(text, index);
    }
    for (const text of task.verifier) this.text('verifier', text, index, shown, shownLiterals, shownSqueezed);
    for (const text of task.solution) this.text('solution', text, index, shown, shownLiterals, shownSqueezed);
    // where short prompts are what is told apart, one of four or five words is quoted as a whole
    const short = this.instructionWords < INSTRUCTION_WORDS && told.length >= 4;
    const length = short ? Math.min(told.length, this.instructionWords) : this.instructionWords;
    this.allWindows('instruction', told, length, index, () => true);
  }

  /** Names of two parts and more, or of letters and digits. One word alone is a word. */
  private id(id: string, task: number, shown: Shown, shownLiterals: ReadonlySet<string>): void {
    if (/\s/.test(id)) {
      const words = this.vocabulary.learnAll(wordsOf(id));
      if (words.length >= 2 && !isShown(shown, words))
        this.allWindows('task', words, Math.min(words.length, QUOTE_WORDS), task, () => true);
      return;
    }
    const name = canonical(id);
    const parts = id.split(/[-_.]+/).filter((part) => part !== '');
    if (shownLiterals.has(name)) return;
    if (parts.length >= 2 || isDistinctive(name, 5)) this.literals.task.add(name, task);
  }

  private value(value: string, task: number, shown: Shown, shownLiterals: ReadonlySet<string>): void {
    const text = value.trim();
    if (!/\s/.test(text)) {
      for (const literal of literalsOf(text).slice(0, 1))
        if (!shownLiterals.has(literal.text) && isDistinctive(literal.text, SHORTEST_VALUE))
          this.literals.value.add(literal.text, task);
      return;
    }
    const words = this.vocabulary.learnAll(wordsOf(text));
    if (words.length < 3 || text.length < SHORTEST_PHRASE || isShown(shown, words)) return;
    const length = Math.min(words.length, QUOTE_WORDS);
    this.allWindows('value', words, length, task, (from) => {
      const window = words.slice(from, from + length);
      return ownWords(this.vocabulary, shown, window) >= 2 && !isShown(shown, window);
    });
  }

  private pattern(text: string, shownSqueezed: string): void {
    const needle = squeezed(text).text;
    if (needle.length < SHORTEST_PATTERN || !isPattern(text) || shownSqueezed.includes(needle)) return;
    const start = needle.slice(0, PATTERN_START);
    const known = this.patterns.get(start);
    if (known === undefined) this.patterns.set(start, new Set([needle]));
    else known.add(needle);
  }

  /** Quotes, long lines, literals and patterns of a verifier or a solution. */
  private text(
    kind: 'verifier' | 'solution',
    text: string,
    task: number,
    shown: Shown,
    shownLiterals: ReadonlySet<string>,
    shownSqueezed: string,
  ): void {
    const { vocabulary } = this;
    const says = (ids: readonly number[], length: number) => (from: number) =>
      saysSomething(vocabulary, shown, ids, from, length) && !isShown(shown, ids, from, length);
    for (const part of tellingParts(text)) {
      const ids = vocabulary.learnAll(wordsOf(part));
      this.allWindows(kind, ids, QUOTE_WORDS, task, says(ids, QUOTE_WORDS));
      for (const line of longLines(part)) {
        const own = vocabulary.learnAll(line);
        this.allWindows(kind, own, own.length, task, says(own, own.length));
      }
      for (const literal of literalsOf(part)) {
        if (shownLiterals.has(literal.text)) continue;
        if (isDistinctive(literal.text, literal.quoted ? SHORTEST_VALUE : SHORTEST_LITERAL))
          this.literals[kind].add(literal.text, task);
      }
      // a solution's patterns are its method
      if (kind === 'verifier') for (const pattern of patternsIn(part)) this.pattern(pattern, shownSqueezed);
    }
  }

  private allWindows(
    kind: 'task' | 'value' | 'verifier' | 'solution' | 'instruction',
    ids: readonly number[],
    length: number,
    task: number,
    counts: (from: number) => boolean,
  ): void {
    for (let from = 0; from + length <= ids.length; from++)
      if (counts(from)) this.windows[kind].add(windowKey(ids, from, length), task);
  }

  /** `paths`: absolute ones that no skill may name. */
  finish(paths: readonly string[]): LeakIndex {
    const windows = new Map<number, LeakKind>();
    const never = Number.POSITIVE_INFINITY;
    // the later ones say more about what it is
    for (const [kind, tooMany] of [
      ['solution', METHOD],
      ['instruction', CONVENTION],
      ['verifier', never],
      ['value', CONVENTION],
      ['task', never],
    ] as const)
      for (const key of this.windows[kind].rarerThan(tooMany)) windows.set(key, kind);
    const literals = new Map<string, LeakKind>();
    for (const [kind, tooMany] of [
      ['solution', METHOD],
      ['verifier', Math.max(CONVENTION, this.tasks / 2)],
      ['value', CONVENTION],
      ['task', never],
    ] as const)
      for (const [literal, of] of this.literals[kind].tasks) if (of.size < tooMany) literals.set(literal, kind);
    return {
      vocabulary: this.vocabulary,
      windows,
      literals,
      patterns: new Map([...this.patterns].map(([start, needles]) => [start, [...needles]])),
      paths: paths.filter((path) => !paths.some((p) => path.startsWith(`${p}/`))),
      shownPaths: this.shownPaths,
    };
  }
}

const stringLiteral = /(["'])((?:\\.|(?!\1)[^\\\n])*)\1/g;

/** Texts of a program that read as regular expressions: between quotation marks, or between blanks. */
function* patternsIn(text: string): Iterable<string> {
  for (const m of text.matchAll(stringLiteral)) if (isPattern(m[2]!)) yield m[2]!;
  for (const m of text.matchAll(/[^\s"']{8,}/g)) if (isPattern(m[0])) yield m[0];
}
