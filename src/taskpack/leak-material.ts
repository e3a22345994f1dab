import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { LeakMaterial, TaskSecrets } from '../ports/leak.ts';
import type { Check, FolderTask, Pack, PromptTask, Task } from '../ports/task.ts';
import { taskLimits } from './read-task.ts';
import { readTree } from './tree.ts';

/** Bounds of what is read, in bytes: of one task, and of all tasks together. Beyond them nothing is looked for. */
const MOST_TASK_BYTES = 256_000;
const MOST_BYTES = 4_000_000;
const MOST_EXPECTED_LINES = 500;

/** Files below `tests/` that hold results rather than programs: each of their lines is an expected value. */
const results: ReadonlySet<string> = new Set(['', '.txt', '.csv', '.tsv', '.out', '.log', '.expected', '.golden']);

/** `taskSecrets` and `secretPaths` of a pack, in one. */
export async function leakMaterial(pack: Pack, paths: readonly string[] = []): Promise<LeakMaterial> {
  return { tasks: await Array.fromAsync(taskSecrets(pack)), paths: secretPaths(pack, paths) };
}

/**
 * What the tasks of a pack know, read from the session's copy one task at a time. Never throws for a file that can't be
 * read or is no text: it is left out. Of tasks with much of it the smallest files are read first.
 */
export async function* taskSecrets(pack: Pack): AsyncIterable<TaskSecrets> {
  const share = Math.min(MOST_TASK_BYTES, Math.floor(MOST_BYTES / Math.max(pack.tasks.length, 1)));
  for (const task of pack.tasks) yield await secretsOf(task, share);
}

/** Absolute paths of the pack and its tasks, with more that are given. A folder right below the root is no secret. */
export function secretPaths(pack: Pack, more: readonly string[] = []): readonly string[] {
  const absolute = [pack.dir, ...pack.tasks.map((t) => t.dir), ...more].filter((p) => /^.+[/\\]./.test(p));
  return [...new Set(absolute)];
}

async function secretsOf(task: Task, mostBytes: number): Promise<TaskSecrets> {
  switch (task.kind) {
    case 'folder':
      return ofFolder(task, mostBytes);
    case 'prompt':
      return ofPrompt(task);
    default:
      return task satisfies never;
  }
}

async function ofFolder(task: FolderTask, mostBytes: number): Promise<TaskSecrets> {
  const verifier: string[] = [];
  const solution: string[] = [];
  const expected: string[] = [];
  let left = mostBytes;
  for (const folder of ['tests', 'solution'] as const) {
    const tree = await readTree(join(task.dir, folder), taskLimits).catch(() => null);
    const files = tree?.files.toSorted((a, b) => a.bytes - b.bytes) ?? [];
    for (const file of files) {
      const text = await textOf(file.source, left);
      if (text === null) continue;
      left -= Math.min(file.bytes, left);
      (folder === 'tests' ? verifier : solution).push(text);
      if (folder === 'tests' && results.has(extname(file.path).toLowerCase()))
        expected.push(...text.split(/\r\n?|\n/, MOST_EXPECTED_LINES));
    }
  }
  return { id: task.id, instruction: task.instruction, expected, patterns: [], verifier, solution };
}

/** The first `most` bytes of a text; null for what is no text, or none. */
async function textOf(path: string, most: number): Promise<string | null> {
  if (most <= 0) return null;
  const whole = await readFile(path).catch(() => null);
  if (whole === null || whole.includes(0)) return null;
  try {
    // a stream may end within a character
    return new TextDecoder('utf-8', { fatal: true }).decode(whole.subarray(0, most), { stream: true });
  } catch {
    return null;
  }
}

function ofPrompt(task: PromptTask): TaskSecrets {
  const shown = [task.system, task.instruction, ...task.files.map((f) => f.text.slice(0, MOST_TASK_BYTES))];
  const of = (pick: (check: Check) => readonly string[]) => task.checks.flatMap(pick);
  return {
    id: task.id,
    instruction: shown.filter((text) => text !== '').join('\n\n'),
    expected: of(expectedBy),
    patterns: of((check) => (check.kind === 'regex' ? [check.pattern] : [])),
    verifier: of((check) =>
      check.kind === 'command' ? [check.command.join(' '), ...filesOf(check).map((file) => file.text)] : [],
    ),
    solution: [],
  };
}

/** What a command is given beside the task's files, the beginning of each. */
function filesOf(check: Extract<Check, { readonly kind: 'command' }>) {
  return (check.files ?? []).map(({ name, text }) => ({ name, text: text.slice(0, MOST_TASK_BYTES) }));
}

function expectedBy(check: Check): readonly string[] {
  switch (check.kind) {
    case 'equals':
    case 'contains':
      return check.value.split(/\r\n?|\n/);
    case 'number':
      return [String(Math.abs(check.value))];
    case 'json-path':
      return leavesOf(check.value);
    case 'command':
      return filesOf(check).flatMap(({ name, text }) =>
        results.has(extname(name).toLowerCase()) ? text.split(/\r\n?|\n/, MOST_EXPECTED_LINES) : [],
      );
    case 'regex':
    case 'json':
      return [];
    default:
      return check satisfies never;
  }
}

/** Texts and numbers in a JSON value. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/\r\n?|\n/);
  if (typeof value === 'number') return [String(Math.abs(value))];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return [];
}
