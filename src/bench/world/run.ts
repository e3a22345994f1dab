import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inScratch, outputOf, plainEnvironment } from '../scratch.ts';
import type { Cell, Run } from './cells.ts';
import { layOutWorld } from './lay-out.ts';
import { makeWorld, type WorldServer, type WorldStats } from './server.ts';

export type Setting = {
  /** Name of the row. */
  readonly who: string;
  readonly memory: boolean;
  readonly rule: 'balanced' | 'bold' | 'careful' | 'skillopt';
};

export type WorldRun = Run & {
  /** What the program says of itself. */
  readonly planned: number;
  readonly steps: number;
  readonly accepted: number;
  readonly calls: number;
  readonly cause: string;
  readonly wallMs: number;
  readonly stats: WorldStats;
};

export type RunOptions = {
  readonly infra: number;
  readonly seed: number;
  readonly workers: number;
  readonly latencyMs?: number;
};

/**
 * One run of the built binary on one world: a prompt pack on the chat backend, an optimizer behind an OpenAI-compatible
 * URL, no sealed test. The binary knows nothing of the world; its shipped skill is judged by the world's truth.
 */
export async function runOnWorld(
  binary: string,
  server: WorldServer,
  cell: Cell,
  setting: Setting,
  o: RunOptions,
): Promise<WorldRun> {
  const { infra, seed, workers } = o;
  const latency = o.latencyMs === undefined ? {} : { latency_ms: o.latencyMs };
  const world = await makeWorld(server, { preset: cell.preset, seed, infra, ...latency });
  return inScratch(async (folder) => {
    const dir = join(folder, 'session');
    layOutWorld(dir, world, {
      seed: String(seed),
      budget: { rollouts: cell.budget },
      gate: { rule: setting.rule, metric: 'hard' },
      search: { memory: setting.memory },
      workers,
    });
    const startedAt = performance.now();
    const out = await outputOf([binary, 'run', dir, '--yes', '--plain', '--json'], { env: plainEnvironment(folder) });
    const wallMs = performance.now() - startedAt;
    const report = JSON.parse(out) as Report;
    const shipped = readFileSync(join(dir, 'best_skill.md'), 'utf8');
    const [truth, stats] = [await world.truth(shipped), await world.stats()];
    await world.forget();
    if (stats.unreadable_optimizer_prompts > 0)
      throw new Error('the simulated optimizer could not read a prompt of ours');
    if (stats.rollouts.test > 0) throw new Error('a test task was rolled out before the sealed test');
    return {
      ...cell,
      who: setting.who,
      infra,
      seed,
      start: truth.seed,
      final: truth.test,
      best: truth.best,
      planned: report.planned,
      steps: report.steps,
      accepted: report.accepted,
      calls: report.optimizerCalls,
      cause: report.cause,
      wallMs,
      stats,
    };
  });
}

type Report = {
  readonly cause: string;
  readonly planned: number;
  readonly steps: number;
  readonly accepted: number;
  readonly optimizerCalls: number;
};
