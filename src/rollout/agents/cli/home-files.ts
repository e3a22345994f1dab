import { constants, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes files below a rollout's home, private to this user. An agent that was there before may have put links in the
 * way: they are replaced, never followed.
 */
export async function writeHomeFiles(home: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.length === 0 || parts.includes('..')) throw new Error(`no file below the home: ${path}`);
    makeFolders(home, parts.slice(0, -1));
    await writeNew(join(home, ...parts), text);
  }
}

function makeFolders(home: string, parts: readonly string[]): void {
  let folder = home;
  for (const part of parts) {
    folder = join(folder, part);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) continue;
    if (found !== undefined) rmSync(folder, { force: true });
    mkdirSync(folder, { mode: 0o700 });
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  rmSync(file, { recursive: true, force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(file, flags, 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
