import { cellByConfig, cellOfTrial, type JobsPlace, trialsIn, type Unclaimed } from './job-folder.ts';
import type { TrialResult } from './trial.ts';

/** Trials that ended by themselves in jobs of an earlier process, and came to an outcome, by the key of their rollout. */
export async function finishedIn(
  place: JobsPlace,
  isOutcome: (folder: string, trial: TrialResult) => Promise<boolean>,
): Promise<Map<string, Unclaimed>> {
  const found = new Map<string, Unclaimed>();
  for (const plan of await place.plans())
    for (const one of await place.unclaimed(plan))
      if (!found.has(one.key) && (await isOutcome(one.folder, one.trial))) found.set(one.key, one);
  return found;
}

/** Rollouts of these jobs for whose trials Harbor made no folder: they were still in its queue. Nothing of it may still run. */
export async function notBegunIn(place: JobsPlace): Promise<ReadonlySet<string>> {
  const begun = new Set<string>();
  const planned = new Set<string>();
  for (const { job, keys } of await place.plans()) {
    for (const key of Object.values(keys)) planned.add(key);
    for (const { folder, result } of await trialsIn(place.folderOf(job))) {
      const cell = result === null ? await cellByConfig(folder) : cellOfTrial(result);
      const key = cell === null ? undefined : keys[cell];
      if (key !== undefined) begun.add(key);
    }
  }
  return planned.difference(begun);
}
