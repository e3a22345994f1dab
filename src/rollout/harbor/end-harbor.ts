import { windDownLeftovers } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import { harborEnvironment } from './harbor-env.ts';
import { patienceMs } from './harbor-process.ts';
import { type JobsPlace, trialsIn } from './job-folder.ts';
import { sweepDocker } from './leftovers.ts';
import { type HarborOptions, isDocker } from './options.ts';

/**
 * Ends Harbor's processes that an earlier process of this session left, and takes away what their trials left. Returns a
 * line for each, for people.
 */
export async function endHarbor(o: HarborOptions, place: JobsPlace): Promise<readonly string[]> {
  const mark = { name: markName, match: 'prefix', value: `${o.sessionId}/harbor/` } as const;
  const processes = await windDownLeftovers(mark, o.patienceMs ?? patienceMs);
  if (!isDocker(o.environment)) return processes;
  const folders = (await place.plans()).map(({ job }) => place.folderOf(job));
  const trials = (await Promise.all(folders.map(trialsIn))).flat().map(({ name }) => name);
  const left = await sweepDocker({ session: o.sessionId, trials }, { env: harborEnvironment(o), cwd: o.dir });
  return [...processes, ...left];
}
