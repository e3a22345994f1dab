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

/** What a command wrote to stdout. Throws with its stderr when it does not end with code 0. */
export async function outputOf(
  command: readonly string[],
  o: { readonly env?: Record<string, string>; readonly stdin?: Blob } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    ...(o.env ? { env: o.env } : {}),
    stdin: o.stdin ?? 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with code ${code}: ${out}${errors}`);
  return out;
}
