import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** How a task's environment is made, as far as a layer on it has to know. */
export type TaskEnvironment = {
  /** `[environment] docker_image`: with it Harbor builds nothing; null = none. */
  readonly dockerImage: string | null;
  /** Text of `environment/Dockerfile`; null = there is none. */
  readonly dockerfile: string | null;
  /** `environment/docker-compose.yaml` is there: services of its own beside the agent's. */
  readonly compose: boolean;
  /** `[environment] workdir`; null = the image's. */
  readonly workdir: string | null;
};

const tomlShape = z.object({
  environment: z
    .object({ docker_image: z.string().nullish().catch(null), workdir: z.string().nullish().catch(null) })
    .nullish()
    .catch(null),
});

/** Reads it from a task's folder. What can't be read says nothing: Harbor will say it. */
export function taskEnvironment(dir: string): TaskEnvironment {
  const own = join(dir, 'environment');
  const dockerfile = join(own, 'Dockerfile');
  const { environment } = tomlOf(join(dir, 'task.toml'));
  return {
    dockerImage: environment?.docker_image || null,
    dockerfile: existsSync(dockerfile) ? readFileSync(dockerfile, 'utf8') : null,
    compose: existsSync(join(own, 'docker-compose.yaml')),
    workdir: environment?.workdir || null,
  };
}

/** The image that the agent's container is made from in the end; null = its Dockerfile does not tell. */
export function baseImage({ dockerImage, dockerfile }: TaskEnvironment): string | null {
  if (dockerImage !== null || dockerfile === null) return dockerImage;
  const stages = [...dockerfile.matchAll(/^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)];
  let image = stages.at(-1)?.[1] ?? null;
  // a stage may be made from one before it
  for (let tries = stages.length; tries > 0 && image !== null; tries--) {
    const earlier = stages.find(([, , name]) => name?.toLowerCase() === image?.toLowerCase());
    if (earlier === undefined) break;
    image = earlier[1] ?? null;
  }
  return image;
}

function tomlOf(file: string): z.output<typeof tomlShape> {
  try {
    return tomlShape.parse(Bun.TOML.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}
