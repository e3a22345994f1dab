import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hostEnvironment } from '../config/environment.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import type { SkillFinding } from '../skill/findings.ts';
import { lintSkill, type SkillLint } from '../skill/lint.ts';
import { isOnPath } from '../taskpack/commands.ts';
import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { shownDir } from './read-state.ts';
import { redactor } from './secrets.ts';
import { lookAt, readSkillFile } from './skill-file.ts';
import { bundleOf } from './sources.ts';

export type LintOptions = { readonly strict?: boolean };

/** What was found in one file; `lint` is null when it is no text. */
type Linted = {
  readonly path: string;
  readonly ok: boolean;
  readonly findings: readonly SkillFinding[];
  readonly lint: SkillLint | null;
  /** Commands that the skill names and that this machine does not have. */
  readonly notHere: readonly string[];
};

/** Looks at skills and prints what was found; errors (with `strict` warnings, too) fail the exit code. */
export async function lint(paths: readonly string[], options: LintOptions, { io }: CommandContext): Promise<void> {
  const files = paths.map(skillFile);
  const linted: Linted[] = [];
  for (const file of files) linted.push(await lintFile(file, options.strict === true));
  const ok = linted.every((l) => l.ok);
  const shown = linted.map((l) => ({
    path: l.path,
    ok: l.ok,
    name: l.lint?.name ?? null,
    findings: l.findings,
    agents: l.lint?.agents ?? [],
    size: l.lint?.size ?? null,
    commands: (l.lint?.commands ?? []).map((c) => ({ ...c, here: !l.notHere.includes(c.name) })),
    allowedTools: l.lint?.allowedTools ?? [],
  }));
  io.result(
    { ok, skills: shown },
    linted.flatMap((l, i) => (i === 0 ? lintLines(l) : ['', ...lintLines(l)])),
  );
  if (!ok) process.exitCode = exitCodes.skill;
}

/** The SKILL.md that a path names; a lower-case skill.md is found too, to be told. */
function skillFile(given: string): string {
  const path = resolve(given);
  const found = lookAt(path);
  if (found === null)
    throw fail('skill', 'there is no such skill', path, 'give the path of a SKILL.md or of its folder');
  if (!found.isDirectory()) return path;
  const file = ['SKILL.md', 'skill.md'].map((name) => join(path, name)).find((file) => existsSync(file));
  if (file === undefined)
    throw fail('skill', 'there is no SKILL.md', join(path, 'SKILL.md'), 'a skill is a folder with a file SKILL.md');
  return file;
}

async function lintFile(file: string, strict: boolean): Promise<Linted> {
  const own: SkillFinding[] = [];
  const error = (rule: string, line: number, what: string, fix: string) =>
    own.push({ rule, level: 'error', line, what, fix });
  if (basename(file) !== 'SKILL.md')
    error('file-name', 1, `the file is named ${basename(file)}`, 'name it SKILL.md: most agents look for nothing else');
  let found: SkillLint | null = null;
  try {
    const text = readSkillFile(file);
    const folder = dirname(file);
    const { files } = await bundleOf(folder);
    found = lintSkill(text, { directoryName: basename(folder), files });
    for (const line of await secretLines(text))
      error('secret', line, 'something like a key or a password', 'take it out; name an environment variable instead');
  } catch (e) {
    if (!(e instanceof SkilloptError) || e.failure.code !== 'skill') throw e;
    const { what, where, fix } = e.failure;
    error('file', Number(/:(\d+)$/.exec(where)?.[1] ?? 1), what, fix);
  }
  const findings = [...own, ...(found?.findings ?? [])];
  const unseen = found?.agents.some((a) => a.sees === 'no') ?? false;
  const path = hostEnvironment().PATH ?? '';
  return {
    path: shownDir(file),
    ok: !unseen && !findings.some((f) => f.level === 'error' || (strict && f.level === 'warning')),
    findings,
    lint: found,
    notHere: (found?.commands ?? []).map((c) => c.name).filter((name) => !isOnPath(name, path)),
  };
}

/** Lines (from 1) that redaction would change. */
async function secretLines(text: string): Promise<readonly number[]> {
  const clean = await redactor()(text);
  if (clean === text) return [];
  const [was, is] = [text.split('\n'), clean.split('\n')];
  const first = was.findIndex((line, i) => line !== is[i]);
  if (was.length !== is.length) return [first + 1];
  return was.flatMap((line, i) => (line === is[i] ? [] : [i + 1]));
}

const number = new Intl.NumberFormat('en-US');
const label = (text: string) => text.padEnd(12);

function lintLines({ path, ok, findings, lint: found, notHere }: Linted): readonly string[] {
  const lines = [`${label('skill')}${path}${found?.name ? ` · ${found.name}` : ''}`];
  if (found !== null) {
    const { size } = found;
    const beside = size.files === 0 ? '' : ` · ${size.files} ${size.files === 1 ? 'file' : 'files'} beside it`;
    lines.push(
      `${label('size')}${number.format(size.lines)} lines · about ${number.format(size.bodyTokens)} tokens when opened, ${number.format(size.alwaysTokens)} always${beside}`,
    );
  }
  for (const f of findings)
    lines.push(`${label(f.level)}line ${f.line}: ${f.what}`, `${label('')}→ ${f.fix} (${f.rule})`);
  if (found !== null) {
    const { agents, commands, allowedTools } = found;
    const asIs = agents.filter((a) => a.sees === 'yes' && a.how === '').map((a) => a.agent);
    if (asIs.length > 0) lines.push(`${label('seen by')}${asIs.join(', ')}`);
    for (const a of agents) {
      if (a.sees === 'no') lines.push(`${label('not seen by')}${a.agent}: ${a.how}`);
      else if (a.sees === 'unknown') lines.push(`${label('unknown')}whether ${a.agent} sees it: ${a.how}`);
      else if (a.how !== '') lines.push(`${label('seen by')}${a.agent}, ${a.how}`);
    }
    if (commands.length > 0) {
      const named = commands.map((c) => `${c.name} (line ${c.line}${notHere.includes(c.name) ? ', not here' : ''})`);
      lines.push(`${label('commands')}${named.join(', ')}`);
    }
    if (allowedTools.length > 0) lines.push(`${label('tools')}${allowedTools.join(', ')}`);
  }
  const count = (level: SkillFinding['level'], many: string) => {
    const n = findings.filter((f) => f.level === level).length;
    return `${n} ${n === 1 ? level : many}`;
  };
  const [errors, warnings, advice] = [
    count('error', 'errors'),
    count('warning', 'warnings'),
    count('advice', 'pieces of advice'),
  ];
  lines.push(
    `${label(ok ? 'sound' : 'not sound')}${errors}, ${warnings}, ${advice.replace('1 advice', '1 piece of advice')}`,
  );
  return lines;
}
