import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';

/** A program of this machine. */
export type Program = {
  /** As it stands on PATH. */
  readonly path: string;
  /** The file itself, all links followed. */
  readonly real: string;
  readonly form: ProgramForm;
};

/** `wrapper`: a script of a shell, of which nobody knows what it starts. */
export type ProgramForm =
  | { readonly kind: 'native' }
  | { readonly kind: 'script'; readonly interpreter: Interpreter }
  | { readonly kind: 'wrapper' };

/** What runs a script. */
export type Interpreter = {
  readonly name: string;
  /** What its first line gives the interpreter beside the file. */
  readonly args: readonly string[];
  /** Null = it is not on this machine. */
  readonly program: Program | null;
};

const interpreters: ReadonlySet<string> = new Set(['node', 'bun', 'deno']);

/** The program that a command of this name starts; null = no folder of the PATH holds it. Relative folders do not count. */
export function findProgram(name: string, path: string): Program | null {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    if (isExecutable(file)) return programAt(file, path);
  }
  return null;
}

/** The words that start it, whatever the PATH is by then; null = what runs it is missing. */
export function startWords({ path, real, form }: Program): readonly [string, ...string[]] | null {
  switch (form.kind) {
    case 'native':
      return [real];
    case 'wrapper':
      return [path];
    case 'script': {
      const { program, args } = form.interpreter;
      return program === null ? null : [program.real, ...args, real];
    }
    default:
      return form satisfies never;
  }
}

function programAt(path: string, pathEnv: string): Program {
  const real = realpathSync(path);
  return { path, real, form: formOf(firstLine(real), pathEnv) };
}

function formOf(line: string | null, pathEnv: string): ProgramForm {
  if (line === null) return { kind: 'native' };
  const words = line.trim().split(/\s+/);
  const [program = '', ...rest] = words;
  const byEnv = basename(program) === 'env';
  const [named = '', ...args] = byEnv ? rest.filter((word) => word !== '-S' && !/^\w+=/.test(word)) : words;
  const name = basename(named);
  if (!interpreters.has(name)) return { kind: 'wrapper' };
  const found = isAbsolute(named) ? (isExecutable(named) ? programAt(named, '') : null) : findProgram(name, pathEnv);
  return { kind: 'script', interpreter: { name, args, program: found } };
}

/** What stands behind `#!`; null = it is no script. */
export function firstLine(file: string): string | null {
  const buffer = Buffer.alloc(512);
  let bytes = 0;
  try {
    const fd = openSync(file, 'r');
    try {
      bytes = readSync(fd, buffer, 0, buffer.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
  const text = buffer.toString('latin1', 0, bytes);
  return text.startsWith('#!') ? (text.slice(2).split('\n')[0] ?? '') : null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
