import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HarborAgent, HarborOptions } from './options.ts';
import rehearsal from './python/skillopt_rehearsal.py' with { type: 'text' };

/** The rehearsal agent, which calls no model, as a class for Harbor. */
export const rehearsalAgent: HarborAgent = { importPath: 'skillopt_rehearsal:RehearsalAgent', called: 'rehearsal' };
export const rehearsalFiles: Readonly<Record<string, string>> = { 'skillopt_rehearsal.py': rehearsal };

/** Where Harbor's Python looks for classes: this program's own, then the user's. */
export function pythonPathOf({ python = {}, pythonPath, dir }: HarborOptions): readonly string[] {
  return [...(Object.keys(python).length === 0 ? [] : [join(dir, 'python')]), ...pythonPath];
}

/** Lays this program's own classes where Harbor finds them. */
export async function layPython({ python = {}, dir }: HarborOptions): Promise<void> {
  const files = Object.entries(python);
  if (files.length === 0) return;
  await mkdir(join(dir, 'python'), { recursive: true });
  for (const [name, text] of files) await writeFile(join(dir, 'python', name), text);
}
