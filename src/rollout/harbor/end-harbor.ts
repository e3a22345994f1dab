import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { windDownLeftovers } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import { hostVariables } from './harbor-env.ts';
import { patienceMs } from './harbor-process.ts';
import { JobsPlace, trialsIn } from './job-folder.ts';
import { sweepDocker } from './leftovers.ts';

/** What is known of a session's Harbor when nothing of it is in hand. */
export type HarborLeft = {
  readonly sessionId: string;
  /** The session's folder for Harbor, absolute. */
  readonly dir: string;
  /** Trials may have left something with this machine's Docker. */
  readonly onDocker: boolean;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly patienceMs?: number | undefined;
};

/**
 * Ends Harbor's processes that an earlier process of this session left, and takes away what their trials left. Returns a
 * line for each, for people.
 */
export async function endHarbor(left: HarborLeft, place: JobsPlace): Promise<readonly string[]> {
  const { sessionId, dir, hostEnv } = left;
  const mark = { name: markName, match: 'prefix', value: `${sessionId}/harbor/` } as const;
  const processes = await windDownLeftovers(mark, left.patienceMs ?? patienceMs);
  if (!left.onDocker) return processes;
  const folders = (await place.plans()).map(({ job }) => place.folderOf(job));
  const trials = (await Promise.all(folders.map(trialsIn))).flat().map(({ name }) => name);
  const swept = await sweepDocker({ session: sessionId, trials }, { env: hostVariables(hostEnv, []), cwd: dir });
  return [...processes, ...swept];
}

/**
 * `skillopt clean`: ends what Harbor left of a session, and removes all its files but finished rollouts that the session
 * has not taken yet, which are paid. Returns a line for each, for people.
 */
export async function cleanHarbor(left: HarborLeft): Promise<readonly string[]> {
  if (!existsSync(left.dir)) return [];
  const place = new JobsPlace(left.dir);
  const wanted = [];
  for (const plan of await place.plans()) wanted.push({ plan, isPaid: (await place.unclaimed(plan)).length > 0 });
  const lines = await endHarbor(left, place);
  for (const { plan, isPaid } of wanted) if (!isPaid) await place.close(plan.job, false);
  const kept = await place.removeKept(0);
  if (!wanted.some(({ isPaid }) => isPaid)) await rm(left.dir, { recursive: true, force: true });
  return [...lines, ...(kept === 0 ? [] : [`folders of ${kept} Harbor jobs`])];
}
