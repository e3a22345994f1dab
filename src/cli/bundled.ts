import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { nearest } from '../config/nearest.ts';
import { diskFailure } from '../journal/journal.ts';
import { fail } from '../ports/failure.ts';

/** Name by which a config speaks of a bundled example: `example:hello-harbor`. */
const SCHEME = 'example:';

export function exampleName(reference: string): string | null {
  return reference.startsWith(SCHEME) ? reference.slice(SCHEME.length) : null;
}

/** The folder of bundled examples: in the checkout, or inside the binary. */
function root(): string {
  return Bun.isStandaloneExecutable ? join(import.meta.dir, 'examples') : join(import.meta.dir, '..', '..', 'examples');
}

/** Where a path of an example lies. A pack of its name below the checkout's `tasks/` is its pack, as in the binary. */
function placeOf(example: string, path: string): string {
  const own = join(exampleDir(example), path);
  if (Bun.isStandaloneExecutable || existsSync(own) || !/^tasks(\/|$)/.test(path)) return own;
  return join(root(), '..', 'tasks', example, path.slice('tasks'.length));
}

/** Files that have to be executable: the binary keeps contents, not modes, so the build writes this list. */
const EXECUTABLES = '.executables.json';

function isExecutable(example: string, path: string): boolean {
  const list = join(root(), EXECUTABLES);
  if (!Bun.isStandaloneExecutable) return (statSync(placeOf(example, path)).mode & 0o100) !== 0;
  const names = JSON.parse(readFileSync(list, 'utf8')) as readonly string[];
  return names.includes(`${example}/${path}`);
}

/** The folder of a bundled example; fails naming the ones there are. */
function exampleDir(name: string): string {
  const dir = join(root(), name);
  if (/^[a-z0-9-]+$/.test(name) && existsSync(dir)) return dir;
  const known = readdirSync(root()).filter((n) => !n.startsWith('.'));
  const close = nearest(name, known);
  throw fail(
    'config',
    `there is no bundled example ${name}`,
    `${SCHEME}${name}`,
    close ? `did you mean ${SCHEME}${close}?` : `use one of ${known.join(', ')}`,
  );
}

/** A text file of an example. */
export function exampleText(name: string, path: string): string {
  return readFileSync(placeOf(name, path), 'utf8');
}

/** Whether an example has this file. */
export function exampleHas(name: string, path: string): boolean {
  return existsSync(placeOf(name, path));
}

/** Writes a folder of an example to `to`, modes intact. */
export function writeExample(name: string, path: string, to: string): void {
  const from = placeOf(name, path);
  try {
    for (const file of filesBelow(from)) {
      const target = join(to, file);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, readFileSync(join(from, file)));
      chmodSync(target, isExecutable(name, `${path}/${file}`) ? 0o755 : 0o644);
    }
  } catch (cause) {
    throw diskFailure('the example can’t be written', to, cause);
  }
}

function filesBelow(dir: string, at = ''): string[] {
  return readdirSync(join(dir, at), { withFileTypes: true }).flatMap((e) => {
    const path = at === '' ? e.name : `${at}/${e.name}`;
    return e.isDirectory() ? filesBelow(dir, path) : [path];
  });
}
