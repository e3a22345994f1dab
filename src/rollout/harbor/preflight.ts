import type { Finding } from '../../ports/preflight.ts';
import { harborVersion } from './harbor-process.ts';
import type { HarborOptions } from './options.ts';

/** The oldest Harbor whose files this program reads, and the one that it was measured with. */
const floor = [0, 25] as const;
export const testedHarbor = '0.26';

/** What Harbor, its backend, its agent and the tasks lack, before anything is spent. */
export async function harborPreflight(o: HarborOptions): Promise<readonly Finding[]> {
  const version = await harborVersion(o);
  if (version === null)
    return [
      {
        level: 'error',
        what: 'Harbor does not answer',
        where: o.program,
        fix: 'install it (`uv tool install harbor`), or name its program as "harbor.program"',
      },
    ];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === floor[0] && minor < floor[1])
    return [
      {
        level: 'error',
        what: `Harbor ${version} is older than ${floor.join('.')}, from which on its results say whether they count`,
        where: o.program,
        fix: 'update it: `uv tool upgrade harbor`',
      },
    ];
  return [];
}
