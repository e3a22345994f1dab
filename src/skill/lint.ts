import { type AgentView, agentViews, type Oddity } from './agents-view.ts';
import { DESCRIPTION_CAP, type SkillDocument, type SkillProblem, tryReadSkill } from './document.ts';
import { type SkillFinding, skillFindings } from './findings.ts';
import { isProblem, layoutOf, parseFrontmatter } from './frontmatter.ts';
import { countLines, toLf } from './lines.ts';
import { parseBlocks } from './markdown.ts';
import { markerLines } from './markers.ts';
import { type NamedCommand, namedCommands } from './named-commands.ts';
import { names, referencesOf, resolves } from './references.ts';
import { estimateTokens } from './size.ts';

/** All that can be said of a SKILL.md without a model. */
export type SkillLint = {
  /** As YAML reads it; null when it can't. */
  readonly name: string | null;
  readonly findings: readonly SkillFinding[];
  readonly agents: readonly AgentView[];
  readonly size: {
    readonly lines: number;
    /** Tokens, estimated as characters / 4: always in the context, and when the skill is opened. */
    readonly alwaysTokens: number;
    readonly bodyTokens: number;
    readonly files: number;
  };
  /** Commands that it tells its agent to run. */
  readonly commands: readonly NamedCommand[];
  /** Tools that `allowed-tools` names, as they stand there. */
  readonly allowedTools: readonly string[];
};

/** What lies beside a SKILL.md: the name of its folder, and the files in it, relative, with forward slashes. */
export type SkillPlace = { readonly directoryName: string; readonly files: readonly string[] };

/** Looks at the text of a SKILL.md by the format's rules and by what agents make of it. Never throws. */
export function lintSkill(text: string, place: SkillPlace): SkillLint {
  const reading = tryReadSkill(text);
  const fields = fieldsOf(text);
  const body = bodyOf(text);
  const textOf = (key: string) => (typeof fields?.get(key) === 'string' ? String(fields.get(key)).trim() : '');
  const findings = reading.ok
    ? [...skillFindings(reading.document, place.directoryName), ...bodyRules(reading.document, place)]
    : reading.problems.map(problemFinding);
  return {
    name: textOf('name') || null,
    findings: findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level) || a.line - b.line),
    agents: agentViews(odditiesOf(text, fields, reading.ok ? [] : reading.problems, place.directoryName)),
    size: {
      lines: countLines(toLf(text)),
      alwaysTokens: estimateTokens(textOf('name') + textOf('description')),
      bodyTokens: estimateTokens(toLf(body)),
      files: place.files.length,
    },
    commands: reading.ok ? namedCommands(reading.document) : [],
    allowedTools: toolsOf(fields?.get('allowed-tools')),
  };
}

function toolsOf(value: unknown): readonly string[] {
  const text = Array.isArray(value) ? value.join(' ') : typeof value === 'string' ? value : '';
  return text.match(/[^\s(,]+(?:\([^)]*\))?/g) ?? [];
}

const levels: readonly SkillFinding['level'][] = ['error', 'warning', 'advice'];

function problemFinding({ rule, line, what, fix }: SkillProblem): SkillFinding {
  return { rule, level: 'error', line, what, fix };
}

function fieldsOf(text: string): ReadonlyMap<string, unknown> | null {
  const layout = layoutOf(text);
  if (isProblem(layout)) return null;
  const parsed = parseFrontmatter(text.slice(layout.yaml.start, layout.yaml.end), 2);
  return isProblem(parsed) ? null : parsed.fields;
}

function bodyOf(text: string): string {
  const layout = layoutOf(text);
  return isProblem(layout) ? text : text.slice(layout.body.start);
}

function odditiesOf(
  text: string,
  fields: ReadonlyMap<string, unknown> | null,
  problems: readonly SkillProblem[],
  directoryName: string,
): readonly Oddity[] {
  const bom: Oddity[] = text.startsWith('\uFEFF') ? ['byte-order-mark'] : [];
  const damage = problems.find((p) => p.damage !== undefined)?.damage;
  if (fields === null) return [...bom, damage === undefined || damage === 'other' ? 'damaged' : damage];
  const found = [...bom];
  const [name, description] = [fields.get('name') ?? '', fields.get('description') ?? ''];
  if (name === '') found.push('name-missing');
  else if (name !== directoryName) found.push('name-folder');
  if (description === '') found.push('description-missing');
  else if ([...String(description).trim()].length > DESCRIPTION_CAP) found.push('description-long');
  if (fields.get('disable-model-invocation') === true) found.push('not-for-models');
  return found;
}

/** Dead references that are told one by one. */
const MOST_DEAD = 50;
/** Paths that exist on one person's machine alone. */
const ownPath = /(?<![\w.])(?:\/(?:Users|home)\/[\w.-]+|[A-Z]:\\Users\\[\w.-]+)/;
/** Words that order in capitals, and how many of them in a hundred lines are too many to be heard. */
const orders = /\b(?:MUST|NEVER|ALWAYS|CRITICAL|IMPORTANT)\b/g;
const MOST_ORDERS = 10;
/** A description that says when to use the skill has one of these. */
const saysWhen = /\b(?:when|whenever|if|for|before|after|while|during|asks?|asked|wants?|needs?)\b/i;

function bodyRules(document: SkillDocument, { files }: SkillPlace): readonly SkillFinding[] {
  const body = toLf(document.text.slice(document.body.start));
  const firstLine = countLines(toLf(document.text.slice(0, document.body.start))) + 1;
  const lines = body.split('\n');
  const found: SkillFinding[] = [];
  const lineOf = (path: string) =>
    firstLine +
    Math.max(
      0,
      lines.findIndex((l) => names(l, path, { afterSlash: true })),
    );
  const bundled = new Set(files);
  let dead = 0;
  for (const path of referencesOf(parseBlocks(body)))
    if (!resolves(path, bundled)) {
      if (++dead <= MOST_DEAD)
        found.push({
          rule: 'dead-reference',
          level: 'warning',
          line: lineOf(path),
          what: `${path} is named, and no such file lies in the skill’s folder`,
          fix: 'add the file, or take the reference out',
        });
    } else if (path.replace(/\/$/, '').split('/').length > 2)
      found.push({
        rule: 'deep-reference',
        level: 'advice',
        line: lineOf(path),
        what: `${path} lies more than one folder deep`,
        fix: 'the format advises references one level deep',
      });
  if (dead > MOST_DEAD)
    found.push({
      rule: 'dead-reference',
      level: 'warning',
      line: found.findLast((f) => f.rule === 'dead-reference')?.line ?? firstLine,
      what: `${dead - MOST_DEAD} more files are named that do not lie in the skill’s folder`,
      fix: 'check that the folder is whole, and look again',
    });
  for (const { kind, line } of markerLines(body)) {
    const what = `${kind} was left behind`;
    found.push({ rule: 'leftover-marker', level: 'warning', line: firstLine + line, what, fix: 'take the line out' });
  }
  const own = lines.findIndex((line) => ownPath.test(line));
  if (own !== -1)
    found.push({
      rule: 'own-path',
      level: 'warning',
      line: firstLine + own,
      what: `${ownPath.exec(lines[own] ?? '')?.[0]} is a folder of one machine`,
      fix: 'write the path from the project, or from $HOME',
    });
  const loud = body.match(orders)?.length ?? 0;
  if (loud > 3 && loud / Math.max(lines.length, 20) > MOST_ORDERS / 100)
    found.push({
      rule: 'capitals',
      level: 'advice',
      line: firstLine,
      what: `${loud} orders in capitals in ${lines.length} lines`,
      fix: 'say why instead: a reason is followed further than an order',
    });
  if (!saysWhen.test(document.description))
    found.push({
      rule: 'description-when',
      level: 'advice',
      line: firstLineOf(document, 'description'),
      what: 'the description does not say when to use the skill, and it is all that an agent sees before it opens it',
      fix: 'add the cases and the words by which people ask for it',
    });
  return found;
}

function firstLineOf(document: SkillDocument, key: string): number {
  return Math.max(
    1,
    toLf(document.text)
      .split('\n')
      .findIndex((line) => line.startsWith(`${key}:`)) + 1,
  );
}
