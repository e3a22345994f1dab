import { posix } from 'node:path';

/** How much matching may still be done; shared by all patterns of one build context. */
export type MatchingBudget = { steps: number };

/** Enough for any real build context, and a second or two of work at most. */
export const MATCHING_STEPS = 50_000_000;

/** Thrown when a budget is used up: the patterns and paths together would take too long. */
export class MatchingTooLong extends Error {
  override readonly name = 'MatchingTooLong';
}

/** A pattern for whole relative paths. Time is bounded by the length of the pattern times that of the path. */
export type DockerPattern = {
  test(path: string, budget: MatchingBudget): boolean;
  /** The path, or a folder above it, matches. */
  testAny(path: string, budget: MatchingBudget): boolean;
};

/** `any` = `?`; `star` = `*`; `deep` = `**`; `maybe` = the `deep` and the slash behind it may both be missing. */
type Token =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'set'; readonly pattern: RegExp }
  | { readonly kind: 'any' | 'star' | 'deep' | 'maybe' };

/**
 * A pattern of COPY or .dockerignore (Go's `filepath.Match`: `*`, `?`, `[a-z]`, `\` and, where `deep`, `**`).
 * Null when the pattern is malformed.
 */
export function dockerPattern(pattern: string, deep: boolean): DockerPattern | null {
  const tokens = tokensOf(pattern, deep);
  if (tokens === null) return null;
  const shortest = tokens.length - 2 * tokens.filter(({ kind }) => kind === 'maybe').length - wildcards(tokens);
  const needle = longestLiteral(tokens);
  const reader = new Reader(tokens);
  const test = (path: string, prefixes: boolean, budget: MatchingBudget) => {
    spend(budget, 8);
    return shortest <= path.length && path.includes(needle) && reader.matches(path, prefixes, budget);
  };
  return {
    test: (path, budget) => test(path, false, budget),
    testAny: (path, budget) => test(path, true, budget),
  };
}

function wildcards(tokens: readonly Token[]): number {
  return tokens.filter(({ kind }) => kind === 'star' || kind === 'deep').length;
}

/** What every matching path holds. The slash of a `**` + `/` is none of it. */
function longestLiteral(tokens: readonly Token[]): string {
  let longest = '';
  let run = '';
  for (const [at, token] of tokens.entries()) {
    run = token.kind === 'literal' && tokens[at - 2]?.kind !== 'maybe' ? run + token.character : '';
    if (run.length > longest.length) longest = run;
  }
  return longest;
}

function spend(budget: MatchingBudget, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new MatchingTooLong();
}

function tokensOf(pattern: string, deep: boolean): readonly Token[] | null {
  const characters = [...pattern];
  const tokens: Token[] = [];
  let last = '';
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    const wildcard = wildcardAt(characters, at, deep);
    const repeated = wildcard === last;
    last = wildcard;
    if (wildcard !== '') {
      // The same wildcard twice says no more than once.
      if (!repeated) tokens.push(...wildcardTokens[wildcard]);
      at += wildcard.length - 1;
    } else if (character === '?') tokens.push({ kind: 'any' });
    else if (character === '\\') {
      at++;
      if (at === characters.length) return null;
      tokens.push({ kind: 'literal', character: characters[at]! });
    } else if (character === '[') {
      const end = endOfSet(characters, at);
      const set = end === null ? null : setOf(characters.slice(at + 1, end).join(''));
      if (set === null) return null;
      tokens.push({ kind: 'set', pattern: set });
      at = end!;
    } else tokens.push({ kind: 'literal', character });
  }
  return tokens;
}

const wildcardTokens = {
  '*': [{ kind: 'star' }],
  '**': [{ kind: 'deep' }],
  '**/': [{ kind: 'maybe' }, { kind: 'deep' }, { kind: 'literal', character: '/' }],
} as const satisfies Record<string, readonly Token[]>;

function wildcardAt(characters: readonly string[], at: number, deep: boolean): keyof typeof wildcardTokens | '' {
  if (characters[at] !== '*') return '';
  if (!deep || characters[at + 1] !== '*') return '*';
  return characters[at + 2] === '/' ? '**/' : '**';
}

/** Index of the `]` that closes the set opened at `from`. */
function endOfSet(characters: readonly string[], from: number): number | null {
  for (let at = from + 1; at < characters.length; at++) {
    if (characters[at] === '\\') at++;
    else if (characters[at] === ']') return at;
  }
  return null;
}

/** The set as a regular expression for one character, which a slash never is; null when it is malformed. */
function setOf(inside: string): RegExp | null {
  const negated = inside.startsWith('^') ? '^' : '';
  const members = inside
    .slice(negated.length)
    .replace(/\\(.)|[[^]/gsu, (part, escaped?: string) => `\\u{${(escaped ?? part).codePointAt(0)!.toString(16)}}`);
  if (members === '') return null;
  try {
    return new RegExp(`^(?!/)[${negated}${members}]$`, 'us');
  } catch {
    return null;
  }
}

/** Follows all readings of one pattern through a path at once, so that no path makes it go back. */
class Reader {
  readonly #tokens: readonly Token[];
  /** Round in which a place of the pattern was entered last; rounds are counted through all paths. */
  readonly #entered: Float64Array;
  #round = 0;
  #current: number[] = [];
  #next: number[] = [];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#entered = new Float64Array(tokens.length + 1);
  }

  matches(path: string, prefixes: boolean, budget: MatchingBudget): boolean {
    const end = this.#tokens.length;
    this.#next.length = 0;
    this.#round++;
    this.#enter(0);
    for (const character of path) {
      [this.#current, this.#next] = [this.#next, this.#current];
      if (this.#current.length === 0) return false;
      if (prefixes && character === '/' && this.#current.includes(end)) return true;
      spend(budget, this.#current.length);
      this.#next.length = 0;
      this.#round++;
      for (const place of this.#current) if (place < end) this.#read(character, place);
    }
    return this.#next.includes(end);
  }

  #enter(place: number): void {
    if (this.#entered[place] === this.#round) return;
    this.#entered[place] = this.#round;
    this.#next.push(place);
    const kind = this.#tokens[place]?.kind;
    if (kind === 'star' || kind === 'deep' || kind === 'maybe') this.#enter(place + 1);
    if (kind === 'maybe') this.#enter(place + 3);
  }

  #read(character: string, place: number): void {
    const token = this.#tokens[place]!;
    switch (token.kind) {
      case 'literal':
        if (token.character === character) this.#enter(place + 1);
        break;
      case 'deep':
        this.#enter(place);
        break;
      case 'star':
        if (character !== '/') this.#enter(place);
        break;
      case 'any':
        if (character !== '/') this.#enter(place + 1);
        break;
      case 'set':
        if (token.pattern.test(character)) this.#enter(place + 1);
        break;
      case 'maybe':
        break;
      default:
        token satisfies never;
    }
  }
}

/**
 * Which paths of a build context a .dockerignore leaves out: the last pattern that matches the path or a folder above
 * it decides. The function throws `MatchingTooLong` when the budget is used up.
 */
export function dockerIgnore(text: string, budget: MatchingBudget): (path: string) => boolean {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.trim())
    .flatMap((line) => {
      const keep = line.startsWith('!');
      const cleaned = posix.normalize(`/${keep ? line.slice(1).trim() : line}`).replace(/^\/|\/$/g, '');
      const pattern = cleaned === '' ? null : dockerPattern(cleaned, true);
      return pattern === null ? [] : [{ keep, pattern }];
    });
  return (path) => {
    const last = rules.findLast((rule) => rule.pattern.testAny(path, budget));
    return last !== undefined && !last.keep;
  };
}
