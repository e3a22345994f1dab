import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Finding } from '../ports/preflight.ts';
import { printableName } from '../ports/printable.ts';
import type { FolderTask } from '../ports/task.ts';
import { MOST_LISTED } from './bounded-list.ts';
import { type DockerCopy, dockerfileCopies } from './dockerfile-copies.ts';
import { type ContainerRoot, containerRoots, hostPathsIn } from './host-paths.ts';
import { readTree } from './tree.ts';

/**
 * What keeps a task from running in plain folders, without a container or sandbox: every line of its instruction,
 * tests, solution and of the files that its environment puts into the workdir, and every value of its environment,
 * that would touch the machine's own `/app`, `/tests`, `/logs` or workdir. Comment lines and files that are not text
 * are passed over; tables and logs in the workdir are warned of. Long lists are cut, with the number of what is left
 * out. Empty = nothing found. Expects a task that `readPack` has accepted; throws `pack` as `dockerfileCopies` does.
 */
export async function localProblems(task: FolderTask): Promise<readonly Finding[]> {
  const roots = containerRoots(task.workdir);
  const errors = new FindingList(task, 'error');
  const warnings = new FindingList(task, 'warning');
  if (task.workdir === '/') {
    errors.add(() => ({
      what: 'the task works in / itself, which can not be a plain folder',
      where: `${task.id}: workdir`,
      fix: 'give it a workdir of its own in task.toml ([environment] workdir = "/app"), or take the task out of the pack',
    }));
  }
  const tree = await readTree(task.dir);
  const copied = copiedInto((await dockerfileCopies(task)).copies);
  for (const file of tree.files) {
    const kind = kindOf(file.path, copied);
    if (kind === null) continue;
    const bytes = await readFile(file.source);
    if (bytes.includes(0)) continue;
    const comment = commentStart(file.path);
    const list = kind === 'data' ? warnings : errors;
    for (const [index, line] of bytes.toString('utf8').split('\n').entries()) {
      if (comment?.test(line) && !(index === 0 && line.startsWith('#!'))) continue;
      for (const root of hostPathsIn(line, roots)) {
        list.add(() =>
          problem(
            task,
            root,
            `${task.id}/${printableName(file.path)}:${index + 1}`,
            advice(file.path, kind, root, task.workdir),
          ),
        );
      }
    }
  }
  addEnvironmentProblems(task, roots, errors);
  return [...errors.all(), ...warnings.all()];
}

/** Findings of one level, as many as are shown. */
class FindingList {
  readonly #shown: Finding[] = [];
  #more = 0;

  constructor(
    private readonly task: FolderTask,
    private readonly level: 'error' | 'warning',
  ) {}

  add(finding: () => Omit<Finding, 'level'>): void {
    if (this.#shown.length < MOST_LISTED) this.#shown.push({ level: this.level, ...finding() });
    else this.#more++;
  }

  all(): readonly Finding[] {
    if (this.#more === 0) return this.#shown;
    const what = `and ${this.#more} more places of task ${this.task.id} that use folders of this machine`;
    return [...this.#shown, { level: this.level, what, where: this.task.id, fix: 'mend them in the same way' }];
  }
}

/** `told` = the instruction; `run` = tests and solution; `workspace` = what lies in the workdir; `data` = its tables and logs. */
type FileKind = 'told' | 'run' | 'workspace' | 'data';

function kindOf(path: string, copied: (path: string) => boolean): FileKind | null {
  if (path === 'instruction.md') return 'told';
  if (/^(tests|solution)\//.test(path)) return 'run';
  const inside = /^environment\/(.*)$/s.exec(path)?.[1];
  // What describes the container is not run in the workdir, even where it is copied there with all the rest.
  if (inside === undefined || /^(Dockerfile|docker-compose\.ya?ml|(Dockerfile)?\.dockerignore)$/.test(inside))
    return null;
  if (!copied(inside)) return null;
  return /\.(csv|tsv|log|jsonl|ndjson)$/i.test(inside) ? 'data' : 'workspace';
}

/** Whether a file of `environment/` is among the copies, by itself or with a folder above it. */
function copiedInto(copies: readonly DockerCopy[]): (path: string) => boolean {
  const sources = new Set(copies.map((copy) => copy.from));
  return (path) => {
    if (sources.has('.') || sources.has(path)) return true;
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      if (sources.has(path.slice(0, at))) return true;
    }
    return false;
  };
}

function addEnvironmentProblems(task: FolderTask, roots: readonly ContainerRoot[], errors: FindingList): void {
  for (const phase of ['environment', 'verifier', 'solution'] as const) {
    for (const [name, value] of Object.entries(task.env[phase])) {
      for (const root of hostPathsIn(value, roots)) {
        errors.add(() =>
          problem(
            task,
            root,
            `${task.id}/task.toml: [${phase}].env ${printableName(name)}`,
            `take ${printableName(name)} out, and derive it in the scripts from \${${root.variable}:-${standard(root, task.workdir)}}`,
          ),
        );
      }
    }
  }
}

function problem(task: FolderTask, root: ContainerRoot, where: string, fix: string): Omit<Finding, 'level'> {
  return {
    what: `task ${task.id} uses ${root.path} of this machine, since there is no container around it`,
    where,
    fix,
  };
}

/** A task whose workdir is elsewhere has no `/app` of its own: what it means is the workdir. */
function standard(root: ContainerRoot, workdir: string): string {
  return root.variable === 'APP_DIR' ? workdir : root.path;
}

function advice(path: string, kind: FileKind, root: ContainerRoot, workdir: string): string {
  const fallback = standard(root, workdir);
  const isText = kind === 'told' || (kind === 'workspace' && /\.(md|txt)$/i.test(path));
  if (isText) {
    return root.variable === 'APP_DIR'
      ? `speak of "the current directory" instead of ${root.path}: the agent starts in its workdir`
      : `leave ${root.path} out of the ${kind === 'told' ? 'instruction' : 'text'}: it is not the agent's to see`;
  }
  if (kind === 'data') return `nothing, when no program follows it; else take ${root.path} out of the file`;
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
      if (kind === 'workspace' && root.variable === 'APP_DIR') {
        return `write a path relative to the workdir instead of ${root.path}, or take it from the variable APP_DIR`;
      }
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
