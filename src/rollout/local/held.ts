import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What some folders hold. */
export type Held = {
  /** On the disk, each file once; links are not followed. */
  readonly bytes: number;
  /** Files that are as large as a file may be. */
  readonly fullFiles: readonly string[];
};

/** So long at a time the looking may keep everything else waiting. */
const sliceMs = 4;

/** Looks through the folders; what goes meanwhile is left out. `fullBytes`: the size from which a file is full. */
export async function heldIn(folders: readonly string[], fullBytes: number): Promise<Held> {
  const todo = [...folders];
  const linked = new Set<string>();
  const fullFiles: string[] = [];
  let bytes = 0;
  let sliceEnd = performance.now() + sliceMs;
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const stat = statOf(path);
      if (stat === null) continue;
      if (stat.isDirectory()) todo.push(path);
      if (stat.isFile() && stat.nlink > 1) {
        const id = `${stat.dev}:${stat.ino}`;
        if (linked.has(id)) continue;
        linked.add(id);
      }
      bytes += stat.blocks * 512;
      if (stat.isFile() && stat.size >= fullBytes) fullFiles.push(path);
    }
    if (performance.now() < sliceEnd) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    sliceEnd = performance.now() + sliceMs;
  }
  return { bytes, fullFiles };
}

function statOf(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
