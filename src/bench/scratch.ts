import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs the work in a folder of its own that is gone afterwards, with all that its processes left in it. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillopt-bench-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The environment of what is measured: nothing of ours but the way to programs, and temporary files in the folder. */
export function plainEnvironment(folder: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    TMPDIR: folder,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  };
}
