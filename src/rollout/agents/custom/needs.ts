import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { AgentNeeds } from '../agent.ts';
import { firstLine, type Program } from '../cli/find-program.ts';
import { holds, needsOf } from '../cli/program-needs.ts';

/**
 * What a sandbox has to show of an agent that nobody has looked into: the program at the path by which it is started,
 * the package or the environment of Python that it lies in, what its first line names, and files that the command names.
 * What else it loads has to be told in `sandbox.show`.
 */
export function needsOfCustom(
  program: Program,
  files: readonly string[],
  home: string,
): Pick<AgentNeeds, 'show' | 'path'> {
  const known = needsOf(program, [program], home);
  const show = [program.path, ...known.show, ...files, ...environmentOf(program.path, home)];
  const interpreter = interpreterOf(program.real);
  if (interpreter !== null) show.push(interpreter, ...environmentOf(interpreter, home));
  return { show: [...new Set(show)], path: known.path };
}

/** The program that the first line of a script names by its path; null = none, or one that is looked for on PATH. */
function interpreterOf(file: string): string | null {
  const [program = ''] = (firstLine(file) ?? '').trim().split(/\s+/);
  return isAbsolute(program) && !program.endsWith('/env') && existsSync(program) ? program : null;
}

/** Where a Python has its libraries: the virtual environment that it stands in, and the installation behind it. */
function environmentOf(path: string, home: string): readonly string[] {
  const environment = dirname(dirname(path));
  if (!existsSync(join(environment, 'pyvenv.cfg'))) return [];
  const python = realpathSync(existsSync(join(environment, 'bin/python')) ? join(environment, 'bin/python') : path);
  const installation = dirname(dirname(python));
  const isSystem = ['/', '/usr', '/usr/local'].includes(installation);
  const isOne = !isSystem && existsSync(join(installation, 'include'));
  return [environment, ...(isOne ? [installation] : [])].filter((folder) => !holds(folder, home));
}
