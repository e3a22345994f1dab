import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '../../ports/failure.ts';

/**
 * A folder below `dir` for the time of `work`; folders that were made for it are gone afterwards, too. Throws `disk` where
 * it can't be made.
 */
export async function withScratch<T>(dir: string, work: (folder: string) => Promise<T>): Promise<T> {
  let made: string | undefined;
  let folder: string;
  try {
    made = await mkdir(dir, { recursive: true });
    folder = await mkdtemp(join(dir, 'preflight-'));
  } catch (cause) {
    const what = `the folder for Harbor’s jobs can’t be written: ${(cause as Error).message}`;
    throw fail('disk', what, dir, 'make it a folder that you may write', { cause });
  }
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    if (made !== undefined) await removeEmpty(dir, made);
  }
}

/** Removes folders that are empty, from `dir` up to `top`. */
async function removeEmpty(dir: string, top: string): Promise<void> {
  for (let folder = dir; folder.startsWith(top); folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return;
    }
  }
}
