import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SkilloptError } from '../../ports/failure.ts';
import { copyTree } from '../copy.ts';
import { readTask, taskLimits } from '../read-task.ts';
import { Ids } from './ids.ts';
import type { FolderImport } from './imported.ts';
import type { Losses } from './losses.ts';
import type { Made } from './write-prompts.ts';

/** Copies task folders flat into a folder, exec bits kept, under names of their own. What our reader refuses is told and left. */
export async function writeFolders(dir: string, found: FolderImport, losses: Losses): Promise<readonly Made[]> {
  const wishes = wishedNames(found.folders.map(({ shown }) => shown));
  const ids = new Ids();
  const made: Made[] = [];
  const seen = new Map<string, string>();
  for (const [index, { dir: source, shown }] of found.folders.entries()) {
    const id = ids.take(wishes[index] ?? basename(shown));
    const why = await take(source, dir, id);
    const place = join(dir, id);
    if (typeof why !== 'string') {
      const twin = seen.get(why.hash);
      seen.set(why.hash, twin ?? shown);
      if (twin === undefined) {
        made.push({ id, from: shown });
        continue;
      }
      losses.left(shown, 'a task', `the same as ${twin}, file by file: it would count twice`);
    } else losses.left(shown, 'a task', why);
    await rm(place, { recursive: true, force: true });
  }
  return made;
}

/** The hash of the task as it was copied, or why it can't be taken. */
async function take(source: string, dir: string, id: string): Promise<string | { readonly hash: string }> {
  try {
    await copyTree(source, join(dir, id), { code: 'pack', limits: taskLimits });
  } catch (error) {
    if (error instanceof SkilloptError && error.failure.code === 'pack') return error.failure.what;
    throw error;
  }
  const reading = await readTask(dir, id);
  if (reading.ok) return { hash: reading.task.hash };
  const inTask = (path: string) => (path.startsWith(`${id}/`) ? path.slice(id.length + 1) : path);
  return reading.problems.map(({ path, what }) => `${inTask(path)}: ${what}`).join('; ');
}

/** The last part of each path, with as many parts before it as tell it from others. */
function wishedNames(paths: readonly string[]): readonly string[] {
  const names = paths.map((path) => {
    const parts = path.split('/');
    return parts.map((_part, index) => parts.slice(-index - 1).join('-'));
  });
  const times = new Map<string, number>();
  for (const name of names.flat()) times.set(name, (times.get(name) ?? 0) + 1);
  return names.map((own) => own.find((name) => times.get(name) === 1) ?? own.at(-1) ?? '');
}
