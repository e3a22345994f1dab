import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';

type FirstLine = {
  /** As it stands after `#!`; null = there is no such line. */
  readonly interpreter: string | null;
  readonly argument: string;
  readonly windowsLineEnd: boolean;
};

/** Is there such a file for those who run the script? */
type Exists = (path: string) => boolean;

/**
 * The command that runs a script: by its `#!` line, else by bash. The line is read here, so that a temporary folder
 * mounted without the right to execute does not matter; a shell that is kept elsewhere is taken from PATH. `file` is the
 * script as this program finds it, `path` as the command does.
 */
export async function scriptCommand(
  file: string,
  path = file,
  exists: Exists = existsSync,
): Promise<readonly [string, ...string[]]> {
  const { interpreter, argument } = await firstLine(file);
  if (interpreter === null) return ['bash', path];
  const program = exists(interpreter) ? interpreter : basename(interpreter);
  return argument === '' ? [program, path] : [program, argument, path];
}

/** The PATH that a script was given; `ownPath` as of `taskPath`; `exists` as of `scriptCommand`. */
export type ScriptPath = {
  readonly path: string | undefined;
  readonly ownPath: string | null;
  readonly exists?: Exists;
};

/**
 * What about a script may explain that it did not start or left nothing behind, for people; `name` is how it is called
 * there. Empty = nothing strikes the eye. Never rejects.
 */
export async function scriptOddities(file: string, name: string, path: ScriptPath): Promise<readonly string[]> {
  const line = await firstLine(file).catch(() => null);
  if (line === null) return [`${name} can not be read`];
  const missing = missingInterpreter(line, path);
  return [
    ...(missing === null ? [] : [`${name} asks for ${missing}`]),
    ...(line.windowsLineEnd ? [`${name}: it has Windows line ends (CR LF)`] : []),
  ];
}

async function firstLine(path: string): Promise<FirstLine> {
  const handle = await open(path, 'r');
  let head: string;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    head = buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
  const [, interpreter, argument] = /^#![ \t]*(\S+)(?:[ \t]+([^\r\n]*?))?[ \t]*(?:\r?\n|$)/.exec(head) ?? [];
  return { interpreter: interpreter ?? null, argument: argument ?? '', windowsLineEnd: /^[^\n]*\r\n/.test(head) };
}

/** What the line asks for in vain, with where it was looked for; null = it is there. */
function missingInterpreter(
  { interpreter, argument }: FirstLine,
  { path, ownPath, exists = existsSync }: ScriptPath,
): string | null {
  const folders = (path ?? '').split(delimiter);
  const onPath = (program: string) => folders.some((folder) => exists(join(folder, program)));
  if (interpreter === null) return null;
  if (!exists(interpreter)) return onPath(basename(interpreter)) ? null : `${interpreter}, which is not there`;
  if (basename(interpreter) !== 'env') return null;
  // `env -S NAME=value program …`: the program is the first word that is neither an option nor a variable.
  const program = argument.split(/[ \t]+/).find((word) => word !== '' && !word.startsWith('-') && !word.includes('='));
  if (program === undefined || onPath(program)) return null;
  const setByTask = ownPath === null ? '' : `, which the task sets to ${ownPath}`;
  return `${program} by ${interpreter}, which does not find it on PATH${setByTask}`;
}
