import { chmodSync, closeSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AgentTask, type HandedIn, MOST_HANDED_IN_BYTES } from '../../ports/agent-task.ts';
import { errorCode, isSystemRefusal } from '../../process/system-refusal.ts';
import type { Folders } from './folders.ts';
import { plainFile } from './plain-file.ts';

/** Names of the two folders in an agent's workspace. */
export const MATERIAL_FOLDER = 'material';
export const HAND_IN_FOLDER = 'hand-in';

/** Lays the material, read-only, and the empty folder of the hand-in into a workspace. */
export async function layOut(task: Pick<AgentTask, 'files'>, workspace: string): Promise<void> {
  const material = join(workspace, MATERIAL_FOLDER);
  const folders = new Set([material]);
  await mkdir(join(workspace, HAND_IN_FOLDER));
  for (const [path, text] of Object.entries(task.files)) {
    const file = join(material, path);
    if (!file.startsWith(`${material}/`)) throw new Error(`a file of the material leads out of it: ${path}`);
    for (let folder = dirname(file); folder.length > material.length; folder = dirname(folder)) folders.add(folder);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o444, flag: 'wx' });
  }
  for (const folder of folders) chmodSync(folder, 0o555);
}

/**
 * Reads what an agent left to hand in, when nothing of it runs any more: a plain file of bounded size in a plain folder;
 * no link is followed and nothing that never ends is opened. Throws where the system has no room.
 */
export function readHandedIn({ root, workspace }: Pick<Folders, 'root' | 'workspace'>, name: string): HandedIn {
  const folder = join(workspace, HAND_IN_FOLDER);
  for (const path of [root, workspace, folder]) {
    const kind = kindOf(path);
    if (kind === null) return { kind: 'missing' };
    if (kind !== 'folder') return refused(`the folder that it should lie in was replaced by ${named[kind]}`);
  }
  const file = join(folder, name);
  const kind = kindOf(file);
  if (kind === null) return { kind: 'missing' };
  if (kind !== 'file') return refused(`it is ${named[kind]}`);
  try {
    const fd = openSync(file, plainFile);
    try {
      return readOpen(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || isSystemRefusal(code)) throw error;
    return refused(`it can’t be opened (${code})`);
  }
}

function readOpen(fd: number): HandedIn {
  const stat = fstatSync(fd);
  if (!stat.isFile()) return refused(`it is ${named.other}`);
  if (stat.size > MOST_HANDED_IN_BYTES) return refused(`it has ${stat.size} bytes, more than ${MOST_HANDED_IN_BYTES}`);
  const bytes = Buffer.alloc(MOST_HANDED_IN_BYTES + 1);
  let length = 0;
  for (let got = -1; got !== 0 && length < bytes.length; length += got)
    got = readSync(fd, bytes, length, bytes.length - length, length);
  try {
    return {
      kind: 'text',
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length)),
    };
  } catch {
    return refused('it is not text in UTF-8');
  }
}

type Kind = 'file' | 'folder' | 'link' | 'other';
const named: Readonly<Record<Kind, string>> = {
  file: 'a file',
  folder: 'a folder',
  link: 'a link, which is not followed',
  other: 'neither a file nor a folder',
};

/** What lies there, links not followed; null = nothing. */
function kindOf(path: string): Kind | null {
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === undefined || isSystemRefusal(code)) throw error;
    return 'other';
  }
}

const refused = (why: string): HandedIn => ({ kind: 'refused', why });
