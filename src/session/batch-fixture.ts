import type { PerformOptions, RolloutReport, RolloutRequest } from '../ports/rollouts.ts';

/**
 * Performs a batch as a backend does that takes many requests: so many at a time, each report as it comes. What was given
 * up before its turn had not begun.
 */
export async function* performBatch(
  requests: readonly RolloutRequest[],
  { signal, concurrency = requests.length, onProgress }: PerformOptions,
  perform: (request: RolloutRequest) => Promise<RolloutReport>,
): AsyncGenerator<RolloutReport, void, undefined> {
  const queue = [...requests];
  const done: RolloutReport[] = [];
  let wake = () => {};
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { key } = next;
      if (next.signal.aborted || signal.aborted) done.push({ kind: 'cancelled', key, begun: false });
      else {
        onProgress?.({ key, phase: 'prepare' });
        done.push(await perform(next));
      }
      wake();
    }
  };
  const working = Promise.all(Array.from({ length: concurrency }, work));
  for (let told = 0; told < requests.length; told++) {
    if (done.length === 0)
      await Promise.race([
        new Promise<void>((resolve) => {
          wake = resolve;
        }),
        working.then(() => new Promise(() => {})), // its failure is heard here
      ]);
    const report = done.shift();
    if (report !== undefined) yield report;
  }
  await working;
}
