import { isMap, isScalar, parseDocument, Scalar } from 'yaml';
import { SkilloptError } from '../ports/failure.ts';
import { readSkill, type SkillDocument } from './document.ts';
import { isProblem, layoutOf, type Span } from './frontmatter.ts';
import { sameValue } from './same-value.ts';

/** A description as one paragraph: what agents show of it, and what edits of it apply to. */
export function oneParagraph(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The document, or null where `readSkill` refuses it. */
export function readableSkill(text: string): SkillDocument | null {
  try {
    return readSkill(text);
  } catch (thrown) {
    if (thrown instanceof SkilloptError) return null;
    throw thrown;
  }
}

type Style = 'plain' | 'single' | 'double' | 'folded' | 'literal';
/** Where the description's value stands, in UTF-16 units of the whole text, and how it is written. */
export type DescriptionPlace = Span & { readonly style: Style };

const styles: Readonly<Record<string, Style>> = {
  [Scalar.PLAIN]: 'plain',
  [Scalar.QUOTE_SINGLE]: 'single',
  [Scalar.QUOTE_DOUBLE]: 'double',
  [Scalar.BLOCK_FOLDED]: 'folded',
  [Scalar.BLOCK_LITERAL]: 'literal',
};

/** The place of the description's value; null where it is no value of its own, such as an alias. */
export function descriptionPlace(text: string): DescriptionPlace | null {
  const layout = layoutOf(text);
  if (isProblem(layout)) return null;
  const { start, end } = layout.yaml;
  const { contents } = parseDocument(text.slice(start, end), { prettyErrors: false, logLevel: 'silent' });
  if (!isMap(contents)) return null;
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === 'description');
  if (!isScalar(pair?.value)) return null;
  const { range, type } = pair.value;
  const style = styles[type ?? ''];
  if (style === undefined || range === undefined || range === null || range[0] === range[1]) return null;
  return { start: start + range[0], end: start + range[1], style };
}

/**
 * The text with another description, a paragraph without blanks around it; all else keeps its bytes. The value is
 * written in the style that it had, in double quotes where that style can't hold it. Null where no way of writing it
 * reads back as exactly this description beside the same other fields.
 */
export function withDescription(text: string, wanted: string): string | null {
  const before = readableSkill(text);
  const place = descriptionPlace(text);
  if (before === null || place === null) return null;
  for (const written of waysToWrite(wanted, text.slice(place.start, place.end), place.style)) {
    const candidate = text.slice(0, place.start) + written + text.slice(place.end);
    if (readsAs(candidate, wanted, before)) return candidate;
  }
  return null;
}

function readsAs(text: string, wanted: string, before: SkillDocument): boolean {
  const after = readableSkill(text);
  if (after === null || after.description !== wanted) return false;
  if (text.slice(after.body.start) !== before.text.slice(before.body.start)) return false;
  return sameFieldsBeside(before, after);
}

/** All fields but the description have the same values in the same order. */
export function sameFieldsBeside(a: SkillDocument, b: SkillDocument): boolean {
  const others = ({ fields }: SkillDocument) => [...fields].filter(([key]) => key !== 'description');
  return sameValue(others(a), others(b));
}

/** Ways to write a value in place of another, the style that it had first. */
function waysToWrite(value: string, raw: string, style: Style): readonly string[] {
  const double = doubleQuoted(value);
  switch (style) {
    case 'plain':
      return isPlain(value) ? [value, double] : [double];
    case 'single':
      return [`'${value.replaceAll("'", "''")}'`, double];
    case 'double':
      return [double];
    case 'folded':
    case 'literal':
      return [block(value, raw, style), double + raw.slice(raw.trimEnd().length)];
    default:
      return style satisfies never;
  }
}

/** What a quoted value may not hold as it is; JSON writes the rest as YAML does. */
function doubleQuoted(value: string): string {
  return JSON.stringify(value);
}

/** Words that some parser of YAML takes for something else than a text. */
const notWords = /^(?:true|false|yes|no|on|off|y|n|null|nan)$/i;

/** A text that every parser of YAML reads as itself without quotes: stricter than the format, whose readers differ. */
function isPlain(value: string): boolean {
  return /^[\p{L}(]/u.test(value) && !/:(?:\s|$)|\s#|[\t{}[\],]\s*$/.test(value) && !notWords.test(value);
}

/** Lines are filled up to the longest that stood there, so that a diff shows few changed ones; never below this. */
const LEAST_WIDTH = 60;

/** A block scalar with the header, the indentation and the end of the one before. */
function block(value: string, raw: string, style: 'folded' | 'literal'): string {
  const lineEnd = raw.includes('\r\n') ? '\r\n' : '\n';
  const [header = '', ...lines] = raw.split(/\r?\n/);
  const texts = lines.filter((line) => line.trim() !== '');
  const indent = /^ */.exec(texts[0] ?? '  ')?.[0] ?? '';
  const width = Math.max(LEAST_WIDTH, ...texts.map((line) => line.trim().length));
  const written = style === 'folded' ? filled(value, width) : [value];
  return [header, ...written.map((line) => indent + line)].join(lineEnd) + raw.slice(raw.trimEnd().length);
}

/** Words in lines of at most so many characters, where they fit. */
function filled(value: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of value.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
