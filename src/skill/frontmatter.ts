import { isMap, parseDocument, type YAMLParseError } from 'yaml';
import { countLineFeeds } from './lines.ts';

/** A range of a text in UTF-16 units: `text.slice(start, end)`. */
export type Span = { readonly start: number; readonly end: number };

/** The parts of a SKILL.md by position, without any look at the YAML. */
export type Layout = {
  readonly hasBom: boolean;
  /** From the opening `---` to the end of the closing `---` line, its line end included. */
  readonly frontmatter: Span;
  readonly yaml: Span;
  readonly body: Span;
};

/** What agents make of a frontmatter that is not sound: each of these they treat in their own way. */
export type Damage = 'no-frontmatter' | 'colon-in-value' | 'open-quote' | 'other';

/** Something wrong with a frontmatter; `line` counts from 1 in the whole file. */
export type FrontmatterProblem = {
  readonly line: number;
  readonly what: string;
  readonly fix: string;
  readonly damage: Damage;
};

const BYTE_ORDER_MARK = '\uFEFF';
const DELIMITER = /^---[ \t]*\r?$/;

/** Finds frontmatter and body. The first later line `---` closes the frontmatter. */
export function layoutOf(text: string): Layout | FrontmatterProblem {
  const hasBom = text.startsWith(BYTE_ORDER_MARK);
  const start = hasBom ? 1 : 0;
  if (/^---[ \t]*\r(?!\n)/.test(text.slice(start, start + 100))) {
    const fix = 'save the file with LF or CRLF line ends';
    return { line: 1, what: 'lines end with lone carriage returns', fix, damage: 'other' };
  }
  const open = lineEnd(text, start);
  if (!DELIMITER.test(text.slice(start, open.content))) return noFrontmatter(text.slice(start));
  for (let at = open.next; at < text.length; ) {
    const line = lineEnd(text, at);
    if (DELIMITER.test(text.slice(at, line.content))) {
      return {
        hasBom,
        frontmatter: { start, end: line.next },
        yaml: { start: open.next, end: at },
        body: { start: line.next, end: text.length },
      };
    }
    at = line.next;
  }
  return {
    line: 1,
    what: 'the frontmatter is not closed',
    fix: 'add a line "---" after the last key of the frontmatter, before the instructions',
    damage: 'other',
  };
}

export function isProblem<T extends object>(value: T | FrontmatterProblem): value is FrontmatterProblem {
  return 'fix' in value;
}

function noFrontmatter(text: string): FrontmatterProblem {
  const later = /^\s+---[ \t]*$/m.exec(text.slice(0, 1000));
  if (later?.index === 0) {
    const what = 'something stands before the opening "---"';
    return { line: 1, what, fix: 'make "---" the very first line', damage: 'other' };
  }
  return {
    line: 1,
    what: 'no frontmatter',
    fix: 'start the file with the lines "---", "name: …", "description: …", "---"',
    damage: 'no-frontmatter',
  };
}

function lineEnd(text: string, from: number): { content: number; next: number } {
  const at = text.indexOf('\n', from);
  return at === -1 ? { content: text.length, next: text.length } : { content: at, next: at + 1 };
}

/** The keys of a frontmatter with their values, or its first problem. `firstLine` = line number of the YAML's first line. */
export function parseFrontmatter(
  yaml: string,
  firstLine: number,
): { readonly fields: ReadonlyMap<string, unknown>; readonly warnings: readonly string[] } | FrontmatterProblem {
  const lineOf = (offset: number) => firstLine + countLineFeeds(yaml, offset);
  const dashes = yaml.indexOf('---');
  if (dashes !== -1) {
    return {
      line: lineOf(dashes),
      what: 'another "---" stands inside the frontmatter, where many clients take it for its end',
      fix: 'write it in another way, for example with a dash "—" or two hyphens',
      damage: 'other',
    };
  }
  const document = parseDocument(yaml, { strict: true, uniqueKeys: true, prettyErrors: false, logLevel: 'silent' });
  const error = document.errors[0];
  if (error !== undefined)
    return { line: lineOf(placeOf(error, yaml)), ...explain(error, yaml), damage: damageOf(error) };
  if (!isMap(document.contents)) {
    const what = 'the frontmatter is not a list of "key: value" lines';
    return { line: firstLine, what, fix: minimalKeys, damage: 'other' };
  }
  try {
    const value: unknown = document.toJS({ mapAsMap: true });
    const fields = new Map<string, unknown>();
    if (value instanceof Map) for (const [key, held] of value) fields.set(String(key), held);
    return { fields, warnings: document.warnings.map((w) => `line ${lineOf(w.pos[0])}: ${w.message}`) };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      line: firstLine,
      what: `the YAML does not resolve: ${message}`,
      fix: 'write the values out, without * and &',
      damage: 'other',
    };
  }
}

/** Line number of a top-level key; the first line of the YAML when the key does not stand plainly at a line start. */
export function lineOfKey(yaml: string, key: string, firstLine: number): number {
  const at = yaml.split('\n').findIndex((line) => line.startsWith(`${key}:`) || line.startsWith(`"${key}"`));
  return firstLine + Math.max(at, 0);
}

const minimalKeys = 'write at least the lines "name: …" and "description: …"';

const notKeyAndValue = {
  what: 'a line is not of the form "key: value"',
  fix: 'write "key: value" with a blank after the colon',
};

function isOpenQuote(error: YAMLParseError): boolean {
  return error.code === 'MISSING_CHAR' && error.message.includes('quote');
}

function damageOf(error: YAMLParseError): Damage {
  if (isOpenQuote(error)) return 'open-quote';
  return error.code === 'BLOCK_AS_IMPLICIT_KEY' ? 'colon-in-value' : 'other';
}

/** The parser reports an open quote where the text ends; people look for it where it starts. */
function placeOf(error: YAMLParseError, yaml: string): number {
  if (!isOpenQuote(error)) return error.pos[0];
  const opened = [...yaml.slice(0, error.pos[0]).matchAll(/^[^\s#:][^:\n]*:[ \t]*["']/gm)].at(-1);
  return opened?.index ?? error.pos[0];
}

function explain(error: YAMLParseError, yaml: string): { what: string; fix: string } {
  const line = lineAround(yaml, error.pos[0]);
  switch (error.code) {
    case 'MULTILINE_IMPLICIT_KEY':
      return notKeyAndValue;
    case 'BLOCK_AS_IMPLICIT_KEY':
      return { what: 'a value holds ": " and is not quoted', fix: quoting(line) };
    case 'BAD_SCALAR_START':
    case 'UNEXPECTED_TOKEN':
    case 'BAD_ALIAS':
      return { what: `the YAML does not parse: ${error.message}`, fix: quoting(line) };
    case 'DUPLICATE_KEY': {
      const key = /^[ \t]*([^:]+?)[ \t]*:/.exec(line)?.[1] ?? 'a key';
      return { what: `the key ${key} is given twice`, fix: 'remove one of the two lines' };
    }
    case 'TAB_AS_INDENT':
      return { what: 'a tab is used as indentation', fix: 'indent with spaces' };
    case 'MISSING_CHAR':
      return isOpenQuote(error)
        ? { what: 'a quoted value is not closed', fix: 'add the closing quote' }
        : notKeyAndValue;
    default:
      return { what: `the YAML does not parse: ${error.message}`, fix: 'correct this line, or quote its value' };
  }
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return text.slice(start, lineEnd(text, offset).content).trimEnd();
}

const LONGEST_SHOWN_LINE = 160;

function quoting(line: string): string {
  const parts = /^([\w-]+):[ \t]+(.+)$/.exec(line);
  const value = parts?.[2];
  if (parts === null || value === undefined || /["\\]/.test(value) || line.length > LONGEST_SHOWN_LINE) {
    return 'put the whole value in quotes, or write it as a block: "description: >-" with the text indented below';
  }
  return `quote the value: ${parts[1]}: "${value}"`;
}
