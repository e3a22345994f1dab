import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderTask } from '../../ports/task.ts';
import { imagesOfCompose, imagesOfDockerfile, recordOf } from './base-images.ts';

/** What a task asks of the place where it runs, as far as its files tell. */
export type TaskNeeds = {
  readonly task: FolderTask;
  /** Images that its containers start from. */
  readonly images: readonly string[];
  /** Where it asks for less than the whole network, such as `[agent] network_mode = "no-network"`. */
  readonly walls: readonly string[];
  /** Environments of its `task.toml`, by table. */
  readonly envs: readonly { readonly table: string; readonly env: Readonly<Record<string, string>> }[];
};

/** Longest task.toml that is read, in characters. */
const longest = 100_000;

/** Reads a task's files; what is missing or broken there is not this function's to tell. */
export async function taskNeeds(task: FolderTask): Promise<TaskNeeds> {
  const read = (...path: readonly string[]) => readFile(join(task.dir, ...path), 'utf8').catch(() => null);
  const toml = tomlOf(await read('task.toml'));
  const environment = recordOf(toml.environment);
  const verifier = recordOf(toml.verifier);
  const own = recordOf(verifier.environment);
  const apart = verifier.environment_mode === 'separate' || verifier.environment !== undefined;
  const images = async (folder: string, image: unknown) => {
    const [dockerfile, compose] = await Promise.all([read(folder, 'Dockerfile'), read(folder, 'docker-compose.yaml')]);
    return [
      ...(typeof image === 'string' && image !== ''
        ? [image]
        : dockerfile === null
          ? []
          : imagesOfDockerfile(dockerfile)),
      ...(compose === null ? [] : imagesOfCompose(compose)),
    ];
  };
  return {
    task,
    images: [
      ...new Set([
        ...(await images('environment', environment.docker_image)),
        ...(apart ? await images('tests', own.docker_image) : []),
      ]),
    ],
    walls: wallsIn(toml),
    envs: [
      { table: '[environment.env]', env: task.env.environment },
      { table: '[verifier.env]', env: task.env.verifier },
      { table: '[verifier.environment.env]', env: textsIn(recordOf(own.env)) },
    ],
  };
}

function tomlOf(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null || text.length > longest) return {};
  try {
    return recordOf(Bun.TOML.parse(text));
  } catch {
    return {};
  }
}

/** Each place of a task.toml that asks Harbor to hold back the network. */
export function wallsIn(toml: Readonly<Record<string, unknown>>): readonly string[] {
  const steps = Array.isArray(toml.steps) ? toml.steps.map(recordOf) : [];
  const verifier = recordOf(toml.verifier);
  const tables: readonly (readonly [string, unknown])[] = [
    ['[environment]', toml.environment],
    ['[agent]', toml.agent],
    ['[verifier]', verifier],
    ['[verifier.environment]', verifier.environment],
    ...steps.flatMap((step): readonly (readonly [string, unknown])[] => [
      ['[steps.agent]', step.agent],
      ['[steps.verifier]', step.verifier],
      ['[steps.verifier.environment]', recordOf(step.verifier).environment],
    ]),
  ];
  return tables.flatMap(([table, given]) => {
    const { network_mode: mode, allow_internet: internet } = recordOf(given);
    if (typeof mode === 'string') return mode === 'public' ? [] : [`${table} network_mode = "${mode}"`];
    return internet === false ? [`${table} allow_internet = false`] : [];
  });
}

function textsIn(record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  );
}
