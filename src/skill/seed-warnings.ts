import type { SkillDocument } from './document.ts';
import { countLines, toLf } from './lines.ts';
import { parseBlocks, unclosedFences } from './markdown.ts';
import { DEFAULT_MAX_LINES, DEFAULT_MAX_TOKENS, estimateTokens } from './size.ts';
import { codePointName, steeringCharacters } from './steering.ts';

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);

const MOST_PLACES = 5;

/**
 * What some client or validator dislikes in a seed that loads all the same, one sentence each without a period.
 * `directoryName` = name of the folder that holds the SKILL.md.
 */
export function seedWarnings(document: SkillDocument, directoryName: string): string[] {
  return [...encodingWarnings(document), ...fieldWarnings(document, directoryName), ...bodyWarnings(document)];
}

function encodingWarnings({ text, hasBom, lineEnding, frontmatter }: SkillDocument): string[] {
  const warnings: string[] = [];
  const head = text.slice(frontmatter.start, frontmatter.end);
  if (hasBom)
    warnings.push('the file starts with a byte order mark; some clients do not see the frontmatter behind it');
  if (head.includes('\r')) warnings.push('the frontmatter has CRLF line ends; some validators accept only LF');
  if (lineEnding === 'mixed') warnings.push('lines end in different ways; each line end is kept as it is');
  const steering = steeringCharacters(text);
  if (steering.length > 0) {
    const shown = steering.slice(0, MOST_PLACES).map((c) => `${codePointName(c.character)} in line ${c.line}`);
    const more = steering.length > shown.length ? ` and ${steering.length - shown.length} more` : '';
    warnings.push(
      `characters steer a terminal or turn the text around: ${shown.join(', ')}${more}; they are kept as they are`,
    );
  }
  if (/^---[ \t]/m.test(head)) warnings.push('a "---" line has blanks after it; some clients do not recognize it');
  return warnings;
}

function fieldWarnings({ name, description, fields, yamlWarnings }: SkillDocument, directoryName: string): string[] {
  const warnings = yamlWarnings.map((w) => `the frontmatter: ${w}`);
  if (name !== directoryName) warnings.push(`the name "${name}" is not the name of its folder "${directoryName}"`);
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    warnings.push(`the name "${name}" is not made of lower-case letters, digits and single hyphens`);
  }
  if (/[<>]/.test(description)) warnings.push('the description holds "<" or ">", which some validators refuse');
  for (const key of fields.keys()) {
    if (!KNOWN_KEYS.has(key)) warnings.push(`the key "${key}" is not in the format; it is kept as it is`);
  }
  const compatibility = fields.get('compatibility');
  if (typeof compatibility === 'string' && [...compatibility].length > 500) {
    warnings.push('the compatibility is longer than 500 characters');
  }
  const metadata = fields.get('metadata');
  const plain = metadata instanceof Map && [...metadata.values()].every((value) => typeof value === 'string');
  if (metadata !== undefined && !plain) warnings.push('the metadata is not a mapping of texts to texts');
  return warnings;
}

function bodyWarnings({ text, body }: SkillDocument): string[] {
  const warnings: string[] = [];
  const plain = toLf(text.slice(body.start, body.end));
  const lines = countLines(plain);
  const tokens = estimateTokens(plain);
  if (lines > DEFAULT_MAX_LINES)
    warnings.push(`the body has ${lines} lines, more than the advised ${DEFAULT_MAX_LINES}`);
  if (tokens > DEFAULT_MAX_TOKENS) {
    warnings.push(`the body has about ${tokens} tokens, more than the advised ${DEFAULT_MAX_TOKENS}`);
  }
  const bodyLine = countLines(toLf(text.slice(0, body.start)));
  for (const line of unclosedFences(parseBlocks(plain))) {
    warnings.push(`the code fence that opens in line ${bodyLine + line + 1} is not closed where Markdown expects it`);
  }
  return warnings;
}
