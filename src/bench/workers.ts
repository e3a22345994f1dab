import { join } from 'node:path';
import { baselineMs } from './baseline.ts';
import { type Figure, median } from './figure.ts';
import { inScratch, plainEnvironment } from './scratch.ts';
import { layOutSlowSession, type SlowSession } from './slow-pack.ts';

const workers = 8;
const longSec = 2;
const longTasks = 24;
const shortSec = 0.2;
const shortTasks = 16;
const shortRuns = 3;

/** Eight workers against one on the same rollouts, both measured whole. */
export async function speedUpFigure(binary: string): Promise<Figure> {
  return inScratch(async (folder) => {
    const run = (name: string, n: number) =>
      baselineMs(binary, layOutSlowSession(join(folder, name), longSec, longTasks), n, folder);
    const many = [await run('many-1', workers)];
    const oneMs = await run('one', 1);
    many.push(await run('many-2', workers));
    const manyMs = median(many);
    return {
      name: 'workers',
      what: `1 worker against ${workers} on ${longTasks} rollouts that sleep ${longSec} s`,
      value: oneMs / manyMs,
      unit: '×',
      target: { atLeast: 7.8 },
      n: 1,
      measured: { oneMs, eightMs: manyMs },
      note: `eight workers before and after the one: ${many.join(' and ')} ms`,
    };
  });
}

/** What the pool with one worker costs beside a shell loop that does the same. */
export async function poolFigure(binary: string): Promise<Figure> {
  return inScratch(async (folder) => {
    const pool: number[] = [];
    const shell: number[] = [];
    for (let run = 0; run < shortRuns; run++) {
      const session = layOutSlowSession(join(folder, `run-${run}`), shortSec, shortTasks);
      shell.push(shellLoopMs(session, join(folder, `shell-${run}`), folder));
      pool.push(await baselineMs(binary, session, 1, folder));
    }
    const [poolMs, shellMs] = [median(pool), median(shell)];
    return {
      name: 'pool',
      what: `the pool with 1 worker against a shell loop, on ${shortTasks} rollouts that sleep ${shortSec * 1000} ms`,
      value: poolMs / shellMs,
      unit: '×',
      target: { atMost: 1.1 },
      n: shortRuns,
      measured: { poolMs, shellMs },
      note: '',
    };
  });
}

function shellLoopMs(session: SlowSession, place: string, folder: string): number {
  const script = join(import.meta.dir, 'shell-loop.sh');
  const startedAt = performance.now();
  const end = Bun.spawnSync(['bash', script, place, session.skill, String(shortSec), ...session.selection], {
    env: plainEnvironment(folder),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const ms = performance.now() - startedAt;
  const passed = end.stdout
    .toString()
    .trim()
    .split('\n')
    .filter((reward) => reward === '1').length;
  if (passed !== session.selection.length) throw new Error(`the shell loop passed ${passed} tasks: ${end.stderr}`);
  return ms;
}
