import { expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMarked } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import { all, never, request, scoreOf } from '../self-check-tools.ts';
import { type HarborBench, leftOnDocker, makeHarborBench } from './bench-fixture.ts';
import { HarborRollouts } from './harbor-rollouts.ts';
import { type HarborOptions, isDocker } from './options.ts';
import type { ChildWork } from './rollouts-child-fixture.ts';

const pass = 'echo 1 > /logs/verifier/reward.txt';

/** All that a bench's trials left, or have at work. */
async function left(bench: HarborBench): Promise<readonly string[]> {
  return [...(await bench.leftovers()), ...(isDocker(bench.options.environment) ? await leftOnDocker(bench) : [])];
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Starts the requests in a process of their own, and hears what it tells. */
async function inAnotherProcess(bench: HarborBench, requests: ChildWork['requests']) {
  const work = join(bench.folder, 'work.json');
  writeFileSync(work, JSON.stringify({ options: bench.options, requests } satisfies ChildWork));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'rollouts-child-fixture.ts'), work], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let told = '';
  const heard = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) told += part;
  })();
  return { child, heard, told: () => told };
}

/** How rollouts end before their time, and what the next process makes of it: alike wherever Harbor runs them. */
export function endings(more: Partial<HarborOptions>): void {
  test.each([
    ['while the environment is made', { instruction: ':', test: pass, dockerfile: 'RUN sleep 300' }, 'prepare'],
    ['in the setup of the agent', { instruction: '# setup-sleeps', test: pass, dockerfile: '' }, 'prepare'],
    ['while the agent works', { instruction: 'sleep 300', test: pass, dockerfile: '' }, 'agent'],
    ['while the verifier works', { instruction: ':', test: `${pass}; sleep 300`, dockerfile: '' }, 'verifier'],
    ['when the verdict is there', { instruction: ':', test: pass, dockerfile: '' }, 'clean'],
  ] as const)('a stop %s leaves nothing', async (_, { dockerfile, ...files }, phase) => {
    const bench = await makeHarborBench(more);
    try {
      const task = await bench.task({
        ...files,
        dockerfile: `FROM debian:bookworm-slim\nWORKDIR /app\n${isDocker(bench.options.environment) ? dockerfile : ''}\n`,
      });
      const stop = new AbortController();
      let reached = false;
      const running = all(
        bench.backend.performRollouts([request('a', task), request('b', task)], {
          signal: stop.signal,
          onProgress: (progress) => {
            reached ||= progress.phase === phase;
          },
        }),
      );
      await until(() => reached);
      if (phase === 'prepare' && isDocker(bench.options.environment) && dockerfile === '')
        await until(async () => (await leftOnDocker(bench)).some((line) => line.startsWith('container')));
      stop.abort();
      const reports = await running;
      expect(reports.map(({ key }) => key).sort()).toEqual(['a', 'b']);
      expect(reports.filter(({ kind }) => kind === 'failed')).toEqual([]);
      expect(await left(bench)).toEqual([]);
    } finally {
      await bench.close();
    }
  });

  test.each([
    ['alone', false],
    ['with Harbor', true],
  ])(
    'after a kill of this program %s, what had finished is handed over, and the rest is run again',
    async (_, both) => {
      const bench = await makeHarborBench(more);
      const other = await makeHarborBench(more);
      try {
        const done = await bench.task({ instruction: ':', test: pass });
        const slow = await bench.task({ instruction: 'sleep 300', test: pass });
        const requests = [
          { ...request('done', done), task: done },
          { ...request('slow', slow), task: slow },
        ];
        const { child, told, heard } = await inAnotherProcess(bench, requests);
        const beside = all(
          other.backend.performRollouts(
            [request('beside', await other.task({ instruction: 'sleep 20', test: pass }))],
            {
              signal: never(),
            },
          ),
        );
        await until(() => told().includes('done report finished') && told().includes('slow agent'));
        const harbor = await findMarked({
          name: markName,
          match: 'prefix',
          value: `${bench.options.sessionId}/harbor/`,
        });
        expect(harbor.length).toBeGreaterThan(0);
        child.kill('SIGKILL');
        if (both) for (const { pid } of harbor) process.kill(pid, 'SIGKILL');
        await Promise.all([child.exited, heard]);

        const next = new HarborRollouts(bench.options);
        await next.sweep();
        expect(await findMarked({ name: markName, match: 'prefix', value: `${bench.options.sessionId}/` })).toEqual([]);
        if (isDocker(bench.options.environment)) expect(await leftOnDocker(bench)).toEqual([]);
        // it could not be run again
        rmSync(done.dir, { recursive: true });
        writeFileSync(join(slow.dir, 'instruction.md'), ':');
        const reports = await all(next.performRollouts(requests, { signal: never() }));
        expect(reports.map((report) => [report.key, scoreOf(report)]).sort()).toEqual([
          ['done', 1],
          ['slow', 1],
        ]);
        // a second process, other than the first, finds nothing any more
        expect(await new HarborRollouts(bench.options).sweep()).toEqual([]);
        // and the session beside it was left alone
        expect((await beside).map(scoreOf)).toEqual([1]);
      } finally {
        await bench.close();
        await other.close();
      }
    },
  );
}
