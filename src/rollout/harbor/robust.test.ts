import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RolloutReport } from '../../ports/rollouts.ts';
import { findMarked } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import { all, never, request, scoreOf } from '../self-check-tools.ts';
import { type HarborBench, harborIsHere, makeHarborBench } from './bench-fixture.ts';
import { cleanHarbor } from './end-harbor.ts';
import { JobsPlace } from './job-folder.ts';

const pass = 'echo 1 > /logs/verifier/reward.txt';

async function onBench(name: string, body: (bench: HarborBench) => Promise<void>): Promise<void> {
  const bench = await makeHarborBench({}, name);
  try {
    await body(bench);
    expect(await bench.leftovers()).toEqual([]);
  } finally {
    await bench.close();
  }
}

/** What comes of a task whose agent works until `then` has been done to its job. */
async function disturbed(bench: HarborBench, then: (job: string) => Promise<void>): Promise<RolloutReport> {
  const task = await bench.task({ instruction: 'sleep 300', test: pass });
  let works: () => void = () => {};
  const working = new Promise<void>((resolve) => {
    works = resolve;
  });
  const running = all(
    bench.backend.performRollouts([request('a', task)], {
      signal: never(),
      onProgress: ({ phase }) => phase === 'agent' && works(),
    }),
  );
  await working;
  await then(join(bench.options.dir, 'jobs', readdirSync(join(bench.options.dir, 'jobs'))[0] ?? ''));
  const [report] = await running;
  return report!;
}

const harborsOf = ({ options }: HarborBench) =>
  findMarked({ name: markName, match: 'prefix', value: `${options.sessionId}/harbor/` });

(harborIsHere ? describe : describe.skip)('Harbor where things are not as usual', () => {
  test('a place with spaces and letters of other alphabets is as good as any', () =>
    onBench('größe 汉字 ’s-', async (bench) => {
      const skill = await bench.skill('---\nname: s\n---\nbody\n', { 'a b/ü.txt': 'x' });
      const task = await bench.task({ instruction: 'cat "$SKILL_FILE"; echo READ', test: pass });
      const reports = await all(bench.backend.performRollouts([request('a', task, skill)], { signal: never() }));
      expect(reports.map(scoreOf)).toEqual([1]);
    }));

  test('Harbor that is killed from outside is no outcome: it is told as down, to be tried again', () =>
    onBench('killed-', async (bench) => {
      const report = await disturbed(bench, async () => {
        for (const { pid } of await harborsOf(bench)) process.kill(pid, 'SIGKILL');
      });
      expect(report).toMatchObject({ kind: 'failed', failure: { code: 'environment-down', retryable: true } });
      // what a killed environment leaves of its folders in the system's temporary one is not Harbor's to find
      for (const name of readdirSync(join(bench.folder, 'tmp')))
        rmSync(join(bench.folder, 'tmp', name), { recursive: true });
    }));

  test('Harbor that is asked to end by somebody else is no outcome either', () =>
    onBench('asked-', async (bench) => {
      const report = await disturbed(bench, async () => {
        for (const { pid } of await harborsOf(bench)) process.kill(pid, 'SIGINT');
      });
      expect(report).toMatchObject({ kind: 'failed', failure: { code: 'environment-down', retryable: true } });
    }));

  test('a job’s folder that is removed while it runs is told, and leaves nothing', () =>
    onBench('removed-', async (bench) => {
      const report = await disturbed(bench, async (job) => {
        rmSync(job, { recursive: true });
        for (const { pid } of await harborsOf(bench)) process.kill(pid, 'SIGINT');
      });
      expect(report).toMatchObject({ kind: 'failed', failure: { code: 'environment-down', retryable: true } });
    }));

  test('a program that is gone in the middle of a session is told with what installs it', () =>
    onBench('gone-', async (bench) => {
      await bench.backend.versions();
      const gone = await makeHarborBench({ program: join(bench.folder, 'no-harbor') });
      const task = await gone.task({ instruction: ':', test: pass });
      const [report] = await all(gone.backend.performRollouts([request('a', task)], { signal: never() }));
      expect(report).toMatchObject({
        kind: 'failed',
        failure: { code: 'preflight', fix: 'install it: `uv tool install harbor`' },
      });
      await gone.close();
    }));

  test('files of a job go when all is scored, and stay to be read for a while when not; clean takes them', () =>
    onBench('kept-', async (bench) => {
      const jobs = join(bench.options.dir, 'jobs');
      const good = await bench.task({ instruction: ':', test: pass });
      const bad = await bench.task({ instruction: ':', test: ':' });
      await all(bench.backend.performRollouts([request('a', good)], { signal: never() }));
      expect(readdirSync(jobs)).toEqual([]);
      const [report] = await all(bench.backend.performRollouts([request('b', bad)], { signal: never() }));
      const [kept] = readdirSync(jobs);
      const notes = report?.kind === 'finished' ? (report.result.trajectory?.steps ?? []) : [];
      expect(JSON.stringify(notes.at(-1))).toContain(join(jobs, kept ?? '?'));
      const { sessionId, dir, hostEnv } = bench.options;
      expect(await cleanHarbor({ sessionId, dir, hostEnv, onDocker: false })).toEqual(['folders of 1 Harbor jobs']);
      expect(existsSync(dir)).toBe(false);
    }));

  test('a hundred trials in one job are read while this process does next to nothing', () =>
    onBench('hundred-', async (bench) => {
      const tasks = await Promise.all(Array.from({ length: 100 }, () => bench.task({ instruction: ':', test: pass })));
      const reports = await all(
        bench.backend.performRollouts(
          tasks.map((task) => request(task.id, task)),
          { signal: never() },
        ),
      );
      expect(reports.map(scoreOf)).toEqual(tasks.map(() => 1));
    }));
});

describe('folders of jobs', () => {
  test('those that nobody has to read any more go, the oldest first; open ones never', async () => {
    const bench = await makeHarborBench();
    const place = new JobsPlace(bench.options.dir);
    const open = Array.from({ length: 12 }, (_, at) => `open-${at}`);
    for (const job of open) {
      await place.begin({ job, keys: {} });
      mkdirSync(place.folderOf(job));
    }
    for (let at = 0; at < 15; at++) {
      await place.begin({ job: `job-${at}`, keys: {} });
      mkdirSync(place.folderOf(`job-${at}`));
      await place.close(`job-${at}`, true);
    }
    const left = readdirSync(place.jobs);
    expect(left.filter((name) => name.startsWith('open-')).sort()).toEqual([...open].sort());
    expect(left).toHaveLength(22);
    await bench.close();
  });

  test('a plan under another name, or that is not whole, is none', async () => {
    const bench = await makeHarborBench();
    const place = new JobsPlace(bench.options.dir);
    await place.begin({ job: 'mine', keys: { cell: 'key' } });
    writeFileSync(join(bench.options.dir, 'plans', 'other.json'), JSON.stringify({ job: 'mine', keys: {} }));
    writeFileSync(join(bench.options.dir, 'plans', 'torn.json'), '{"job":"torn",');
    expect(await place.plans()).toEqual([{ job: 'mine', keys: { cell: 'key' } }]);
    await bench.close();
  });
});
