import { NAME_CAP, type SkillDocument } from './document.ts';
import { lineOfKey } from './frontmatter.ts';
import { countLineFeeds, countLines, toLf } from './lines.ts';
import { parseBlocks, unclosedFences } from './markdown.ts';
import { DEFAULT_MAX_LINES, DEFAULT_MAX_TOKENS, estimateTokens } from './size.ts';
import { codePointName, steeringCharacters } from './steering.ts';

/**
 * Something that is odd about a SKILL.md. `error`: against the format, or some agent does not see the skill;
 * `warning`: some validator, client or reader takes offence; `advice`: the format's advice, or ours.
 */
export type SkillFinding = {
  readonly rule: string;
  readonly level: 'error' | 'warning' | 'advice';
  /** From 1 in the whole file. */
  readonly line: number;
  /** A sentence without its period. */
  readonly what: string;
  readonly fix: string;
};

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);

const COMPATIBILITY_CAP = 500;
const MOST_PLACES = 5;

/** What some client or validator dislikes in a skill that can be read. `directoryName` = the folder that holds its SKILL.md. */
export function skillFindings(document: SkillDocument, directoryName: string): readonly SkillFinding[] {
  return [...encodingFindings(document), ...fieldFindings(document, directoryName), ...bodyFindings(document)];
}

function encodingFindings({ text, hasBom, lineEnding, frontmatter }: SkillDocument): readonly SkillFinding[] {
  const found: SkillFinding[] = [];
  const warn = (rule: string, line: number, what: string, fix: string) =>
    found.push({ rule, level: 'warning', line, what, fix });
  const head = text.slice(frontmatter.start, frontmatter.end);
  if (hasBom)
    found.push({
      rule: 'byte-order-mark',
      level: 'error',
      line: 1,
      what: 'the file starts with a byte order mark; some clients do not see the frontmatter behind it',
      fix: 'save it as UTF-8 without a byte order mark',
    });
  if (head.includes('\r'))
    warn('line-ends', 1, 'the frontmatter has CRLF line ends; some validators accept only LF', 'save it with LF');
  if (lineEnding === 'mixed') {
    const what = 'lines end in different ways; each line end is kept as it is';
    warn('line-ends', 1, what, 'save it with one kind of line end');
  }
  const steering = steeringCharacters(text);
  if (steering.length > 0) {
    const shown = steering.slice(0, MOST_PLACES).map((c) => `${codePointName(c.character)} in line ${c.line}`);
    const more = steering.length > shown.length ? ` and ${steering.length - shown.length} more` : '';
    warn(
      'steering-characters',
      steering[0]?.line ?? 1,
      `characters steer a terminal or turn the text around: ${shown.join(', ')}${more}; they are kept as they are`,
      'take them out, if nobody needs them there',
    );
  }
  const blanks = /^---[ \t]/m.exec(head);
  if (blanks !== null)
    warn(
      'delimiter',
      countLineFeeds(head, blanks.index) + 1,
      'a "---" line has blanks after it; some clients do not recognize it',
      'take the blanks out',
    );
  return found;
}

function fieldFindings(document: SkillDocument, directoryName: string): readonly SkillFinding[] {
  const { name, description, fields, yamlWarnings } = document;
  const yaml = document.text.slice(document.frontmatter.start, document.frontmatter.end).replace(/^.*\n/, '');
  const lineOf = (key: string) => lineOfKey(yaml, key, 2);
  const found: SkillFinding[] = yamlWarnings.map((w) => ({
    rule: 'yaml',
    level: 'warning',
    line: Number(/^line (\d+)/.exec(w)?.[1] ?? 2),
    what: `the frontmatter: ${w}`,
    fix: 'write the value plainly, or quote it',
  }));
  const add = (level: SkillFinding['level'], rule: string, key: string, what: string, fix: string) =>
    found.push({ rule, level, line: lineOf(key), what, fix });
  if (name !== directoryName)
    add(
      'error',
      'name-folder',
      'name',
      `the name "${name}" is not the name of its folder "${directoryName}"`,
      'rename one of the two: the format wants them equal, and some agents take the folder’s name',
    );
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    const what = `the name "${name}" is not made of lower-case letters, digits and single hyphens`;
    add('error', 'name-form', 'name', what, `write ${plainName(name) ?? 'a name of these'}`);
  }
  if (/[<>]/.test(description)) {
    const what = 'the description holds "<" or ">", which some validators refuse';
    add('warning', 'description-form', 'description', what, 'write it without them');
  }
  for (const key of fields.keys()) {
    if (!KNOWN_KEYS.has(key)) {
      const fix = 'some validators refuse it; "metadata" is the place for keys of one’s own';
      add('warning', 'unknown-key', key, `the key "${key}" is not in the format; it is kept as it is`, fix);
    }
  }
  const compatibility = fields.get('compatibility');
  if (typeof compatibility === 'string' && [...compatibility].length > COMPATIBILITY_CAP) {
    const what = `the compatibility is longer than ${COMPATIBILITY_CAP} characters`;
    add('error', 'compatibility', 'compatibility', what, 'shorten it');
  }
  const metadata = fields.get('metadata');
  const plain = metadata instanceof Map && [...metadata.values()].every((value) => typeof value === 'string');
  if (metadata !== undefined && !plain)
    add('error', 'metadata', 'metadata', 'the metadata is not a mapping of texts to texts', 'quote its values');
  const tools = fields.get('allowed-tools');
  if (tools !== undefined && typeof tools !== 'string') {
    const fix = 'write the tools one after the other, with blanks between them';
    add('warning', 'allowed-tools', 'allowed-tools', 'the allowed-tools are not one text', fix);
  }
  return found;
}

/** The nearest name that the format allows. */
function plainName(name: string): string | null {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain === '' || plain.length > NAME_CAP ? null : plain;
}

function bodyFindings({ text, body }: SkillDocument): readonly SkillFinding[] {
  const found: SkillFinding[] = [];
  const plain = toLf(text.slice(body.start, body.end));
  const lines = countLines(plain);
  const tokens = estimateTokens(plain);
  const bodyLine = countLines(toLf(text.slice(0, body.start)));
  const large = (what: string) =>
    found.push({
      rule: 'size',
      level: 'warning',
      line: bodyLine + 1,
      what,
      fix: 'move what is seldom needed into a file beside it, and name that file',
    });
  if (lines > DEFAULT_MAX_LINES) large(`the body has ${lines} lines, more than the advised ${DEFAULT_MAX_LINES}`);
  if (tokens > DEFAULT_MAX_TOKENS)
    large(`the body has about ${tokens} tokens, more than the advised ${DEFAULT_MAX_TOKENS}`);
  for (const line of unclosedFences(parseBlocks(plain))) {
    const at = bodyLine + line + 1;
    const what = `the code fence that opens in line ${at} is not closed where Markdown expects it`;
    found.push({ rule: 'open-fence', level: 'warning', line: at, what, fix: 'close it with a line of its own' });
  }
  return found;
}
