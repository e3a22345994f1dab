import { CsvError, parse as parseCsv } from 'csv-parse/sync';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { fail, type SkilloptError } from '../../ports/failure.ts';
import { printableName } from '../../ports/printable.ts';
import { shownBeginning } from '../../process/half-words.ts';
import { JsonSource } from '../json-source.ts';

/** A way into a value: keys of objects and numbers of items. */
export type Path = readonly (string | number)[];

/** Data of a file, with the places where its values stand. */
export type Located = {
  readonly value: unknown;
  /** `file:line` of the value, or of the nearest one around it; the file alone where no line is known. */
  readonly place: (path: Path) => string;
};

/** Beyond this many characters no lines are told: finding them would take longer than reading the tasks. */
const MOST_PLACED = 5_000_000;
/** YAML is read by a slower parser than JSON. */
const MOST_YAML = 10_000_000;
/** Aliases may multiply what a file holds. */
const MOST_ALIASES = 1000;

/** Reads JSON. `file`: as it is named in messages. Throws `pack` with the line and column of the fault. */
export function locatedJson(file: string, text: string): Located {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const source = new JsonSource(file, text);
    source.root();
    const [problem] = source.problems;
    throw broken(problem?.path ?? file, problem?.what ?? `not JSON: ${String(error)}`, 'JSON');
  }
  let tree: Node | undefined;
  let lines: readonly number[] | undefined;
  const place = (path: Path) => {
    if (text.length > MOST_PLACED) return file;
    tree ??= treeOf(text);
    lines ??= lineStarts(text);
    for (let length = path.length; tree !== undefined && length >= 0; length--) {
      const node = findNodeAtLocation(tree, path.slice(0, length));
      if (node !== undefined) return `${file}:${lineAt(lines, node.offset)}`;
    }
    return file;
  };
  return { value, place };
}

/** Reads YAML, of which JSON is a part. Throws `pack` with the line and column of the first fault. */
export function locatedYaml(file: string, text: string): Located {
  if (text.length > MOST_YAML)
    throw broken(file, `${text.length} characters of YAML, more than ${MOST_YAML}`, 'YAML', 'split it');
  const counter = new LineCounter();
  const document = parseDocument(text, { merge: true, lineCounter: counter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = counter.linePos(error.pos[0]);
    throw broken(`${file}:${line}:${col}`, `not YAML: ${error.message}`, 'YAML');
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (cause) {
    throw broken(file, `not YAML that can be read: ${cause instanceof Error ? cause.message : String(cause)}`, 'YAML');
  }
  const place = (path: Path) => {
    for (let length = path.length; length >= 0; length--) {
      const node = nodeAt(document, path.slice(0, length));
      if (node !== null) return `${file}:${counter.linePos(node).line}`;
    }
    return file;
  };
  return { value, place };
}

/** Reads one JSON value a line; empty lines are passed over. `path` starts with the number of the value, from 0. */
export function locatedJsonLines(file: string, text: string): Located {
  const values: unknown[] = [];
  const lines: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(JSON.parse(line));
    } catch (error) {
      throw broken(
        `${file}:${index + 1}`,
        `not JSON: ${error instanceof Error ? error.message : String(error)}`,
        'JSON',
      );
    }
    lines.push(index + 1);
  }
  return { value: values, place: byFirst(file, lines) };
}

/** Reads CSV with a first line of names into a list of objects of texts. Throws `pack` with the line of the fault. */
export function locatedCsv(file: string, text: string): Located {
  try {
    const found = csvRecords(text);
    // the parser tells the line on which a record ends; the one before ends above it
    const ends = found.map((row) => row.info.lines);
    return {
      value: found.map((row) => row.record),
      place: byFirst(
        file,
        ends.map((_end, index) => (index === 0 ? 2 : (ends[index - 1] ?? 1) + 1)),
      ),
    };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line: unknown = error.lines;
    throw broken(typeof line === 'number' ? `${file}:${line}` : file, `not CSV: ${error.message}`, 'CSV');
  }
}

/** A quote inside of a field that is not quoted is taken as it stands, where the file can't be read otherwise. */
function csvRecords(text: string): readonly CsvRecord[] {
  const options = { columns: true, bom: true, info: true, skip_empty_lines: true } as const;
  try {
    return parseCsv(text, options) as unknown as readonly CsvRecord[];
  } catch {
    return parseCsv(text, { ...options, relax_quotes: true }) as unknown as readonly CsvRecord[];
  }
}

type CsvRecord = { readonly record: Readonly<Record<string, string>>; readonly info: { readonly lines: number } };

/** Reads a file by the ending of its name; what has none of them is taken for YAML. */
export function located(file: string, text: string): Located {
  if (/\.jsonl$|\.ndjson$/i.test(file)) return locatedJsonLines(file, text);
  if (/\.csv$/i.test(file)) return locatedCsv(file, text);
  return /\.json$/i.test(file) ? locatedJson(file, text) : locatedYaml(file, text);
}

/** What is nested so deeply that it can't be parsed here has no places. */
function treeOf(text: string): Node | undefined {
  try {
    return parseTree(text);
  } catch {
    return undefined;
  }
}

function byFirst(file: string, lines: readonly number[]): (path: Path) => string {
  return ([first]) => {
    const line = typeof first === 'number' ? lines[first] : undefined;
    return line === undefined ? file : `${file}:${line}`;
  };
}

function nodeAt(document: ReturnType<typeof parseDocument>, path: Path): number | null {
  try {
    const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
    return isNode(node) && node.range != null ? node.range[0] : null;
  } catch {
    return null; // an alias on the way
  }
}

function lineStarts(text: string): readonly number[] {
  return [0, ...[...text.matchAll(/\n/g)].map((found) => found.index + 1)];
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

function broken(where: string, what: string, form: string, fix = `mend the ${form} there`): SkilloptError {
  return fail('pack', printableName(shownBeginning(what, 300)), printableName(where), fix);
}
