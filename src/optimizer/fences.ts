import { shortHash } from '../ports/hash.ts';
import { printable } from '../ports/printable.ts';
import { toLf } from '../skill/lines.ts';

/** Escape sequences of terminals: CSI, OSC and the like, and two-character ones. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]/g;

/** A text as a model may see it: line ends as LF, no escape sequences, other control and invisible characters named. */
export function plainText(text: string): string {
  return printable(toLf(text).replace(escapes, '')).toWellFormed();
}

/**
 * Puts material that others wrote between an opening and a closing line which do not occur in it. The letters of these
 * lines follow from `seed`, so that the same request is the same text, and cannot be known when the material is written.
 */
export class DataFence {
  constructor(private readonly seed: string) {}

  wrap(text: string): string {
    const inside = plainText(text);
    const letters = this.lettersFor(inside);
    return `<data-${letters}>\n${inside}\n</data-${letters}>`;
  }

  private lettersFor(text: string): string {
    for (let n = 0; ; n++) {
      const letters = shortHash(`data fence ${n} of ${this.seed}`);
      if (!text.includes(letters)) return letters;
    }
  }
}

/** A document verbatim between lines of backticks that are longer than any run of them inside. */
export function fencedDocument(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}
