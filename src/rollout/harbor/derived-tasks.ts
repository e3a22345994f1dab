import { existsSync, readFileSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { fail } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import type { FolderTask } from '../../ports/task.ts';
import { fileName, filesFolder, finalUser, type Layer, layerHash, layerInstructions } from './layer.ts';
import { taskEnvironment } from './task-environment.ts';

/**
 * Tasks with a layer on their image, as copies below `root`: the user's own are never changed, and a task keeps its
 * identity. What builds an image keeps a cache of it by its instructions, so that the layer is installed once.
 */
export class DerivedTasks {
  readonly #making = new Map<string, Promise<void>>();

  constructor(
    private readonly root: string,
    private readonly layer: Layer,
  ) {}

  /** The task in its derived folder. Throws `config` where no layer can be laid on it. */
  async of(task: FolderTask): Promise<FolderTask> {
    const place = join(this.root, shortHash(JSON.stringify([task.hash, layerHash(this.layer)])));
    // Harbor names trials by the folder
    const dir = join(place, basename(task.dir));
    if (!existsSync(dir)) {
      const making = this.#making.get(dir) ?? derive(task, dir, this.layer);
      this.#making.set(dir, making);
      await making.finally(() => this.#making.delete(dir));
    }
    return { ...task, dir };
  }
}

/** Why no layer can be laid on this task's image; null = it can. */
export function layerProblem({ dir }: Pick<FolderTask, 'dir'>): { readonly what: string; readonly fix: string } | null {
  const { compose, dockerImage, dockerfile } = taskEnvironment(dir);
  const own = 'install it in the task’s own image, and take it out of the preloads';
  if (compose && (dockerImage !== null || dockerfile === null || !composeLeavesImage(dir)))
    return { what: 'its docker-compose.yaml says what the image is, and nothing can be laid on that', fix: own };
  if (dockerImage === null && dockerfile === null)
    return { what: 'it has neither a Dockerfile nor a docker_image', fix: own };
  if (dockerImage !== null && withoutImage(readFileSync(join(dir, 'task.toml'), 'utf8')) === null)
    return {
      what: 'its task.toml names the image where it can’t be taken out',
      fix: `write docker_image = "…" on a line of its own below [environment]; or ${own}`,
    };
  return null;
}

/** Whether the agent's service is made by the Dockerfile. */
function composeLeavesImage(dir: string): boolean {
  try {
    const file = parse(readFileSync(join(dir, 'environment', 'docker-compose.yaml'), 'utf8')) as {
      readonly services?: Readonly<Record<string, object | null>>;
    };
    const main = file.services?.main ?? {};
    return !('image' in main) && !('build' in main);
  } catch {
    return false;
  }
}

async function derive(task: FolderTask, dir: string, layer: Layer): Promise<void> {
  const problem = layerProblem(task);
  if (problem !== null)
    throw fail(
      'config',
      `the preloads can’t be installed for this task: ${problem.what}`,
      `task ${task.id}`,
      problem.fix,
    );
  const { dockerImage, dockerfile, workdir } = taskEnvironment(task.dir);
  const fresh = `${dirname(dir)}.new`;
  await rm(fresh, { recursive: true, force: true });
  const copy = join(fresh, basename(dir));
  await cp(task.dir, copy, { recursive: true, verbatimSymlinks: true });
  const environment = join(copy, 'environment');
  await mkdir(environment, { recursive: true });
  const ignore = join(environment, '.dockerignore');
  if (dockerImage === null && dockerfile !== null)
    await writeFile(
      join(environment, 'Dockerfile'),
      `${dockerfile}\n${layerInstructions(layer, finalUser(dockerfile))}`,
    );
  else {
    // Harbor builds nothing where an image is named, and lays the folder's files into the place of work
    const alone = dockerfile !== null || (await readdir(environment)).length === 0;
    if (!alone) await appendFile(ignore, '\nDockerfile\n.dockerignore\n');
    const from = [`FROM ${dockerImage}`, ...(alone ? [] : [`COPY ${JSON.stringify(['.', `${workdir ?? '.'}/`])}`])];
    await writeFile(join(environment, 'Dockerfile'), `${from.join('\n')}\n${layerInstructions(layer, null)}`);
    const toml = join(copy, 'task.toml');
    await writeFile(toml, withoutImage(readFileSync(toml, 'utf8')) ?? '');
  }
  if (layer.files.size > 0) {
    const folder = filesFolder(layer);
    for (const [nth, [text, { path }]] of [...layer.files].entries()) {
      const to = join(environment, folder, String(nth), fileName(text, layer.files));
      await mkdir(dirname(to), { recursive: true });
      await cp(path, to, { recursive: true });
    }
    if (existsSync(ignore)) await appendFile(ignore, `\n!${folder}\n!${folder}/**\n`);
  }
  await rm(dirname(dir), { recursive: true, force: true });
  await mkdir(dirname(dirname(dir)), { recursive: true });
  await rename(fresh, dirname(dir));
}

/** A task.toml whose agent's environment names no image, all else as it was; null = this can't be done by taking a line out. */
export function withoutImage(toml: string): string | null {
  let section = '';
  const kept = toml.split('\n').filter((line) => {
    const head = /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/.exec(line)?.[1];
    if (head !== undefined) section = head;
    else if (/^\s*\[\[/.test(line)) section = '[[';
    const key = section === '' ? 'environment.docker_image' : section === 'environment' ? 'docker_image' : null;
    return key === null || !new RegExp(`^\\s*${key.replace('.', '\\s*\\.\\s*')}\\s*=`).test(line);
  });
  const text = kept.join('\n');
  try {
    const before = Bun.TOML.parse(toml) as { readonly environment?: Record<string, unknown> };
    const after = Bun.TOML.parse(text) as { readonly environment?: Record<string, unknown> };
    const { docker_image: image, ...rest } = before.environment ?? {};
    if (image === undefined) return null;
    const wanted = { ...before, environment: rest };
    return isDeepStrictEqual(plain({ ...after, environment: after.environment ?? {} }), plain(wanted)) ? text : null;
  } catch {
    return null;
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
