import type { MountedSkill, RolloutReport } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { type LocalBench, makeLocalBench } from './bench-fixture.ts';
import type { LocalOptions } from './options.ts';

/** Runs the body with a bench. Throws when something of it is left at the end. */
export async function withBench(
  options: Partial<LocalOptions>,
  body: (bench: LocalBench) => Promise<void>,
): Promise<void> {
  const bench = await makeLocalBench(options);
  try {
    await body(bench);
    const left = await bench.leftovers();
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  } finally {
    await bench.close();
  }
}

/** The report of one rollout. Two at once need keys of their own, by which their processes are told apart. */
export async function reportOf(
  bench: LocalBench,
  task: FolderTask,
  skill: MountedSkill | null = null,
  key = 'k',
): Promise<RolloutReport> {
  const never = new AbortController().signal;
  const request = { key, task, skill, attempt: 0, try: 0, signal: never };
  for await (const report of bench.backend.performRollouts([request], { signal: never })) return report;
  throw new Error('no report');
}

/** The result of one rollout. Throws when it did not finish. */
export async function resultOf(bench: LocalBench, task: FolderTask, skill: MountedSkill | null = null, key = 'k') {
  const report = await reportOf(bench, task, skill, key);
  if (report.kind !== 'finished') throw new Error(`not finished: ${JSON.stringify(report)}`);
  return report.result;
}
