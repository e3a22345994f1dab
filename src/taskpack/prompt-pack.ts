import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fail } from '../ports/failure.ts';
import { printableName } from '../ports/printable.ts';
import type { Pack, PromptTask } from '../ports/task.ts';
import { JsonSource, type Node } from './json-source.ts';
import { readOtherSkills } from './other-skills.ts';
import { packFailure } from './pack-failure.ts';
import { isRegex } from './prompt-checks.ts';
import { PromptFiles, type ReadFile, utf8 } from './prompt-files.ts';
import { type PackWide, readPromptTask } from './prompt-task.ts';
import { packHash } from './read-pack.ts';
import { byCodeUnit } from './tree.ts';

/** Name of a prompt pack in its folder. */
export const PROMPT_PACK_FILE = 'tasks.json';
export const MOST_PACK_BYTES = 50_000_000;

/** A prompt pack with the bytes that it was read from. */
export type PromptPackReading = {
  readonly pack: Pack<PromptTask>;
  /** Bytes of the tasks.json itself. */
  readonly bytes: Uint8Array;
  /** All other files that it names. */
  readonly files: readonly ReadFile[];
};

/**
 * Reads a prompt pack: a JSON file, or the `tasks.json` of a folder. It is a list of entries (see `readPromptTask`), or
 *
 *     {"version": 1, "name": "capitals", "system": "…", "noAnswer": ["^upstream error"], "tasks": [entries]}
 *
 * where `system` is for all tasks that have none of their own, and an answer that a regular expression of `noAnswer`
 * fits comes from the machinery and is not scored. `otherSkills` are listed beside the skill where its description is
 * measured. A byte order mark and any line ends are taken. Files are named from
 * the pack's folder, must be UTF-8 texts of at most 1 MB and must lie in it. Executes nothing and changes nothing.
 *
 * Throws `pack` with everything that is wrong, by line and column, in one go.
 */
export async function readPromptPack(path: string): Promise<PromptPackReading> {
  const given = resolve(path);
  const isFolder = (await stat(given).catch(() => null))?.isDirectory() === true;
  const file = isFolder ? join(given, PROMPT_PACK_FILE) : given;
  const dir = dirname(file);
  const bytes = await readBytes(file, isFolder);
  const text = utf8(bytes);
  if (text === null) throw fail('pack', 'the pack is not valid UTF-8', file, 'save the file as UTF-8');
  const name = basename(file);
  const source = new JsonSource(name, text);
  const root = source.root();
  const wide = root === null ? null : readWide(source, root, dir);
  const files = new PromptFiles(dir, [PROMPT_PACK_FILE, name]);
  const tasks = wide === null ? [] : await readTasks(source, wide.tasks, files, wide);
  if (source.problems.length > 0) throw packFailure(dir, source.problems);
  const sorted = tasks.toSorted((a, b) => byCodeUnit(a.id, b.id));
  const pack = { name: wide?.name ?? basename(dir), dir, hash: packHash(sorted), tasks: sorted };
  return { pack, bytes, files: await files.all() };
}

async function readBytes(file: string, inFolder: boolean): Promise<Uint8Array> {
  try {
    const info = await stat(file);
    if (!info.isFile())
      throw fail('pack', 'a prompt pack is a JSON file, and this is none', file, 'name its tasks.json');
    if (inFolder && !(await realpath(file)).startsWith((await realpath(dirname(file))).replace(/\/?$/, sep))) {
      throw fail(
        'pack',
        'tasks.json is a symbolic link that leads out of the folder',
        file,
        'name the file that it leads to',
      );
    }
    if (info.size > MOST_PACK_BYTES) {
      const what = `the pack has ${info.size} bytes, more than ${MOST_PACK_BYTES}`;
      throw fail('pack', what, file, 'split it, or move long prompts into files (promptFile)');
    }
    return await readFile(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw fail('pack', 'there is no such pack', file, 'check the path of the pack', { cause });
    throw fail('pack', `the pack can not be read: ${message}`, file, 'check its permissions', { cause });
  }
}

type Wide = PackWide & { readonly name: string | null; readonly tasks: readonly Node[] };

const wideKeys = ['$schema', 'version', 'name', 'system', 'noAnswer', 'otherSkills', 'tasks'] as const;

function readWide(source: JsonSource, root: Node, dir: string): Wide | null {
  const bare = { dir, system: '', noAnswer: [], name: null };
  if (root.type === 'array') return withTasks(source, root, { ...bare, tasks: root.children ?? [] });
  const keys = source.object(root, 'the pack', wideKeys);
  if (keys === null) return null;
  const versionNode = keys.get('version');
  if (versionNode !== undefined)
    source.number(versionNode, 'version', '1, the version that this program reads', (n) => n === 1);
  const tasksNode = keys.get('tasks');
  if (tasksNode === undefined) {
    if (!keys.meant.has('tasks'))
      source.problem(root, 'a pack without tasks', 'add "tasks": [{"id": …, "prompt": …, "answer": …}]');
    return null;
  }
  const tasks = source.list(tasksNode, 'tasks');
  if (tasks === null) return null;
  const nameNode = keys.get('name');
  const name = nameNode === undefined ? null : source.string(nameNode, 'name');
  if (nameNode !== undefined && name !== null && printableName(name) !== name)
    source.problem(nameNode, 'a name with control characters', 'take them out');
  const systemNode = keys.get('system');
  const system = systemNode === undefined ? '' : (source.string(systemNode, 'system', true) ?? '');
  const noAnswerNode = keys.get('noAnswer');
  const patterns = noAnswerNode === undefined ? [] : (source.list(noAnswerNode, 'noAnswer') ?? []);
  const noAnswer = patterns.flatMap((node) => {
    const pattern = source.string(node, 'a regular expression of noAnswer');
    return pattern !== null && isRegex(source, node, pattern, '') ? [pattern] : [];
  });
  const otherNode = keys.get('otherSkills');
  const otherSkills = otherNode === undefined ? undefined : readOtherSkills(source, otherNode);
  return withTasks(source, tasksNode, { dir, system, noAnswer, otherSkills, name, tasks });
}

function withTasks(source: JsonSource, node: Node, wide: Wide): Wide {
  if (wide.tasks.length === 0) source.problem(node, 'a pack without tasks', 'add {"id": …, "prompt": …, "answer": …}');
  return wide;
}

async function readTasks(
  source: JsonSource,
  nodes: readonly Node[],
  files: PromptFiles,
  wide: PackWide,
): Promise<readonly PromptTask[]> {
  const ids = new Map<string, string>();
  const contents = new Map<string, string>();
  const tasks: PromptTask[] = [];
  for (const node of nodes) {
    const task = await readPromptTask(source, node, files, wide);
    if (task === null) continue;
    const sameId = ids.get(task.id);
    const twin = contents.get(task.hash);
    ids.set(task.id, sameId ?? source.placeOf(node));
    contents.set(task.hash, twin ?? task.id);
    if (sameId !== undefined)
      source.problem(node, `the id ${task.id} stands also at ${sameId}`, 'give each task an id of its own');
    else if (twin !== undefined)
      source.problem(
        node,
        `${task.id} is the same task as ${twin}: it would be counted twice`,
        `remove ${task.id} or ${twin}`,
      );
    else tasks.push(task);
  }
  return tasks;
}
