import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, normalize } from 'node:path';
import { placeholdersIn } from '../../../config/placeholders.ts';
import { sha256 } from '../../../ports/hash.ts';
import { findProgram, type Program } from '../cli/find-program.ts';

/** The program that a command names: by itself on PATH, or by its path. Null = there is none. */
export function programOf(name: string, path: string): Program | null {
  if (!isAbsolute(name)) return findProgram(name, path);
  const found = findProgram(basename(name), [dirname(name), path].join(delimiter));
  return found?.path === normalize(name) ? found : null;
}

/** Files that a command names by their paths, such as the script of an interpreter; its program is none of them. */
export function filesNamed([, ...args]: readonly string[]): readonly string[] {
  return args.filter((arg) => isAbsolute(arg) && placeholdersIn(arg).length === 0 && isFile(arg));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** What stands for the version of an agent that tells none: a digest of its program and of the files that it names. */
export function digestOf(program: Program, files: readonly string[]): string {
  const digests = [program.real, ...files.map((file) => realpathSync(file))].map((file) => sha256(readFileSync(file)));
  return `bytes ${sha256(digests.join('\n')).slice(0, 12)}`;
}
