import { posix } from 'node:path';
import { z } from 'zod';

/** What we use of a task.toml. Everything else in it is Harbor's. */
export type TaskToml = {
  readonly commands: readonly string[];
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
    .object({ commands: z.array(z.string().regex(/^[\w.+@-]+$/, 'must be the bare name of a command')).default([]) })
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

/** Reads a task.toml; keys that we do not use are not looked at. */
export function parseTaskToml(text: string): TaskTomlReading {
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
    return { ok: false, problems: parsed.error.issues.map((issue) => schemaProblem(issue, text)) };
  }
  const { metadata, agent, verifier, environment, solution, steps } = parsed.data;
  const problems = unsupported(text, environment.os, steps.length);
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    toml: {
      commands: metadata.commands,
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
  if (steps > 0) {
    problems.push({
      line: lineOf(text, ['steps']),
      what: 'a task of several steps ([[steps]]), which is not supported yet: a rollout has one instruction and one reward',
      fix: 'make each step a task of its own, or move the task out of the pack',
    });
  }
  if (os === 'windows') {
    problems.push({
      line: lineOf(text, ['environment', 'os']),
      what: 'a task for Windows (os = "windows"); only Linux environments are supported',
      fix: 'move the task out of the pack',
    });
  }
  return problems;
}

function schemaProblem(issue: z.core.$ZodIssue, text: string): TomlProblem {
  const path = issue.path.map(String);
  const name = path.length > 1 ? `[${path[0]}].${path.slice(1).join('.')}` : path.join('.');
  const reason = issue.message.replace(/^Invalid input: /, '');
  const fix =
    issue.code === 'invalid_type' && issue.expected === 'string'
      ? `write the value of ${name} as a text in quotes`
      : `mend the value of ${name}`;
  return { line: lineOf(text, path), what: `${name}: ${reason}`, fix };
}

/**
 * Where the entry begins that makes a text invalid: the text up to the line before parses, and with any more lines
 * it does not. The parser itself tells no position. Null for a text so long that looking would take its time.
 */
function brokenLine(text: string): number | null {
  if (text.length > 100_000) return null;
  const lines = text.split('\n');
  let valid = 0;
  for (let count = 1; count <= lines.length; count++) {
    try {
      Bun.TOML.parse(lines.slice(0, count).join('\n'));
      valid = count;
    } catch {
      // An entry may span lines: go on to see whether more of them close it.
    }
  }
  return valid + 1;
}

/** Line of a key by its path, found in the text; null when the file writes it in a way that is not looked for. */
function lineOf(text: string, path: readonly string[]): number | null {
  let table = '';
  let header: number | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const title = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (title !== undefined) table = title.replace(/["'\s]/g, '');
    const key = /^\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=/.exec(line)?.[1]?.replace(/["']/g, '');
    const here = [table, key].filter((part) => part !== undefined && part !== '').join('.');
    if (key !== undefined && (path.join('.') === here || path.join('.').startsWith(`${here}.`))) return index + 1;
    if (title !== undefined && table === path[0]) header ??= index + 1;
  }
  return header;
}
