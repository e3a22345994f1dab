import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** For tests: files by path; a value of null is an empty folder, and a path that ends in `*` is executable. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>;

/** For tests: writes files into a folder. */
export async function writeFiles(dir: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name.replace(/\*$/, ''));
    await mkdir(content === null ? path : dirname(path), { recursive: true });
    if (content === null) continue;
    await writeFile(path, content);
    await chmod(path, name.endsWith('*') ? 0o755 : 0o644);
  }
}

/** For tests: the files of a small whole task; `more` replaces or adds, undefined takes away. */
export function taskFiles(
  id: string,
  more: Readonly<Record<string, string | Uint8Array | null | undefined>> = {},
): Files {
  const files: Record<string, string | Uint8Array | null | undefined> = {
    'task.toml': '[agent]\ntimeout_sec = 60.0\n',
    'instruction.md': `Write ${id} into answer.txt.\n`,
    'environment/Dockerfile': 'FROM debian:bookworm-slim\nWORKDIR /app\n',
    'tests/test.sh*': '#!/bin/sh\ngrep -q x answer.txt\n',
    ...more,
  };
  return Object.fromEntries(
    Object.entries(files).flatMap(([path, content]) => (content === undefined ? [] : [[`${id}/${path}`, content]])),
  );
}

/** For tests: a new folder with these files, and a way to remove it. */
export async function temporaryFolder(files: Files = {}): Promise<{ readonly dir: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'skillopt-taskpack-'));
  await writeFiles(dir, files);
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}
