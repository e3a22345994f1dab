import { type RegexPiece, regexTree } from './regex-tree.ts';

/** The flags that a check may set: those that keep a state between two looks are not among them. */
const FLAGS = 'imsuv';

/**
 * Why a regular expression can't be one of a check; null = it can. One whose repetitions stand inside each other with
 * nothing to tell them apart, as in `(a+)+`, is refused: it would take as good as for ever, and the runtime gives such
 * a search up and says "no match", which would be a false verdict. Slow ones of other kinds are not found here; they
 * are bounded by how much of an answer is looked at.
 */
export function regexProblem(pattern: string, flags: string): { readonly what: string; readonly fix: string } | null {
  const odd = [...flags].find((flag) => !FLAGS.includes(flag));
  if (odd !== undefined)
    return { what: `the flag "${odd}" has no place in a check`, fix: `the flags are ${[...FLAGS].join(', ')}` };
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    return {
      what: error instanceof Error ? error.message : String(error),
      fix: 'correct it; in JSON every \\ is written twice',
    };
  }
  const sets = new CharacterSets(flags);
  return regexTree(pattern).some((alternative) => alternative.some((piece) => explodes(piece, sets)))
    ? {
        what: 'repetitions inside each other, which take as good as for ever on some answers',
        fix: 'repeat once, as in a+ for (a+)+, or end each turn of the inner one with a character of its own',
      }
    : null;
}

/** Repeated this often or more, a group counts as repeated without end. */
const MANY = 10;

function explodes(piece: RegexPiece, sets: CharacterSets): boolean {
  if (piece.kind === 'leaf') return false;
  if (piece.alternatives.some((alternative) => alternative.some((inner) => explodes(inner, sets)))) return true;
  if (piece.max < MANY) return false;
  return (
    piece.alternatives.some((one) => ambiguous(one, sets) || mayBeEmpty(one)) || takenTwice(piece.alternatives, sets)
  );
}

/** Can one turn of the repetition end where another could go on? Not if it has a character that only it takes. */
function ambiguous(alternative: readonly RegexPiece[], sets: CharacterSets): boolean {
  const elastic = alternative.flatMap((piece) => elasticLeaves(piece, 'fixed'));
  if (!elastic.some((leaf) => leaf.endless)) return false;
  const separates = (piece: RegexPiece) =>
    piece.kind === 'leaf' &&
    piece.min > 0 &&
    piece.min === piece.max &&
    sets.of(piece.source).size > 0 &&
    elastic.every((leaf) => sets.disjoint(leaf.source, piece.source));
  return !alternative.some(separates);
}

type Elastic = { readonly source: string; readonly endless: boolean };

/** The leaves that may be taken a varying number of times, by themselves or with a group around them. */
function elasticLeaves(piece: RegexPiece, within: 'fixed' | 'varying' | 'endless'): readonly Elastic[] {
  const own = piece.min === piece.max ? 'fixed' : piece.max >= MANY ? 'endless' : 'varying';
  const both = within === 'endless' || own === 'fixed' ? within : own;
  if (piece.kind === 'leaf') return both === 'fixed' ? [] : [{ source: piece.source, endless: both === 'endless' }];
  return piece.alternatives.flat().flatMap((inner) => elasticLeaves(inner, both));
}

/** A turn of nothing but what may be missing, as in `(a?){30}`. */
function mayBeEmpty(alternative: readonly RegexPiece[]): boolean {
  const missing = (piece: RegexPiece) =>
    piece.min === 0 || (piece.kind === 'group' && piece.alternatives.some(mayBeEmpty));
  return alternative.length > 0 && alternative.every(missing);
}

/**
 * Two alternatives that take the same text, as in `(\s|.)*`, or one that takes the beginning of the other while a next
 * turn may take the rest, as in `(\d|\d\d)*`. Only alternatives of single characters are looked at.
 */
function takenTwice(alternatives: readonly (readonly RegexPiece[])[], sets: CharacterSets): boolean {
  const words = alternatives.flatMap((one) => {
    const leaves = one.flatMap((piece) =>
      piece.kind === 'leaf' && piece.min === 1 && piece.max === 1 ? [piece.source] : [],
    );
    return leaves.length === one.length && one.length > 0 ? [leaves] : [];
  });
  const mayBegin = (source: string) => words.some(([first = '']) => !sets.disjoint(first, source));
  return words.some((a, i) =>
    words.some((b, k) => {
      if (k === i || b.length < a.length || !a.every((source, at) => !sets.disjoint(source, b[at] ?? ''))) return false;
      const rest = b[a.length];
      return rest === undefined || mayBegin(rest);
    }),
  );
}

/** Which of some characters a leaf takes: all of ASCII, and a few beyond it. */
class CharacterSets {
  private readonly known = new Map<string, ReadonlySet<string>>();
  private static readonly samples = [
    ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
    ...'é\u00a0ßЖ漢٣\u2028−',
  ];

  constructor(private readonly flags: string) {}

  of(source: string): ReadonlySet<string> {
    const hit = this.known.get(source);
    if (hit !== undefined) return hit;
    const set = new Set(this.matching(source));
    this.known.set(source, set);
    return set;
  }

  disjoint(a: string, b: string): boolean {
    const other = this.of(b);
    return ![...this.of(a)].some((char) => other.has(char));
  }

  private matching(source: string): readonly string[] {
    try {
      const leaf = new RegExp(`^(?:${source})$`, this.flags.replace('m', ''));
      return CharacterSets.samples.filter((char) => leaf.test(char));
    } catch {
      // A reference back to a group: no character is its own.
      return [];
    }
  }
}
