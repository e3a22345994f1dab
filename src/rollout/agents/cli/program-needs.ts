import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { AgentNeeds } from '../agent.ts';
import type { Program } from './find-program.ts';

/** Folders that stand on every PATH: their programs are found without a word. */
const systemFolders: ReadonlySet<string> = new Set(['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']);

/**
 * What a sandbox has to show so that `program` runs and finds `others` by their names: files and package folders, never
 * a folder that holds the user's home.
 */
export function needsOf(program: Program, others: readonly Program[], home: string): Pick<AgentNeeds, 'show' | 'path'> {
  const show = new Set<string>();
  const path = new Set<string>();
  const named = (one: Program) => {
    for (const place of [one.path, ...placesOf(one, home)]) show.add(place);
    const folder = dirname(one.path);
    if (!systemFolders.has(folder)) path.add(folder);
  };
  for (const place of placesOf(program, home)) show.add(place);
  if (program.form.kind === 'wrapper') show.add(program.path);
  if (program.form.kind === 'script' && program.form.interpreter.program !== null) {
    const interpreter = program.form.interpreter.program;
    named(interpreter);
    const prefix = installationOf(interpreter.real);
    if (prefix !== null && !holds(prefix, home)) show.add(prefix);
  }
  for (const other of others) named(other);
  return { show: [...show], path: [...path] };
}

/** The file and what it loads. */
function placesOf({ real, form }: Program, home: string): readonly string[] {
  const root = storeOf(real) ?? modulesOf(real) ?? (form.kind === 'script' ? packageOf(real) : null);
  return root === null || holds(root, home) ? [real] : [root];
}

/** The whole of a package manager's store, where files load each other by absolute paths. */
function storeOf(real: string): string | null {
  if (real.startsWith('/nix/store/')) return '/nix/store';
  const cellar = real.indexOf('/Cellar/');
  return cellar > 0 ? real.slice(0, cellar) : null;
}

/** The outermost `node_modules`: packages load their siblings. */
function modulesOf(real: string): string | null {
  const parts = real.split(sep);
  const at = parts.indexOf('node_modules');
  return at < 0 ? null : parts.slice(0, at + 1).join(sep);
}

/** The nearest folder above that is a package. */
function packageOf(real: string): string | null {
  for (let folder = dirname(real); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return null;
}

/** The folder of an installation of Node that holds nothing else; null = its files lie among others. */
function installationOf(real: string): string | null {
  const prefix = dirname(dirname(real));
  if (['/', '/usr', '/usr/local', '/opt'].includes(prefix)) return null;
  return existsSync(join(prefix, 'include', 'node')) || existsSync(join(prefix, 'lib', 'node_modules', 'npm'))
    ? prefix
    : null;
}

/** Showing this folder would show the home. */
export function holds(folder: string, home: string): boolean {
  return home === folder || `${home}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
