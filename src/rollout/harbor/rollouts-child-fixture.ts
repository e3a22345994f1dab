import type { RolloutRequest } from '../../ports/rollouts.ts';
import { never } from '../self-check-tools.ts';
import { HarborRollouts } from './harbor-rollouts.ts';
import type { HarborOptions } from './options.ts';

/** What a process of its own is to perform; a line `KEY PHASE` or `KEY report KIND` tells what comes. */
export type ChildWork = {
  readonly options: HarborOptions;
  readonly requests: readonly Omit<RolloutRequest, 'signal'>[];
};

if (import.meta.main) {
  const { options, requests } = (await Bun.file(process.argv[2] ?? '').json()) as ChildWork;
  const backend = new HarborRollouts(options);
  const reports = backend.performRollouts(
    requests.map((request) => ({ ...request, signal: never() })),
    { signal: never(), onProgress: ({ key, phase }) => console.log(`${key} ${phase}`) },
  );
  for await (const report of reports) console.log(`${report.key} report ${report.kind}`);
}
