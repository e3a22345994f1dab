import type { SkillDocument } from './document.ts';
import { countLineFeeds, toLf } from './lines.ts';
import { parseBlocks } from './markdown.ts';
import { type ShellCommand, shellCommands } from './shell-words.ts';

/** A command that a skill tells its agent to run, and the line of the file where it does so first. */
export type NamedCommand = { readonly name: string; readonly line: number };

/**
 * The commands that a skill names so plainly that it needs them: in code blocks marked as shell, in inline code right
 * after a word such as "run", and in `allowed-tools: Bash(NAME …)`. Each once, in the order of the file. Left out are
 * what a shell has by itself, paths, placeholders, and what the skill installs, defines or first looks for.
 */
export function namedCommands(document: SkillDocument): readonly NamedCommand[] {
  const { text, body } = document;
  const bodyLine = countLineFeeds(toLf(text.slice(0, body.start)));
  const commands = [...allowedTools(document), ...bodyCommands(toLf(text.slice(body.start, body.end)), bodyLine)];
  const excused = new Set(commands.flatMap(({ words }) => excusedBy(words)));
  const found = new Map<string, number>();
  for (const { words, line } of commands) {
    const name = programOf(words);
    if (name !== null && !excused.has(name) && !found.has(name)) found.set(name, line + 1);
  }
  return [...found].map(([name, line]) => ({ name, line })).sort((a, b) => a.line - b.line);
}

function bodyCommands(lfBody: string, bodyLine: number): readonly ShellCommand[] {
  return parseBlocks(lfBody).tokens.flatMap((token) => {
    const line = bodyLine + (token.map?.[0] ?? 0);
    const at = (commands: readonly ShellCommand[], first: number) =>
      commands.map(({ words, line: offset }) => ({ words, line: first + offset }));
    if (token.type === 'fence') return at(fenceCommands(token.info, token.content), line + 1);
    return token.type === 'inline' ? at(inlineCommands(token.content), line) : [];
  });
}

/** In a transcript only what follows a prompt is a command; the rest is output. */
function fenceCommands(info: string, content: string): readonly ShellCommand[] {
  const language = /^\w*/.exec(info.trim().toLowerCase())?.[0] ?? '';
  if (!/^(?:sh|bash|zsh|shell|console|terminal|shellsession)$/.test(language)) return [];
  const prompts = /^[ \t]*[$%] /m.test(content);
  if (!prompts) return /^(?:console|terminal|shellsession)$/.test(language) ? [] : shellCommands(content);
  return shellCommands(content.replace(/^[ \t]*(?:([$%]) )?(.*)$/gm, (_, prompt, rest) => (prompt ? rest : '')));
}

/** "run `jq .`", "execute the command `make`". */
function inlineCommands(content: string): readonly ShellCommand[] {
  const lead =
    /\b(?:run|runs|running|execute|executes|executing|invoke|invokes|install|installs)(?:\s+the\s+command)?:?\s+/;
  let passed = 0; // line feeds before `upTo`: a paragraph may be long and hold many commands
  let upTo = 0;
  const lineAt = (at: number): number => {
    for (let next = content.indexOf('\n', upTo); next !== -1 && next < at; next = content.indexOf('\n', upTo)) {
      passed++;
      upTo = next + 1;
    }
    return passed;
  };
  return [...content.matchAll(new RegExp(`(${lead.source})(\`+)([^\`]+)\\2`, 'gi'))].flatMap((m) => {
    const [, lead = '', ticks = '', code = ''] = m;
    const start = m.index + lead.length + ticks.length;
    const installs = /^install/i.test(lead);
    const before = lineAt(start);
    return shellCommands(code.replaceAll('\n', ' ')).map(({ words }) => ({
      words: installs ? ['', 'install', ...words] : words,
      line: before + countLineFeeds(code, Math.max(0, code.indexOf(programOf(words) ?? ''))), // code may go over lines
    }));
  });
}

/** `allowed-tools: Bash(git add:*) Bash(jq *)`. */
function allowedTools({ text, frontmatter }: SkillDocument): readonly ShellCommand[] {
  const head = text.slice(frontmatter.start, frontmatter.end);
  const value = /^allowed-tools:.*(?:\r?\n[ \t]+.*)*/m.exec(head);
  if (value === null) return [];
  return [...value[0].matchAll(/\bBash\(([^\s:*)]+)/g)].map((m) => ({
    words: [m[1] ?? ''],
    line: countLineFeeds(toLf(text.slice(0, frontmatter.start + value.index + m.index))),
  }));
}

const KEYWORDS = new Set('if then elif else while until do ! { } time exec command builtin nohup env sudo'.split(' '));
const HEADS = new Set('for case select function in fi done esac'.split(' '));
const BUILTINS = new Set(
  '. : [ [[ alias bg break cd continue declare echo eval exit export false fg getopts hash help history jobs kill let local popd printf pushd pwd read readonly return set shift shopt source test times trap true type typeset ulimit umask unalias unset wait which'.split(
    ' ',
  ),
);

/** The program that a command starts, as a plain name; null = none that could be looked for. */
function programOf(words: readonly string[]): string | null {
  let passed = false;
  for (const word of words) {
    if (/^\w+\+?=/.test(word) || KEYWORDS.has(word) || (passed && word.startsWith('-'))) {
      passed = true;
      continue;
    }
    const isName = /^[a-z][a-z0-9_+-]*(?:\.\d+)*$/.test(word);
    return isName && !HEADS.has(word) && !BUILTINS.has(word) && !isPlaceholder(word) ? word : null;
  }
  return null;
}

const isPlaceholder = (word: string) => /^(?:your|my|some|foo|bar|baz|command|cmd|program|tool)(?:$|[-_])/.test(word);

/** What a command makes it needless to have: it installs it, looks for it first, or defines it. */
function excusedBy(words: readonly string[]): readonly string[] {
  const plain = (list: readonly string[]) =>
    list.map((word) => /([\w+.-]+?)(?:@[\w.^~-]*|[=<>]=.*)?$/.exec(word.replace(/^["']|["']$/g, ''))?.[1] ?? word);
  const at = words.findIndex((word) => /^(?:install|add|tap)$/.test(word));
  if (at > 0) return plain(words.slice(at + 1));
  if (/^(?:npm|pnpm|bun)$/.test(words[0] ?? '') && words[1] === 'i') return plain(words.slice(2));
  if (/^(?:which|type|hash)$/.test(words[0] ?? '')) return words.slice(1);
  const looks = words.indexOf('command');
  if (looks >= 0 && /^-[vV]$/.test(words[looks + 1] ?? '')) return words.slice(looks + 2);
  if (words[0] === 'alias') return words.slice(1).map((word) => word.split('=')[0] ?? '');
  if (words[0] === 'function') return words.slice(1, 2).map((word) => word.replace(/\(\)$/, ''));
  return words.slice(0, 1).flatMap((word) => (word.endsWith('()') ? [word.slice(0, -2)] : []));
}
