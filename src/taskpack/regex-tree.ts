/** A piece of a regular expression: one character's worth, or a group; `max` may be Infinity. */
export type RegexPiece = { readonly min: number; readonly max: number } & (
  | { readonly kind: 'leaf'; readonly source: string }
  | { readonly kind: 'group'; readonly alternatives: readonly (readonly RegexPiece[])[] }
);

/** The pieces of a pattern that compiles, by alternative. Throws on nothing: what it does not know is a leaf. */
export function regexTree(pattern: string): readonly (readonly RegexPiece[])[] {
  return new Parser(pattern).alternatives();
}

class Parser {
  private at = 0;

  constructor(private readonly pattern: string) {}

  alternatives(): readonly (readonly RegexPiece[])[] {
    const all: RegexPiece[][] = [[]];
    while (this.at < this.pattern.length && this.pattern[this.at] !== ')') {
      if (this.pattern[this.at] === '|') {
        this.at++;
        all.push([]);
      } else all.at(-1)?.push(this.piece());
    }
    return all;
  }

  private piece(): RegexPiece {
    if (this.pattern[this.at] !== '(') return { kind: 'leaf', source: this.leaf(), ...this.quantifier() };
    this.take(/\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:))?/y);
    const alternatives = this.alternatives();
    this.at++;
    return { kind: 'group', alternatives, ...this.quantifier() };
  }

  private leaf(): string {
    if (this.pattern[this.at] === '[') return this.charClass();
    const escaped = this.take(/\\(?:u\{[^}]*\}|[pPk][{<][^}>]*[}>]|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[1-9]\d*|[\s\S])/iy);
    return escaped === '' ? this.take(/[\s\S]/uy) : escaped;
  }

  /** Up to its end, classes inside included (flag v). */
  private charClass(): string {
    const start = this.at;
    let depth = 0;
    do {
      const char = this.pattern[this.at];
      if (char === '\\') this.at++;
      else if (char === '[') depth++;
      else if (char === ']') depth--;
      this.at++;
    } while (depth > 0 && this.at < this.pattern.length);
    return this.pattern.slice(start, this.at);
  }

  private quantifier(): { readonly min: number; readonly max: number } {
    const found = this.take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(found) ?? [];
    if (least !== undefined) {
      const min = Number(least);
      return { min, max: comma === '' ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most) };
    }
    if (found === '') return { min: 1, max: 1 };
    return { min: found[0] === '+' ? 1 : 0, max: found[0] === '?' ? 1 : Number.POSITIVE_INFINITY };
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.pattern)?.[0] ?? '';
    this.at += found.length;
    return found;
  }
}
