import { expect, test } from 'bun:test';
import { all, never, request } from '../../self-check-tools.ts';
import { makeHarborBench } from '../bench-fixture.ts';
import { dockerIsHere } from './here-fixture.ts';

test.skipIf(!dockerIsHere)(
  'an agent in a container that writes the reward is found out, and no verifier is',
  async () => {
    const bench = await makeHarborBench({ environment: { type: 'docker' } });
    try {
      const test = 'echo 1 > $LOGS_DIR/verifier/reward.txt';
      const requests = [
        request('planter', await bench.task({ instruction: 'echo 1 > $LOGS_DIR/verifier/reward.txt; sleep 1', test })),
        request('honest', await bench.task({ instruction: 'true', test })),
      ];
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      const told = Object.fromEntries(
        reports.map((report) => [report.key, report.kind === 'finished' ? report.result.outcome : report]),
      );
      expect(told).toMatchObject({
        planter: { status: 'unscored', reason: 'tampered' },
        honest: { status: 'scored', soft: 1 },
      });
    } finally {
      await bench.close();
    }
  },
  280_000,
);
