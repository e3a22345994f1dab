import { cellByConfig, cellOfTrial, type JobsPlace, trialsIn } from './job-folder.ts';
import type { TrialResult } from './trial.ts';

/** A finished trial of an earlier process. */
export type Adoptable = { readonly folder: string; readonly trial: TrialResult; readonly job: string };

/** What the jobs of an earlier process came to, by the keys of their rollouts. */
export type LeftJobs = {
  readonly finished: Map<string, Adoptable>;
  /** Harbor made no folder for their trials: they were still in its queue. */
  readonly notBegun: ReadonlySet<string>;
};

/** Looks at the jobs that were begun and not put away. None of their processes may still run. */
export async function leftJobs(
  place: JobsPlace,
  isOutcome: (folder: string, trial: TrialResult) => Promise<boolean>,
): Promise<LeftJobs> {
  const finished = new Map<string, Adoptable>();
  const begun = new Set<string>();
  const planned = new Set<string>();
  for (const { job, keys } of await place.plans()) {
    for (const key of Object.values(keys)) planned.add(key);
    for (const { folder, result } of await trialsIn(place.folderOf(job))) {
      const cell = result === null ? await cellByConfig(folder) : cellOfTrial(result);
      const key = cell === null ? undefined : keys[cell];
      if (key === undefined) continue;
      begun.add(key);
      if (result === null || finished.has(key) || !(await isOutcome(folder, result))) continue;
      finished.set(key, { folder, trial: result, job });
    }
  }
  return { finished, notBegun: planned.difference(begun) };
}
