import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { nearest } from '../config/nearest.ts';
import { shownBeginning } from '../process/half-words.ts';
import type { PackProblem } from './pack-failure.ts';

export type { Node } from 'jsonc-parser';

/** Keys and names of a pack may be of any length; a message is a line. */
const MOST_SHOWN = 300;

/** The values of an object by key. */
export class JsonKeys extends Map<string, Node> {
  /** Known keys that are near to an unknown one that was told: what is missing there is told already. */
  readonly meant = new Set<string>();
}

/** A JSON text whose values know their place. Whatever is asked of a value in vain is gathered in `problems`. */
export class JsonSource {
  readonly problems: PackProblem[] = [];
  private lineStarts: readonly number[] | null = null;

  /** `file`: as it is named in the problems. */
  constructor(
    private readonly file: string,
    private readonly text: string,
  ) {}

  /** The whole value; null = this is no JSON, which is then a problem. */
  root(): Node | null {
    const errors: ParseError[] = [];
    const options = { disallowComments: true, allowTrailingComma: false };
    try {
      const root = parseTree(this.text, errors, options);
      const [error] = errors;
      if (root !== undefined && error === undefined) {
        JSON.parse(this.text); // what a lenient reader lets pass
        return root;
      }
      const why = error === undefined ? 'nothing there' : printParseErrorCode(error.error);
      this.at(error?.offset ?? 0, `not JSON (${why})`, 'mend the JSON there');
    } catch (error) {
      const what = error instanceof RangeError ? 'JSON that is nested too deeply' : `not JSON: ${String(error)}`;
      this.at(0, what, 'mend the JSON');
    }
    return null;
  }

  problem(node: Node, what: string, fix: string): void {
    this.at(node.offset, what, fix);
  }

  /** `file:line:column` of a value. */
  placeOf(node: Node): string {
    return this.place(node.offset);
  }

  /** The values of an object by key; unknown keys and keys that stand twice are problems. */
  object(node: Node, name: string, known: readonly string[]): JsonKeys | null {
    if (node.type !== 'object') {
      this.problem(
        node,
        `${name} is not an object`,
        `write it as {${known
          .slice(0, 2)
          .map((key) => `"${key}": …`)
          .join(', ')}}`,
      );
      return null;
    }
    const found = new JsonKeys();
    for (const property of node.children ?? []) {
      const [keyNode, value] = property.children ?? [];
      if (keyNode === undefined || value === undefined) continue;
      const key = String(keyNode.value);
      if (!known.includes(key)) {
        const close = nearest(key, known);
        if (close !== null) found.meant.add(close);
        this.problem(
          keyNode,
          `unknown key "${key}" in ${name}`,
          close === null ? `the keys here are ${known.join(', ')}` : `did you mean "${close}"?`,
        );
      } else if (found.has(key))
        this.problem(keyNode, `the key "${key}" stands twice in ${name}`, 'keep one of the two');
      else found.set(key, value);
    }
    return found;
  }

  list(node: Node, name: string): readonly Node[] | null {
    if (node.type === 'array') return node.children ?? [];
    this.problem(node, `${name} is not a list`, 'write it in [ ]');
    return null;
  }

  /** A text that is not blank, unless `blank` allows it. */
  string(node: Node, name: string, blank = false): string | null {
    const value: unknown = node.type === 'string' ? node.value : null;
    if (typeof value !== 'string') {
      this.problem(
        node,
        `${name} is not a text`,
        node.type === 'number' ? `write "${this.source(node)}"` : 'write it in quotes',
      );
      return null;
    }
    if (!value.isWellFormed()) {
      this.problem(node, `${name} holds half a character`, 'correct the \\u escape');
      return null;
    }
    if (blank || value.trim() !== '') return value;
    this.problem(node, `${name} is empty`, 'write something there, or leave the key out');
    return null;
  }

  /** A number of which `fits` is true; `what` says of which that is so. */
  number(node: Node, name: string, what: string, fits: (value: number) => boolean): number | null {
    const value: unknown = node.type === 'number' ? this.value(node) : null;
    if (typeof value === 'number' && Number.isFinite(value) && fits(value)) return value;
    this.problem(node, `${name} is not ${what}`, `write ${what}`);
    return null;
  }

  boolean(node: Node, name: string): boolean | null {
    if (node.type === 'boolean') return node.value === true;
    this.problem(node, `${name} is neither true nor false`, 'write true or false');
    return null;
  }

  /** The value as plain data. */
  value(node: Node): unknown {
    return JSON.parse(this.source(node));
  }

  private source(node: Node): string {
    return this.text.slice(node.offset, node.offset + node.length);
  }

  private at(offset: number, what: string, fix: string): void {
    this.problems.push({
      path: this.place(offset),
      what: shownBeginning(what, MOST_SHOWN),
      fix: shownBeginning(fix, MOST_SHOWN),
    });
  }

  private place(offset: number): string {
    this.lineStarts ??= [0, ...[...this.text.matchAll(/\n/g)].map((found) => found.index + 1)];
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return `${this.file}:${low + 1}:${offset - (starts[low] ?? 0) + 1}`;
  }
}
