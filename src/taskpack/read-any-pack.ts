import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fail } from '../ports/failure.ts';
import type { Pack } from '../ports/task.ts';
import { copyTree } from './copy.ts';
import { copyPromptPack } from './copy-prompt-pack.ts';
import { PROMPT_PACK_FILE, readPromptPack } from './prompt-pack.ts';
import { readPack } from './read-pack.ts';

/**
 * Reads a pack of either form: a JSON file is a prompt pack, a folder with a tasks.json too, any other folder one of task
 * folders. Throws `pack`, also for a folder that is both.
 */
export async function readAnyPack(path: string): Promise<Pack> {
  return (await isPromptPack(path)) ? (await readPromptPack(path)).pack : readPack(path);
}

/**
 * Copies a pack of either form to the folder `to`; throws for one that `readAnyPack` would refuse. Of a prompt pack go
 * only its tasks.json and the files that it names. `readAnyPack(to)` then reads the same tasks.
 */
export async function copyAnyPack(path: string, to: string): Promise<void> {
  if (await isPromptPack(path)) return copyPromptPack(await readPromptPack(path), to);
  await readPack(path);
  await copyTree(path, to, { code: 'pack' });
}

async function isPromptPack(path: string): Promise<boolean> {
  const place = resolve(path);
  const info = await stat(place).catch(() => null);
  if (info === null) return false;
  if (!info.isDirectory()) return /\.json$/i.test(place);
  const file = join(place, PROMPT_PACK_FILE);
  if (!(await exists(file))) return false;
  const folder = await folderWithTask(place);
  if (folder === null) return true;
  throw fail(
    'pack',
    `this folder is both a prompt pack and one of task folders: it holds a tasks.json and ${folder}/task.toml`,
    place,
    `name ${file} for the prompts, or move it away for the task folders`,
  );
}

async function folderWithTask(place: string): Promise<string | null> {
  const names = await readdir(place).catch(() => []);
  for (const name of names.sort()) if (await exists(join(place, name, 'task.toml'))) return name;
  return null;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
