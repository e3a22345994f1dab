import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fail, type SkilloptError } from '../ports/failure.ts';
import { printableName } from '../ports/printable.ts';
import type { FolderTask } from '../ports/task.ts';
import {
  dockerIgnore,
  dockerPattern,
  MATCHING_STEPS,
  type MatchingBudget,
  MatchingTooLong,
} from './docker-patterns.ts';
import { type DockerInstruction, expand, parseDockerfile, words } from './dockerfile.ts';
import { type DockerStep, finalStage } from './dockerfile-stage.ts';
import { parseTaskToml } from './task-toml.ts';
import { readTree } from './tree.ts';

/** One thing to copy into a workspace, in the order given (later ones win). A folder stands for its content. */
export type DockerCopy = {
  /** Relative to the task's `environment/`; `.` is all of it. */
  readonly from: string;
  /** Relative to the workdir; `.` is the workdir. Never leads out of it. */
  readonly to: string;
  /** What `--chmod` says, for the files; null = as in the task folder. */
  readonly mode: number | null;
};

/** What a workspace on the host takes from a task's environment, and what it cannot. */
export type DockerCopies = {
  readonly copies: readonly DockerCopy[];
  /** Place and instruction of all that is not done, for people; with a reason where it is not plain. */
  readonly notExecuted: readonly string[];
};

type Context = {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
  /** Folders must be spelled out by file, since some of their files are left out. */
  readonly filtered: boolean;
  readonly budget: MatchingBudget;
};

/** A Dockerfile that asks for more than this asks for the same files again and again. */
const MOST_COPIES = 100_000;

type Honoured =
  | { readonly ok: true; readonly copies: readonly DockerCopy[] }
  | { readonly ok: false; readonly reason: string };

/**
 * The files that a task's environment would put into its workdir: COPY and ADD of the final image from the build
 * context (with .dockerignore), or, without a Dockerfile, all of `environment/` (as Harbor uploads it beside a
 * prebuilt image). Everything else that would shape the container is listed in `notExecuted`. Expects a task that
 * `readPack` has accepted; reads, and executes nothing. Throws `pack` when its patterns would take too long to match.
 */
export async function dockerfileCopies(task: FolderTask): Promise<DockerCopies> {
  try {
    return await copiesOf(task);
  } catch (cause) {
    if (!(cause instanceof MatchingTooLong)) throw cause;
    throw fail(
      'pack',
      'the patterns of .dockerignore, COPY and ADD take too long to match against all files of environment/',
      join(task.dir, 'environment'),
      'write fewer and simpler patterns, or take files out',
      { cause },
    );
  }
}

async function copiesOf(task: FolderTask): Promise<DockerCopies> {
  const folder = join(task.dir, 'environment');
  const dockerfile = await readText(join(folder, 'Dockerfile'));
  const toml = parseTaskToml((await readText(join(task.dir, 'task.toml'))) ?? '');
  const image = toml.ok ? toml.toml.dockerImage : null;
  const compose = await readText(join(folder, 'docker-compose.yaml'));
  const notExecuted = [
    ...(image === null ? [] : [`task.toml: docker_image = "${image}"`]),
    ...(compose === null ? [] : ['environment/docker-compose.yaml: its services are not started']),
  ];
  if (dockerfile === null) {
    const context = image === null || compose !== null ? null : await readContext(folder);
    const filled = context !== null && context.files.size > 0;
    return { copies: filled ? [{ from: '.', to: '.', mode: null }] : [], notExecuted };
  }
  const context = await readContext(folder);
  const steps = new Map(finalStage(dockerfile).steps.map((step) => [step.instruction.line, step]));
  const folders = new Set([task.workdir]);
  const copies: DockerCopy[] = [];
  for (const instruction of parseDockerfile(dockerfile)) {
    const step = steps.get(instruction.line);
    if (step?.workdir) folders.add(step.workdir);
    switch (instruction.name) {
      case 'RUN':
        notExecuted.push(describe(instruction));
        break;
      case 'ENV':
        if (step !== undefined) notExecuted.push(describe(instruction));
        break;
      case 'COPY':
      case 'ADD': {
        // Copies into a stage that is thrown away show up as the COPY --from that fetches its results.
        if (step === undefined) break;
        const honoured = honour(step, context, task.workdir, folders);
        if (honoured.ok) for (const copy of honoured.copies) copies.push(copy);
        else notExecuted.push(`${describe(instruction)} (${honoured.reason})`);
        if (copies.length > MOST_COPIES) throw tooManyCopies(task, instruction);
        break;
      }
    }
  }
  return { copies, notExecuted };
}

function tooManyCopies(task: FolderTask, { line }: DockerInstruction): SkilloptError {
  return fail(
    'pack',
    `the Dockerfile copies more than ${MOST_COPIES} files`,
    join(task.dir, `environment/Dockerfile:${line}`),
    'copy each file once',
  );
}

function describe(instruction: DockerInstruction): string {
  const text = printableName(`${instruction.name} ${instruction.rest.replace(/\s+/g, ' ')}`);
  return `environment/Dockerfile:${instruction.line}: ${text.length > 160 ? `${text.slice(0, 159)}…` : text}`;
}

function honour(step: DockerStep, context: Context, workdir: string, folders: Set<string>): Honoured {
  const { instruction } = step;
  if (instruction.heredoc) return { ok: false, reason: 'its content stands in the Dockerfile' };
  const flags: string[] = [];
  let rest = instruction.rest;
  for (let flag = /^--\S+\s*/.exec(rest); flag !== null; flag = /^--\S+\s*/.exec(rest)) {
    flags.push(flag[0].trim());
    rest = rest.slice(flag[0].length);
  }
  const mode = readFlags(flags);
  if (!mode.ok) return mode;
  const parts = words(rest).map((word) => expand(word, step.variables));
  const known = parts.filter((part) => part !== null);
  const sources = known.slice(0, -1);
  const destination = known.at(-1);
  if (known.length < parts.length || step.workdir === null) {
    return { ok: false, reason: 'it depends on a variable that the Dockerfile does not set' };
  }
  if (destination === undefined || sources.length === 0) return { ok: false, reason: 'it names no destination' };

  const target = posix.resolve(step.workdir, destination);
  const found = findSources(sources, instruction.name, context);
  if (!found.ok) return found;
  const isFolder = /(^|\/)\.?$/.test(destination) || found.sources.length > 1 || folderAt(target, folders);
  const copies: DockerCopy[] = [];
  for (const source of found.sources) {
    const whole = source === '.' || context.folders.has(source);
    const place = whole || !isFolder ? target : posix.join(target, posix.basename(source));
    const to = within(workdir, place);
    if (to === null) return { ok: false, reason: `it leads outside the workdir ${workdir}` };
    if (whole || isFolder) folders.add(target);
    copies.push(...spell(source, to, whole, mode.mode, context));
  }
  return { ok: true, copies };
}

type Flags = { readonly ok: true; readonly mode: number | null } | { readonly ok: false; readonly reason: string };

function readFlags(flags: readonly string[]): Flags {
  let mode: number | null = null;
  for (const flag of flags) {
    const [name, value = ''] = flag.split(/=(.*)/s);
    if (name === '--chmod' && /^0?[0-7]{3}$/.test(value)) mode = Number.parseInt(value, 8);
    else if (name === '--from') return { ok: false, reason: 'it takes files from another image' };
    else if (name !== '--chown' && name !== '--link') return { ok: false, reason: `${name} is not understood` };
  }
  return { ok: true, mode };
}

type Found =
  | { readonly ok: true; readonly sources: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Paths of the context that the sources name, wildcards resolved. */
function findSources(sources: readonly string[], name: string, context: Context): Found {
  const found: string[] = [];
  for (const source of sources) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^git@/.test(source)) return { ok: false, reason: 'it downloads' };
    const path = posix.normalize(`/${source}`).replace(/^\/+|\/+$/g, '') || '.';
    if (/^\.\.(\/|$)/.test(posix.normalize(source))) return { ok: false, reason: 'it leads out of environment/' };
    const pattern = /[*?[\\]/.test(path) ? dockerPattern(path, false) : null;
    const matches =
      pattern === null
        ? [path].filter((entry) => entry === '.' || context.files.has(entry) || context.folders.has(entry))
        : [...context.files, ...context.folders].filter((entry) => pattern.test(entry, context.budget));
    if (matches.length === 0) return { ok: false, reason: `environment/ holds no ${source}` };
    if (name === 'ADD' && matches.some((match) => /\.(tar|tar\.(gz|bz2|xz|zst)|tgz|tbz2?|txz)$/i.test(match))) {
      return { ok: false, reason: 'it unpacks an archive' };
    }
    for (const match of matches) found.push(match);
    if (found.length > MOST_COPIES) return { ok: false, reason: `it names more than ${MOST_COPIES} files` };
  }
  return { ok: true, sources: found };
}

function folderAt(path: string, folders: ReadonlySet<string>): boolean {
  return [...folders].some((folder) => folder === path || folder.startsWith(path === '/' ? '/' : `${path}/`));
}

/** The path relative to the workdir; null when it leads out of it. */
function within(workdir: string, path: string): string | null {
  const relative = posix.relative(workdir, path);
  if (relative === '') return '.';
  return relative === '..' || relative.startsWith('../') ? null : relative;
}

function spell(from: string, to: string, whole: boolean, mode: number | null, context: Context): readonly DockerCopy[] {
  if (!whole || !context.filtered) return [{ from, to, mode }];
  const prefix = from === '.' ? '' : `${from}/`;
  return [...context.files]
    .filter((file) => file.startsWith(prefix))
    .map((file) => ({ from: file, to: posix.join(to, file.slice(prefix.length)), mode }));
}

async function readContext(folder: string): Promise<Context> {
  const ignoreText =
    (await readText(join(folder, 'Dockerfile.dockerignore'))) ?? (await readText(join(folder, '.dockerignore')));
  const budget: MatchingBudget = { steps: MATCHING_STEPS };
  const ignored = dockerIgnore(ignoreText ?? '', budget);
  const tree = await readTree(folder).catch(() => null);
  const files = new Set((tree?.files ?? []).map((file) => file.path).filter((path) => !ignored(path)));
  const holding = new Set<string>();
  for (const file of files) {
    for (let at = file.indexOf('/'); at !== -1; at = file.indexOf('/', at + 1)) holding.add(file.slice(0, at));
  }
  const folders = new Set((tree?.directories ?? []).filter((path) => holding.has(path) || !ignored(path)));
  return { files, folders, filtered: ignoreText !== null, budget };
}

/** Null when there is no such file. */
async function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}
