import { posix } from 'node:path';
import { z } from 'zod';

/** What we use of a task.toml. Everything else in it is Harbor's. */
export type TaskToml = {
  readonly commands: readonly string[];
  /** `[metadata] should_trigger`: is the skill meant for this task? null = not said. */
  readonly shouldTrigger: boolean | null;
  /** Seconds; null = no limit (absent or 0, as in Harbor). */
  readonly agentTimeoutSec: number | null;
  readonly verifierTimeoutSec: number;
  /** Absolute and normalized; null = the Dockerfile tells. */
  readonly workdir: string | null;
  readonly dockerImage: string | null;
  readonly env: {
    readonly environment: Readonly<Record<string, string>>;
    readonly verifier: Readonly<Record<string, string>>;
    readonly solution: Readonly<Record<string, string>>;
  };
};

/** Something wrong with a task.toml. `line` counts from 1; null = the whole file. */
export type TomlProblem = { readonly line: number | null; readonly what: string; readonly fix: string };

export type TaskTomlReading =
  | { readonly ok: true; readonly toml: TaskToml }
  | { readonly ok: false; readonly problems: readonly TomlProblem[] };

const env = z.record(z.string().regex(/^[^=\0]+$/), z.string()).default({});
const schema = z.object({
  metadata: z
    .object({
      commands: z.array(z.string().regex(/^[\w.+@-]+$/, 'must be the bare name of a command')).default([]),
      should_trigger: z.boolean().optional(),
    })
    .default({ commands: [] }),
  agent: z.object({ timeout_sec: z.number().nonnegative().optional() }).default({}),
  verifier: z.object({ timeout_sec: z.number().positive().default(600), env }).default({ timeout_sec: 600, env: {} }),
  environment: z
    .object({
      workdir: z
        .string()
        .regex(/^\/[^\0]*$/, 'must be an absolute path')
        .optional(),
      docker_image: z.string().optional(),
      os: z.enum(['linux', 'windows']).default('linux'),
      env,
    })
    .default({ os: 'linux', env: {} }),
  solution: z.object({ env }).default({ env: {} }),
  steps: z.array(z.unknown()).default([]),
});

/** Longest task.toml, in characters: the parser's time grows with the square of it. */
const LONGEST = 100_000;

/** Most entries among which one that is given twice is looked for. */
const MOST_COMPARED = 2000;

/** Reads a task.toml; keys that we do not use are not looked at. */
export function parseTaskToml(text: string): TaskTomlReading {
  if (text.length > LONGEST) {
    const what = `over ${LONGEST / 1000} kB, which no description of a task needs`;
    return { ok: false, problems: [{ line: null, what, fix: 'take out what is not needed' }] };
  }
  let raw: unknown;
  try {
    raw = Bun.TOML.parse(text);
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^TOML Parse error:\s*/, '');
    return {
      ok: false,
      problems: [{ line: brokenLine(text), what: `not valid TOML: ${reason}`, fix: 'mend the syntax of that line' }],
    };
  }
  const parsed = schema.safeParse(raw);
  if (!parsed.success) {
    const places = placesOf(text);
    return { ok: false, problems: parsed.error.issues.map((issue) => schemaProblem(issue, places)) };
  }
  const { metadata, agent, verifier, environment, solution, steps } = parsed.data;
  const problems = unsupported(text, environment.os, steps.length);
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    toml: {
      commands: metadata.commands,
      shouldTrigger: metadata.should_trigger ?? null,
      agentTimeoutSec: agent.timeout_sec || null,
      verifierTimeoutSec: verifier.timeout_sec,
      workdir: environment.workdir === undefined ? null : cleanFolder(environment.workdir),
      dockerImage: environment.docker_image || null,
      env: { environment: environment.env, verifier: verifier.env, solution: solution.env },
    },
  };
}

/** An absolute POSIX path without `.`, `..`, doubled or trailing slashes. */
export function cleanFolder(path: string): string {
  const clean = posix.normalize(`/${path}`).replace(/\/+$/, '');
  return clean === '' ? '/' : clean;
}

function unsupported(text: string, os: string, steps: number): readonly TomlProblem[] {
  const problems: TomlProblem[] = [];
  if (steps === 0 && os !== 'windows') return problems;
  const places = placesOf(text);
  if (steps > 0) {
    problems.push({
      line: lineOf(places, ['steps']),
      what: 'a task of several steps ([[steps]]), which is not supported yet: a rollout has one instruction and one reward',
      fix: 'make each step a task of its own, or move the task out of the pack',
    });
  }
  if (os === 'windows') {
    problems.push({
      line: lineOf(places, ['environment', 'os']),
      what: 'a task for Windows (os = "windows"); only Linux environments are supported',
      fix: 'move the task out of the pack',
    });
  }
  return problems;
}

function schemaProblem(issue: z.core.$ZodIssue, places: Places): TomlProblem {
  const path = issue.path.map(String);
  const name = path.length > 1 ? `[${path[0]}].${path.slice(1).join('.')}` : path.join('.');
  const reason = issue.message.replace(/^Invalid input: /, '');
  const fix =
    issue.code === 'invalid_type' && issue.expected === 'string'
      ? `write the value of ${name} as a text in quotes`
      : `mend the value of ${name}`;
  return { line: lineOf(places, path), what: `${name}: ${reason}`, fix };
}

/**
 * Where the entry begins that makes a text invalid: the text up to the line before parses, and with any more entries
 * it does not. The parser itself tells no position. Null where a very long text gives a key twice.
 */
function brokenLine(text: string): number | null {
  const starts = entryStarts(text);
  const malformed = starts.findIndex((start, index) => !parses(text.slice(start, starts[index + 1])));
  let low = 0;
  let high = malformed < 0 ? starts.length - 1 : malformed;
  // Each entry before it is right by itself, but one of them may be given twice.
  if (malformed > 0 && parses(text.slice(0, starts[malformed]))) low = malformed;
  if (high - low > MOST_COMPARED) return null;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (parses(text.slice(0, starts[middle]))) low = middle;
    else high = middle - 1;
  }
  return countLines(text, starts[low]!);
}

function countLines(text: string, end: number): number {
  return text.slice(0, end).split('\n').length;
}

function parses(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Offsets of the lines on which an entry, a table or a comment begins: those outside of brackets and of strings of
 * several lines. True up to the first fault of the text; `quote` is what closes the string or, for `#`, the comment.
 */
function entryStarts(text: string): readonly number[] {
  const starts = [0];
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\n' && quote.length < 2) {
      quote = '';
      if (depth === 0) starts.push(at + 1);
    } else if (quote === '#') continue;
    else if (quote !== '') {
      if (character === '\\' && quote.startsWith('"')) at++;
      else if (text.startsWith(quote, at)) {
        at += quote.length - 1;
        // Up to two quotes more may belong to a string of several lines.
        while (quote.length === 3 && text[at + 1] === quote[0]) at++;
        quote = '';
      }
    } else if (character === '"' || character === "'") {
      quote = text.startsWith(character.repeat(3), at) ? character.repeat(3) : character;
      at += quote.length - 1;
    } else if (character === '#') quote = '#';
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
  }
  return starts;
}

/** Where keys and tables stand in a text, as far as it writes them plainly. Lines count from 1. */
type Places = { readonly keys: ReadonlyMap<string, number>; readonly tables: ReadonlyMap<string, number> };

function placesOf(text: string): Places {
  const keys = new Map<string, number>();
  const tables = new Map<string, number>();
  let table = '';
  for (const [index, line] of text.split('\n').entries()) {
    const title = titleOf(line);
    if (title !== null) {
      table = title;
      if (!tables.has(table)) tables.set(table, index + 1);
    }
    const key = /^\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=/.exec(line)?.[1]?.replace(/["']/g, '');
    if (key === undefined) continue;
    const here = table === '' ? key : `${table}.${key}`;
    if (!keys.has(here)) keys.set(here, index + 1);
  }
  return { keys, tables };
}

/** `a.b` for `[a.b]` and `[[ a."b" ]]`. */
function titleOf(line: string): string | null {
  const opening = /^\s*\[\[?/.exec(line)?.[0];
  const end = opening === undefined ? -1 : line.indexOf(']', opening.length);
  const title = end < 0 ? '' : line.slice(opening!.length, end).replace(/["'\s]/g, '');
  return title === '' ? null : title;
}

/** Line of a key by its path, or of the key or table that holds it; null when it is written in another way. */
function lineOf(places: Places, path: readonly string[]): number | null {
  const lines = path.flatMap((_part, index) => places.keys.get(path.slice(0, index + 1).join('.')) ?? []);
  return lines.length > 0 ? Math.min(...lines) : (places.tables.get(path[0] ?? '') ?? null);
}
