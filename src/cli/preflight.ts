import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { Finding, Preflight } from '../ports/preflight.ts';
import { folderTasks, type Task } from '../ports/task.ts';
import { boundedList } from '../taskpack/bounded-list.ts';
import { dockerfileCopies } from '../taskpack/dockerfile-copies.ts';

/** What backend and optimizer find before anything is spent; errors end the command with their fixes. */
export async function preflight(parts: readonly Preflight[]): Promise<readonly Finding[]> {
  const findings = (await Promise.all(parts.map((p) => p.preflight()))).flat();
  const same = (f: Finding) => JSON.stringify([f.what, f.where, f.fix]);
  const errors = [...new Map(findings.filter((f) => f.level === 'error').map((f) => [same(f), f])).values()];
  const [first] = errors;
  if (!first) return findings;
  const rest = errors.length - 1;
  throw fail(
    'preflight',
    rest > 0 ? `${first.what} (and ${rest} more)` : first.what,
    rest > 0 ? boundedList(errors.map((e) => `${e.where}: ${e.what}`)).join('\n') : first.where,
    boundedList([...new Set(errors.map((e) => e.fix))]).join('\n'),
  );
}

/** Steps of the tasks' Dockerfiles that nobody executes here: the host is the image. */
export function taskNotes({ backend }: Pick<Config, 'backend'>, tasks: readonly Task[]): Preflight {
  return {
    async preflight() {
      if (backend !== 'local') return [];
      const steps = (
        await Promise.all(
          folderTasks(tasks).map(async (t) =>
            (await dockerfileCopies(t)).notExecuted.map((step) => `${t.id}: ${step}`),
          ),
        )
      ).flat();
      const [first] = steps;
      if (first === undefined) return [];
      return [
        {
          level: 'warning',
          what: `${steps.length} ${steps.length === 1 ? 'step of a Dockerfile is' : 'steps of Dockerfiles are'} not executed here, where the host is the image; the first is ${first}`,
          where: 'backend local',
          fix: 'see that this host has what they would set up',
        },
      ];
    },
  };
}
