import { fail } from '../ports/failure.ts';
import { type Damage, isProblem, layoutOf, lineOfKey, parseFrontmatter, type Span } from './frontmatter.ts';
import { countLineFeeds, type LineEndingStyle, lineEndingStyle } from './lines.ts';

/** A SKILL.md, whole and byte-exact, with the places of its parts. Offsets are UTF-16 units into `text`. */
export type SkillDocument = {
  readonly text: string;
  readonly hasBom: boolean;
  readonly lineEnding: LineEndingStyle;
  /** From the opening `---` (after a byte order mark) to the end of the closing line. */
  readonly frontmatter: Span;
  readonly body: Span;
  /** As YAML reads it, without blanks around it. */
  readonly name: string;
  readonly description: string;
  /** All keys of the frontmatter with their values. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** What the YAML parser remarked without refusing. */
  readonly yamlWarnings: readonly string[];
};

/** Longest name and description that the format allows, in code points. */
export const NAME_CAP = 64;
export const DESCRIPTION_CAP = 1024;

/** What keeps a SKILL.md from being read; `line` counts from 1. */
export type SkillProblem = {
  readonly rule: 'frontmatter' | 'name' | 'description' | 'body';
  readonly line: number;
  readonly what: string;
  readonly fix: string;
  /** Of a frontmatter that can't be read: in what way. */
  readonly damage?: Damage;
};

export type SkillReading =
  | { readonly ok: true; readonly document: SkillDocument }
  | { readonly ok: false; readonly problems: readonly [SkillProblem, ...SkillProblem[]] };

/**
 * Reads a SKILL.md. Lenient where the clients of skills are (unknown keys, a name that is not the folder's), strict
 * where one of them would skip the skill. Throws a `skill` failure whose `where` is `<where>:<line>`.
 */
export function readSkill(text: string, where = 'SKILL.md'): SkillDocument {
  const reading = tryReadSkill(text);
  if (reading.ok) return reading.document;
  const [{ line, what, fix }] = reading.problems;
  throw fail('skill', what, `${where}:${line}`, fix);
}

/** `readSkill` that tells all that is wrong. */
export function tryReadSkill(text: string): SkillReading {
  const layout = layoutOf(text);
  if (isProblem(layout)) return { ok: false, problems: [{ rule: 'frontmatter', ...layout }] };
  const yaml = text.slice(layout.yaml.start, layout.yaml.end);
  const parsed = parseFrontmatter(yaml, 2);
  if (isProblem(parsed)) return { ok: false, problems: [{ rule: 'frontmatter', ...parsed }] };

  const problems: SkillProblem[] = [];
  const field = (key: 'name' | 'description', cap: number): string => {
    const line = lineOfKey(yaml, key, 2);
    const value = parsed.fields.get(key);
    const refuse = (at: number, what: string, fix: string) => {
      problems.push({ rule: key, line: at, what, fix });
      return '';
    };
    if (value === undefined) return refuse(1, `the frontmatter has no ${key}`, `add a line "${key}: …"`);
    if (value === null || value === '') return refuse(line, `the ${key} is empty`, `write a ${key} after "${key}:"`);
    if (typeof value !== 'string') return refuse(line, `the ${key} is not a text`, `quote it: ${key}: "…"`);
    const trimmed = value.trim();
    if (trimmed === '') return refuse(line, `the ${key} is empty`, `write a ${key} after "${key}:"`);
    const length = [...trimmed].length;
    if (length > cap)
      return refuse(line, `the ${key} has ${length} characters, more than ${cap}`, `shorten it to ${cap} characters`);
    return trimmed;
  };
  const name = field('name', NAME_CAP);
  const description = field('description', DESCRIPTION_CAP);
  const obstacle = name === '' ? null : folderObstacle(name);
  if (obstacle !== null)
    problems.push({
      rule: 'name',
      line: lineOfKey(yaml, 'name', 2),
      what: `the name cannot be the name of a folder: ${obstacle}`,
      fix: 'use lower-case letters, digits and hyphens',
    });
  if (text.slice(layout.body.start).trim() === '') {
    const line = countLineFeeds(text, layout.body.start) + 1;
    const fix = 'write the instructions below the closing "---"';
    problems.push({ rule: 'body', line, what: 'the body is empty', fix });
  }
  const [first, ...rest] = problems;
  if (first !== undefined) return { ok: false, problems: [first, ...rest] };
  return {
    ok: true,
    document: {
      text,
      hasBom: layout.hasBom,
      lineEnding: lineEndingStyle(text),
      frontmatter: layout.frontmatter,
      body: layout.body,
      name,
      description,
      fields: parsed.fields,
      yamlWarnings: parsed.warnings,
    },
  };
}

/** Longest name of a folder, in bytes of UTF-8: file systems take 255, and the names of working copies are longer. */
const FOLDER_NAME_CAP = 200;

/**
 * Why a name cannot be that of a folder; null when it can. Skills are mounted in a folder of their name: a separator
 * would lead elsewhere, and names that start with a dot belong to other programs (`.git`) or to working copies.
 */
function folderObstacle(name: string): string | null {
  if (name.startsWith('.')) return 'it starts with a dot';
  if (/[/\\]/.test(name)) return 'it holds a slash';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return 'it holds a control character';
  if (!name.isWellFormed()) return 'it holds half a surrogate pair';
  const bytes = new TextEncoder().encode(name).length;
  return bytes > FOLDER_NAME_CAP ? `it takes ${bytes} bytes, more than ${FOLDER_NAME_CAP}` : null;
}

/**
 * Decodes the bytes of a SKILL.md without changing any: a byte order mark stays. Throws a `skill` failure with the line
 * for invalid UTF-8 and for NUL.
 */
export function decodeSkill(bytes: Uint8Array, where: string): string {
  const strict = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text: string;
  try {
    text = strict().decode(bytes);
  } catch (cause) {
    const line = linesBefore(bytes, longestValidPrefix(bytes, strict)) + 1;
    throw fail('skill', 'the file is not valid UTF-8', `${where}:${line}`, 'save it as UTF-8', { cause });
  }
  const nul = text.indexOf('\0');
  if (nul !== -1) {
    const line = countLineFeeds(text, nul) + 1;
    throw fail(
      'skill',
      'the file holds a NUL character',
      `${where}:${line}`,
      'remove it, or save the file as UTF-8 text',
    );
  }
  return text;
}

/** Length of the longest prefix without a wrong byte: a prefix that only stops inside a character still counts. */
function longestValidPrefix(bytes: Uint8Array, decoder: () => TextDecoder): number {
  const valid = (length: number): boolean => {
    try {
      decoder().decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (valid(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function linesBefore(bytes: Uint8Array, end: number): number {
  let count = 0;
  for (const byte of bytes.subarray(0, end)) if (byte === 0x0a) count += 1;
  return count;
}
