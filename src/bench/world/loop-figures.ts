import { join } from 'node:path';
import { type Figure, median } from '../figure.ts';
import { inScratch, outputOf, plainEnvironment } from '../scratch.ts';
import { layOutWorld } from './lay-out.ts';
import { type Use, workDone } from './log-times.ts';
import { type MadeWorld, makeWorld, startWorldServer, type WorldServer } from './server.ts';

const latencyMs = 50;
const budget = 500;
const seeds = [9000, 9001, 9002];
const target = 'openai-compatible/target';

/** What the loop costs beside the model, and how it uses its workers, on the simulated world over HTTP. Needs python3. */
export function loopFigures(binary: string): Promise<readonly Figure[]> {
  // taken away at the end: file systems make new files slowly where many have just been removed
  return inScratch(async (folder) => {
    const server = await startWorldServer();
    try {
      const place = { binary, server, folder };
      const eight = await uses(place, 8);
      const four = await uses(place, 4);
      return [
        await costFigure(place),
        shareFigure('workers-8', eight, 8, 0.5),
        shareFigure('workers-4', four, 4, 0.75),
        phasesFigure(eight),
        vainFigure(eight),
        await sharedFigure(place),
      ];
    } finally {
      await server.stop();
    }
  });
}

/** What is measured, the server, and the folder in which the sessions lie. */
type Place = { readonly binary: string; readonly server: WorldServer; readonly folder: string };

/** One session of the binary on one world; the work is handed its directory when it has ended. */
async function session<T>(
  { binary, server, folder }: Place,
  o: { readonly seed: number; readonly workers: number; readonly latencyMs: number },
  work: (dir: string, world: MadeWorld) => Promise<T>,
): Promise<T> {
  const world = await makeWorld(server, { preset: 'large-low', seed: o.seed, latency_ms: o.latencyMs });
  const dir = join(folder, `${o.seed}-${o.workers}-${o.latencyMs}`);
  layOutWorld(dir, world, { budget: { rollouts: budget }, workers: o.workers, seed: String(o.seed) });
  await outputOf([binary, 'run', dir, '--yes', '--plain'], { env: plainEnvironment(folder) });
  const result = await work(dir, world);
  await world.forget();
  return result;
}

async function uses(place: Place, workers: number): Promise<readonly Use[]> {
  const list: Use[] = [];
  for (const seed of seeds)
    list.push(await session(place, { seed, workers, latencyMs }, async (dir) => workDone(dir, workers)));
  return list;
}

type Part = Pick<Use, 'consumed' | 'wallMs'>;

/** Share of the workers' time that rollouts consumed by decisions fill. */
const shareOf = ({ consumed, wallMs }: Part, workers: number) => (consumed * latencyMs) / workers / wallMs;

function shareFigure(name: string, list: readonly Use[], workers: number, atLeast: number): Figure {
  const all = { consumed: sumOf(list, (u) => u.consumed), wallMs: sumOf(list, (u) => u.wallMs) };
  return {
    name,
    what: `share of ${workers} workers that consumed rollouts fill, large-low ${budget}, ${latencyMs} ms a rollout`,
    value: shareOf(all, workers),
    unit: '×',
    target: { atLeast },
    n: list.length,
    measured: all,
    note: `by seed: ${list.map((u) => shareOf(u, workers).toFixed(2)).join(', ')}`,
  };
}

/** Sweeps, gates and confirmation, against the waves that their rollouts need at least: a last wave is seldom full. */
function phasesFigure(list: readonly Use[]): Figure {
  const idealMs = sumOf(list, (u) => u.inPhases.waves * latencyMs);
  const wallMs = sumOf(list, (u) => u.inPhases.wallMs);
  return {
    name: 'in-phases',
    what: 'fewest waves of 8 that sweeps, gates and confirmation need, of the time that they took',
    value: idealMs / wallMs,
    unit: '×',
    target: { atLeast: 0.9 },
    n: list.length,
    measured: { idealMs, wallMs },
    note: '',
  };
}

const sumOf = (list: readonly Use[], of: (u: Use) => number) => list.reduce((sum, u) => sum + of(u), 0);

function vainFigure(list: readonly Use[]): Figure {
  const [started, consumed] = [list.reduce((a, u) => a + u.started, 0), list.reduce((a, u) => a + u.consumed, 0)];
  return {
    name: 'in-vain',
    what: 'rollouts that were started and that no decision consumed, of all, with 8 workers',
    value: (100 * (started - consumed)) / started,
    unit: '%',
    target: { atMost: 10 },
    n: list.length,
    measured: { started, consumed },
    note: '',
  };
}

/** What the loop, log and files cost a rollout beside a bare client that sends the same requests, without latency. */
async function costFigure(place: Place): Promise<Figure> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (const seed of seeds) {
    const use = await session(place, { seed, workers: 1, latencyMs: 0 }, async (dir, world) => {
      const { wallMs, started } = workDone(dir, 1);
      const calls = Object.values((await world.stats()).optimizer_calls).reduce((a, b) => a + b, 0);
      return { wallMs, started, calls };
    });
    ours.push(use.wallMs / use.started);
    bare.push((await bareMs(place.server, seed, use.started + use.calls)) / use.started);
  }
  const [oursMs, bareClientMs] = [median(ours), median(bare)];
  return {
    name: 'own-cost',
    what: 'the loop with log and files, a rollout, over the official client alone with as many requests, 0 ms latency',
    value: oursMs - bareClientMs,
    unit: 'ms',
    target: { atMost: 0.5 },
    n: seeds.length,
    measured: { oursMs, bareClientMs },
    note: 'milliseconds of the wall clock with one worker, optimizer calls included on both sides',
  };
}

/** So many requests one after the other by the official client, as the chat backend sends them. */
async function bareMs(server: WorldServer, seed: number, requests: number): Promise<number> {
  const world = await makeWorld(server, { preset: 'large-low', seed });
  const command = [process.execPath, join(import.meta.dir, 'bare-client.ts'), world.models, String(requests)];
  const out = await outputOf(command, { stdin: new Blob([JSON.stringify(world.tasks)]) });
  await world.forget();
  return Number(out);
}

/** Four sessions in one process that share eight workers. */
async function sharedFigure({ server, folder }: Place): Promise<Figure> {
  const list = [...seeds, 9003];
  const dirs: string[] = [];
  for (const seed of list) {
    const world = await makeWorld(server, { preset: 'large-low', seed, latency_ms: latencyMs });
    const dir = join(folder, `${seed}-shared`);
    layOutWorld(dir, world, { budget: { rollouts: budget }, workers: 8, seed: String(seed) });
    dirs.push(dir);
  }
  const command = [process.execPath, join(import.meta.dir, 'shared-child.ts'), '8', ...dirs];
  const out = await outputOf(command, { env: plainEnvironment(folder) });
  // as long as all of them run, none is without work for lack of a partner
  const { consumed, wallMs } = JSON.parse(out) as Part;
  return {
    name: 'shared',
    what: `share of 8 workers that consumed rollouts of ${list.length} sessions fill until the first has ended (${target})`,
    value: shareOf({ consumed, wallMs }, 8),
    unit: '×',
    target: { atLeast: 0.9 },
    n: 1,
    measured: { consumed, wallMs },
    note: '',
  };
}
