import { nearest } from '../config/nearest.ts';
import { jsonSteps } from '../ports/json-path.ts';
import type { Check, PromptFile } from '../ports/task.ts';
import type { JsonSource, Node } from './json-source.ts';
import { regexProblem } from './regex-problem.ts';

/** Reads the text file that a value names; a problem with it is told at the value. */
export type FileOf = (node: Node) => Promise<PromptFile | null>;

/** The keys of a check beside its kind's own, which names it. */
const common = ['weight', 'after'] as const;
const keysOf = {
  equals: ['ignoreCase'],
  contains: ['ignoreCase'],
  regex: ['flags'],
  json: [],
  'json-path': ['value'],
  number: ['tolerance'],
  command: ['timeoutSec', 'files'],
} as const satisfies Record<Check['kind'], readonly string[]>;
const kinds = Object.keys(keysOf) as readonly Check['kind'][];

/** Seconds of a command that gives none. */
const COMMAND_TIMEOUT_SEC = 30;
/** A day: nothing that is waited for takes longer. */
export const MOST_SEC = 86_400;
const MOST_CHECKS = 100;

/**
 * Reads the checks of a task. A check is an object with one key that says what is asked and what for:
 *
 *     {"equals": "Paris", "ignoreCase": true}       the answer, blanks around it left out, is this text
 *     {"contains": "Paris", "ignoreCase": true}
 *     {"regex": "^[A-Z]{3}$", "flags": "m"}         flags of i, m, s, u, v
 *     {"json": "whole"}                             JSON of whatever content; "anywhere": some stands in the answer
 *     {"json-path": "items[0].name", "value": 3}    any JSON value
 *     {"number": 3.14, "tolerance": 0.01}           tolerance: absolute, 0 if not given
 *     {"command": ["python3", "check.py"], "timeoutSec": 30, "files": ["check.py"]}
 *
 * and, in each of them, `"weight"` (1 if not given) and `"after": "ANSWER:"` (only what follows this text on the last
 * line that begins with it). `files` of a command are laid beside it and shown to nobody. Null: a problem was told.
 */
export async function readChecks(source: JsonSource, node: Node, fileOf: FileOf): Promise<readonly Check[] | null> {
  const list = source.list(node, 'checks');
  if (list === null) return null;
  if (list.length === 0 || list.length > MOST_CHECKS) {
    const what = list.length === 0 ? 'no check: nothing would score the task' : `more than ${MOST_CHECKS} checks`;
    source.problem(node, what, 'write between one and a hundred, such as {"equals": "the answer"}');
    return null;
  }
  const checks: Check[] = [];
  for (const entry of list) {
    const check = await readCheck(source, entry, fileOf);
    if (check !== null) checks.push(check);
  }
  return checks.length === list.length ? checks : null;
}

async function readCheck(source: JsonSource, node: Node, fileOf: FileOf): Promise<Check | null> {
  const kind = kindOf(source, node);
  if (kind === null) return null;
  const before = source.problems.length;
  const keys = source.object(node, 'the check', [kind, ...keysOf[kind], ...common]);
  const asked = keys?.get(kind);
  if (keys === null || asked === undefined) return null;
  const weightNode = keys.get('weight');
  const afterNode = keys.get('after');
  const weight =
    weightNode === undefined
      ? 1
      : source.number(weightNode, 'weight', 'a number above 0, at most a million', (n) => n > 0 && n <= 1e6);
  const after = afterNode === undefined ? null : readAfter(source, afterNode);
  const body = await readBody(source, kind, keys, asked, fileOf);
  if (body === null || weight === null || source.problems.length > before) return null;
  return { weight, after, ...body };
}

/** What the check asks for; null: it does not say, or says two things. */
function kindOf(source: JsonSource, node: Node): Check['kind'] | null {
  const given = (node.type === 'object' ? (node.children ?? []) : []).map((p) => String(p.children?.[0]?.value));
  const found = kinds.filter((kind) => given.includes(kind));
  if (found.length === 1) return found[0] ?? null;
  const [close] = given.flatMap((key) => nearest(key, kinds) ?? []);
  source.problem(
    node,
    found.length === 0 ? 'a check that does not say what it asks' : `one check that asks for ${found.join(' and ')}`,
    found.length > 0
      ? 'make a check of each'
      : close === undefined
        ? `give it one of ${kinds.join(', ')}, as in {"equals": "Paris"}`
        : `did you mean "${close}"?`,
  );
  return null;
}

type Body<T = Check> = T extends Check ? Omit<T, 'weight' | 'after'> : never;

async function readBody(
  source: JsonSource,
  kind: Check['kind'],
  keys: ReadonlyMap<string, Node>,
  asked: Node,
  fileOf: FileOf,
): Promise<Body | null> {
  switch (kind) {
    case 'equals':
    case 'contains': {
      const value = source.string(asked, kind);
      const caseNode = keys.get('ignoreCase');
      const ignoreCase = caseNode === undefined ? false : source.boolean(caseNode, 'ignoreCase');
      return value === null || ignoreCase === null ? null : { kind, value, ignoreCase };
    }
    case 'regex': {
      const pattern = source.string(asked, 'regex');
      const flagsNode = keys.get('flags');
      const flags = flagsNode === undefined ? '' : source.string(flagsNode, 'flags', true);
      if (pattern === null || flags === null || !isRegex(source, asked, pattern, flags)) return null;
      return { kind, pattern, flags };
    }
    case 'json': {
      const place = source.string(asked, 'json');
      if (place === 'whole' || place === 'anywhere') return { kind, place };
      if (place !== null)
        source.problem(
          asked,
          'json is neither "whole" nor "anywhere"',
          'write "whole" for an answer that is JSON, or "anywhere" for one that holds some',
        );
      return null;
    }
    case 'json-path': {
      const path = source.string(asked, 'json-path');
      const valueNode = keys.get('value');
      if (valueNode === undefined)
        source.problem(asked, 'a json-path without a value', 'add "value": what should stand there');
      if (path === null || valueNode === undefined) return null;
      if (jsonSteps(path) === null) {
        source.problem(
          asked,
          'not a path into JSON',
          'write it as a.b[0]; a key with dots as ["a.b"]; the whole value as $',
        );
        return null;
      }
      return { kind, path, value: source.value(valueNode) };
    }
    case 'number': {
      const value = source.number(asked, 'number', 'a number', () => true);
      const toleranceNode = keys.get('tolerance');
      const tolerance =
        toleranceNode === undefined
          ? 0
          : source.number(toleranceNode, 'tolerance', 'a number of at least 0', (n) => n >= 0);
      return value === null || tolerance === null ? null : { kind, value, tolerance };
    }
    case 'command':
      return readCommand(source, keys, asked, fileOf);
    default:
      return kind satisfies never;
  }
}

async function readCommand(
  source: JsonSource,
  keys: ReadonlyMap<string, Node>,
  asked: Node,
  fileOf: FileOf,
): Promise<Body | null> {
  const words = source.list(asked, 'command');
  const command = (words ?? []).map((word, i) => source.string(word, i === 0 ? 'the program' : 'an argument', i > 0));
  if (words !== null && words.length === 0) {
    source.problem(asked, 'a command without a program', 'write ["program", "argument", …]');
    return null;
  }
  const timeoutNode = keys.get('timeoutSec');
  const timeoutSec = timeoutNode === undefined ? COMMAND_TIMEOUT_SEC : readSeconds(source, timeoutNode);
  const filesNode = keys.get('files');
  const names = filesNode === undefined ? [] : source.list(filesNode, 'files');
  const files: PromptFile[] = [];
  for (const name of names ?? []) {
    const file = await fileOf(name);
    if (file !== null) files.push(file);
  }
  const argv = command.filter((word) => word !== null);
  if (argv.some((word) => word.includes('\0'))) source.problem(asked, 'a command with a NUL in it', 'take it out');
  return timeoutSec === null ? null : { kind: 'command', command: argv, timeoutSec, files };
}

/** Seconds, told as a problem where they are none. */
export function readSeconds(source: JsonSource, node: Node): number | null {
  return source.number(node, 'timeoutSec', 'a number of seconds above 0, at most a day', (n) => n > 0 && n <= MOST_SEC);
}

/** Whether the regular expression can be used; if not, that is told. */
export function isRegex(source: JsonSource, node: Node, pattern: string, flags: string): boolean {
  const problem = regexProblem(pattern, flags);
  if (problem !== null) source.problem(node, problem.what, problem.fix);
  return problem === null;
}

function readAfter(source: JsonSource, node: Node): string | null {
  const after = source.string(node, 'after');
  if (after !== null && /[\r\n]/.test(after))
    source.problem(node, 'after is more than one line', 'name the beginning of one line');
  return after === null ? null : after.trim();
}
