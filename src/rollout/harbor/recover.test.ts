import { describe, expect, test } from 'bun:test';
import type { RolloutProgress, RolloutReport } from '../../ports/rollouts.ts';
import { all, never, request } from '../self-check-tools.ts';
import { harborIsHere, makeHarborBench } from './bench-fixture.ts';
import { HarborRollouts } from './harbor-rollouts.ts';

const passes = { instruction: ':', test: 'echo 1 > /logs/verifier/reward.txt' };
const endless = { instruction: 'sleep 300', test: 'echo 1 > /logs/verifier/reward.txt' };
const known = (report: RolloutReport) => [report.key, report.kind, 'begun' in report ? report.begun : true];

(harborIsHere ? describe : describe.skip)('a job that ends before its queue is empty', () => {
  test('tells which of its rollouts had begun', async () => {
    const bench = await makeHarborBench();
    try {
      const stop = new AbortController();
      const requests = await Promise.all(['a', 'b', 'c'].map(async (key) => request(key, await bench.task(endless))));
      const reports = await all(
        bench.backend.performRollouts(requests, {
          signal: stop.signal,
          concurrency: 1,
          onProgress: ({ phase }) => phase === 'agent' && stop.abort(),
        }),
      );
      const begun = reports.map(known).filter(([, , is]) => is);
      expect(reports.map(({ kind }) => kind)).toEqual(['cancelled', 'cancelled', 'cancelled']);
      expect(begun).toHaveLength(1);
    } finally {
      await bench.close();
    }
  }, 120_000);

  test.each([true, false])(
    'is known to the next process by what it finished and what never began (swept before: %p)',
    async (swept) => {
      const bench = await makeHarborBench();
      try {
        const requests = [
          request('first', await bench.task(passes)),
          request('second', await bench.task(endless)),
          request('third', await bench.task(passes)),
        ];
        const next = new HarborRollouts(bench.options);
        const keys = ['first', 'second', 'third', 'other'];
        let recovered: Awaited<ReturnType<HarborRollouts['recover']>> | null = null;
        const reports: RolloutReport[] = [];
        const atWork = Promise.withResolvers<void>();
        const options = {
          signal: never(),
          concurrency: 1,
          onProgress: ({ key, phase }: RolloutProgress) =>
            key === 'second' && phase === 'agent' ? atWork.resolve() : undefined,
        };
        for await (const report of bench.backend.performRollouts(requests, options)) {
          reports.push(report);
          if (report.key !== 'first') continue;
          await atWork.promise;
          if (swept) await next.sweep(); // it ends the job, as after a kill
          recovered = await next.recover(keys);
        }
        expect(recovered!.finished).toEqual(['first']);
        expect(recovered!.notBegun).toEqual(['third']);
        expect(reports.map(known)).toEqual([
          ['first', 'finished', true],
          ['second', 'failed', true],
          ['third', 'failed', false],
        ]);
        const [again] = await all(next.performRollouts(requests.slice(0, 1), { signal: AbortSignal.abort() }));
        expect(again).toEqual(reports[0]!);
        expect(await bench.leftovers()).toEqual([]);
      } finally {
        await bench.close();
      }
    },
    120_000,
  );
});
