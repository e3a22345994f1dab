/** A stretch of a text: `text` in the form in which it is compared, the offsets in the text as it stands. */
export type Stretch = { readonly text: string; readonly from: number; readonly to: number };

const unspaced = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}';
const word = new RegExp(`[${unspaced}]|(?:(?![${unspaced}])[\\p{L}\\p{M}\\p{N}_])+`, 'gu');
const asciiWord = /[A-Za-z0-9_]+/g;

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** The words of a text, in lower case; punctuation and blanks do not count. Scripts without blanks: a word a character. */
export function wordsOf(text: string): readonly Stretch[] {
  const ascii = isAscii(text);
  const found: Stretch[] = [];
  for (const m of text.matchAll(ascii ? asciiWord : word)) {
    const lower = m[0].toLowerCase();
    found.push({ text: ascii ? lower : lower.normalize('NFKC'), from: m.index, to: m.index + m[0].length });
  }
  return found;
}

const quotes = '"\'`';
const atStart = /^[\s"'`()[\]{}<>*~|.,;:!?$€£#+=-]+/;
const atEnd = /[\s"'`()[\]{}<>*~|.,;:!?$€£%+=-]+$/;
const separators = [/["'`()[\]{}<>,;=|]+/g, /["'`()[\]{}<>,;=|/:]+/g];

/** A literal: what stands between blanks, without the punctuation around it, and the parts that punctuation makes of it. */
export type Literal = Stretch & {
  /** It stands between quotation marks. */
  readonly quoted: boolean;
};

/** The literals of a text, in their canonical form. */
export function literalsOf(text: string): readonly Literal[] {
  const found: Literal[] = [];
  for (const m of text.matchAll(/\S+/g)) {
    const seen = new Set<string>();
    const add = (piece: string, offset: number) => {
      const lead = atStart.exec(piece)?.[0].length ?? 0;
      const bare = piece.slice(lead).replace(atEnd, '');
      const from = m.index + offset + lead;
      if (bare === '' || seen.has(`${from} ${bare}`)) return;
      seen.add(`${from} ${bare}`);
      const to = from + bare.length;
      const quoted = quotes.includes(text[from - 1] || ' ') && quotes.includes(text[to] || ' ');
      found.push({ text: canonical(bare), from, to, quoted });
    };
    add(m[0], 0);
    for (const separator of separators) {
      let start = 0;
      for (const cut of m[0].matchAll(separator)) {
        add(m[0].slice(start, cut.index), start);
        start = cut.index + cut[0].length;
      }
      if (start > 0) add(m[0].slice(start), start);
    }
  }
  return found;
}

const number = /^\d[\d,_]*(?:\.\d+)?$/;

/** Case does not count, nor how the digits of a number are grouped, nor zeros at the end of its fraction. */
export function canonical(literal: string): string {
  const lower = literal.normalize('NFKC').toLowerCase();
  if (!number.test(lower)) return lower;
  const digits = lower.replace(/[,_]/g, '');
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
}

/** Numbers of five digits and more that everyone knows. */
const everyonesNumbers = new Set(
  '12345 123456 1234567 12345678 123456789 1234567890 16384 32767 32768 65535 65536 99999 999999 86399 18.04 20.04 22.04 24.04 1.414 1.618 2.718 3.142'.split(
    ' ',
  ),
);
const date = /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:t[\d:.,z+-]*)?$/;
/** `python3.11`, `utf-16le`, `iso-8859-1`: names that hold digits by nature. */
const everyonesNames =
  /^(?:python|py|utf|iso|sha|md|base|http|ipv|x86|cp|latin|rfc|es|java|node|gcc|win|int|uint|float|ubuntu|debian)[-_/.:]?\d/;
/** A word with a small number behind it: `step12`, `route-66`. */
const numberedWord = /^[\p{L}_-]+\d{1,2}$/u;
const pinnedVersion = /[=<>~^@]=?v?\d|^v?\d+(?:\.\d+){2,}/;

/**
 * Can a literal (in canonical form) be told from what anybody might write? Numbers of five significant digits (four with
 * a fraction), dates, and letters mixed with digits from `shortest` characters on. Single words never: an answer
 * `Paris` is a word like any other.
 */
export function isDistinctive(literal: string, shortest: number): boolean {
  if (everyonesNumbers.has(literal)) return false;
  if (number.test(literal)) {
    const significant = literal.replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length;
    return significant >= (literal.includes('.') ? 4 : 5);
  }
  if (date.test(literal)) return true;
  // expressions of a program and paths have parts that are looked at for themselves
  if (literal.length < shortest || !/\p{L}/u.test(literal) || /["'`()[\]{}<>,;=|/\\]/.test(literal)) return false;
  if ((literal.match(/\p{N}/gu)?.length ?? 0) < 2) return false;
  return !everyonesNames.test(literal) && !numberedWord.test(literal) && !pinnedVersion.test(literal);
}

const signs: readonly RegExp[] = [
  /\\[dwsbDWSB.]/,
  /\[\^|\[[^\]\s]*[^\]\s[]-[^\]\s]+\]/,
  /[\])\w.]\{\d+(?:,\d*)?\}/,
  /\(\?[:=!<]/,
  /\.[*+]/,
  /^\^|\$$/,
  /\([^()\s]*\w\|\w[^()\s]*\)/,
];

/** Patterns that anybody writes: one kind of character some times over, numbers, dates, UUIDs. */
const everyonesPatterns: readonly RegExp[] = [
  /^\^?\(?(?:\[[^\]]*\]|\\[dwsDWS]|\.)(?:[+*?]|\{[\d,]+\})*\)?\$?$/,
  /^\^?(?:\[[-+]+\]\??|-\?)?(?:\\d|\[0-9\])[+*](?:\((?:\?:)?\\\.(?:\\d|\[0-9\])[+*]\)\?)?\$?$/,
  /^\^?(?:\\d|\[0-9\])\{4\}-(?:\\d|\[0-9\])\{2\}-(?:\\d|\[0-9\])\{2\}\$?$/,
  /^\^?(\[[0-9a-fA-F-]+\])\{8\}-(?:\1\{4\}-){3}\1\{12\}\$?$/,
];

/** Reads as a regular expression that says something: two kinds of its signs in eight characters and more. */
export function isPattern(text: string): boolean {
  const bare = text.replace(/\s+/g, '');
  if (everyonesPatterns.some((pattern) => pattern.test(bare))) return false;
  return bare.length >= SHORTEST_PATTERN && signs.filter((sign) => sign.test(bare)).length >= 2;
}

export const SHORTEST_PATTERN = 8;

/** A text without its blanks, in lower case, and where each of its characters stood. */
export function squeezed(text: string): { readonly text: string; readonly at: readonly number[] } {
  const at: number[] = [];
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (/\s/.test(c)) continue;
    const lower = c.toLowerCase();
    out += lower.length === 1 ? lower : c;
    at.push(i);
  }
  return { text: out, at };
}

/** Words that make sentences and are no code. */
export const proseWords: ReadonlySet<string> = new Set(
  'the a an of to are was were be been that this these those it its has have had must should may can will would on at by than their there which who what when all each every only no do does into after before same other first last'.split(
    ' ',
  ),
);

/** Words of shells, languages and common tools: a stretch of nothing else says nothing about a task. */
export const codeWords: ReadonlySet<string> = new Set(
  `if then else elif fi for in done do while case esac function return exit local export source set echo printf cat test
  true false null none nil and or not is as with from import def class self lambda yield try except finally raise pass
  break continue print assert len range open read write readlines splitlines split join strip lower upper replace append
  close path exists isfile isdir dirname basename os sys re json csv yaml toml load loads dump dumps data result results
  output out err stdout stderr input file files filename name text txt md html xml log tmp bin usr etc dev home root app
  opt var lib sh bash zsh python python3 py node js ts pip pip3 uv uvx apt get install update upgrade y q npm npx run
  git curl wget sudo chmod chown mkdir rm cp mv ln ls cd pwd find grep egrep sed awk sort uniq head tail cut tr wc tee
  xargs diff cmp touch date sleep kill env lc_all lang c utf 8 utf8 encoding mode int str float bool list dict tuple
  string number value values key keys item items index i j k n x s f e r w b m nr end begin line lines row rows col
  column columns count sum total min max mean subprocess check capture_output shell expected actual message error msg
  const let var new async await function public static void main args argv type object array length push map filter
  dev null eq ne lt gt le ge new old time start_time end_time elapsed start stop timeout`.split(/\s+/),
);

const harborPaths =
  /(?<![\w./-])(?:\/tests\/|\/solution\/|\/logs\/verifier\b|(?:\.\/)?tests\/test\.sh\b|(?:\.\/)?solution\/solve\.sh\b)|\bverifier\/reward\.(?:txt|json)\b/gi;

/** Places where Harbor keeps what checks and solves a task. */
export function* harborPathsIn(text: string): Iterable<Stretch> {
  for (const m of text.matchAll(harborPaths))
    yield { text: m[0].toLowerCase().replace(/^\.\//, ''), from: m.index, to: m.index + m[0].length };
}
