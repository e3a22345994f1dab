import type { Finding } from '../../ports/preflight.ts';
import { askDocker, runOnce } from './docker-preflight.ts';
import type { Installed } from './installed.ts';
import type { HarborOptions } from './options.ts';
import type { TaskNeeds } from './task-needs.ts';

/** As long as Harbor waits for its own probe, which may have to pull its image. */
const probeMs = 30_000;

/**
 * Whether tasks that ask for less than the whole network can have it on this Docker: Harbor runs a small container once,
 * and refuses the whole job where that fails. The same container is run here.
 */
export async function networkFindings(
  o: HarborOptions,
  needs: readonly TaskNeeds[],
  probe: Installed['networkProbe'],
): Promise<readonly Finding[]> {
  const walled = needs.filter(({ walls }) => walls.length > 0);
  const [first] = walled;
  if (first === undefined) return [];
  const more = walled.length === 1 ? '' : ` (and ${walled.length - 1} more)`;
  const asks = `task ${first.task.id}${more} asks for ${first.walls[0]}`;
  const where = `${first.task.dir}/task.toml`;
  const elsewhere = 'run these tasks in an environment that can, or take it out of their task.toml';
  if (probe === null)
    return [
      {
        level: 'warning',
        what: `${asks}, and whether this Docker can enforce it is seen by Harbor alone: where it can’t, the whole job is refused`,
        where,
        fix: elsewhere,
      },
    ];
  const end = await runOnce(o, [probe.image, 'sh', '-c', probe.script], probeMs);
  if (end.cause === 'exited' && end.exitCode === 0) return [];
  const isMissing = (await askDocker(o, ['image', 'inspect', '--format', '{{.Id}}', probe.image])).exitCode !== 0;
  return [
    {
      level: 'error',
      what: `${asks}, which this Docker can’t enforce: ${
        isMissing ? `Harbor’s image to probe it, ${probe.image}, can’t be had` : 'its kernel has not what that takes'
      }`,
      where,
      fix: isMissing ? `\`docker pull ${probe.image}\`; or ${elsewhere}` : elsewhere,
    },
  ];
}
