import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Finding } from '../ports/preflight.ts';
import type { Task } from '../ports/task.ts';
import { type ContainerRoot, containerRoots, hostPathsIn } from './host-paths.ts';
import { printable } from './names.ts';
import { readTree } from './tree.ts';

/**
 * What keeps a task from running in plain folders, without a container or sandbox: every line of its instruction,
 * tests and solution, and every value of its environment, that would touch the machine's own `/app`, `/tests`,
 * `/logs` or workdir. Comment lines and files that are not text are passed over. Empty = nothing found.
 * Expects a task that `readPack` has accepted.
 */
export async function localProblems(task: Task): Promise<readonly Finding[]> {
  const roots = containerRoots(task.workdir);
  const findings: Finding[] = [];
  if (task.workdir === '/') {
    findings.push({
      level: 'error',
      what: 'the task works in / itself, which can not be a plain folder',
      where: `${task.id}: workdir`,
      fix: 'give it a workdir of its own in task.toml ([environment] workdir = "/app"), or run it in a container',
    });
  }
  const tree = await readTree(task.dir);
  for (const file of tree.files.filter(({ path }) => path === 'instruction.md' || /^(tests|solution)\//.test(path))) {
    const bytes = await readFile(file.source);
    if (bytes.includes(0)) continue;
    const comment = commentStart(file.path);
    for (const [index, line] of bytes.toString('utf8').split('\n').entries()) {
      if (comment?.test(line) && !(index === 0 && line.startsWith('#!'))) continue;
      for (const root of hostPathsIn(line, roots)) {
        findings.push(
          problem(task, root, `${task.id}/${printable(file.path)}:${index + 1}`, advice(file.path, root, task.workdir)),
        );
      }
    }
  }
  return [...findings, ...environmentProblems(task, roots)];
}

function environmentProblems(task: Task, roots: readonly ContainerRoot[]): readonly Finding[] {
  return (['environment', 'verifier', 'solution'] as const).flatMap((phase) =>
    Object.entries(task.env[phase]).flatMap(([name, value]) =>
      hostPathsIn(value, roots).map((root) =>
        problem(
          task,
          root,
          `${task.id}/task.toml: [${phase}].env ${name}`,
          `take ${name} out, and derive it in the scripts from \${${root.variable}:-${standard(root, task.workdir)}}`,
        ),
      ),
    ),
  );
}

function problem(task: Task, root: ContainerRoot, where: string, fix: string): Finding {
  return {
    level: 'error',
    what: `task ${task.id} uses ${root.path} of this machine, since there is no container around it`,
    where,
    fix,
  };
}

/** A task whose workdir is elsewhere has no `/app` of its own: what it means is the workdir. */
function standard(root: ContainerRoot, workdir: string): string {
  return root.variable === 'APP_DIR' ? workdir : root.path;
}

function advice(path: string, root: ContainerRoot, workdir: string): string {
  const fallback = standard(root, workdir);
  if (path === 'instruction.md') {
    return root.variable === 'APP_DIR'
      ? `speak of "the current directory" instead of ${root.path}: the agent starts in its workdir`
      : `leave ${root.path} out of the instruction: it is not the agent's to see`;
  }
  switch (extname(path)) {
    case '.py':
      return `write os.environ.get("${root.variable}", "${fallback}") instead of ${root.path}`;
    case '.js':
    case '.mjs':
    case '.cjs':
    case '.ts':
      return `write (process.env.${root.variable} ?? '${fallback}') instead of ${root.path}`;
    case '':
    case '.sh':
    case '.bash':
      return `write "\${${root.variable}:-${fallback}}" instead of ${root.path}`;
    default:
      return `take the folder from the variable ${root.variable}, with ${fallback} as its default, instead of ${root.path}`;
  }
}

/** How a line of comment begins; null where there are none (in an instruction `#` is a heading, which the agent reads). */
function commentStart(path: string): RegExp | null {
  switch (extname(path)) {
    case '.md':
    case '.txt':
    case '.json':
    case '.csv':
      return null;
    case '.js':
    case '.mjs':
    case '.cjs':
    case '.ts':
    case '.c':
    case '.h':
    case '.cc':
    case '.cpp':
    case '.cs':
    case '.go':
    case '.java':
    case '.rs':
      return /^\s*\/\//;
    default:
      return /^\s*#/;
  }
}
