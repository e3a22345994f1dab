import { mkdirSync, writeFileSync } from 'node:fs';
import type { RolloutReport } from '../ports/rollouts.ts';
import { sessionPaths } from '../session/paths.ts';
import { play } from '../session/session-fixture.ts';
import { unit } from './rulebook-world.ts';

/** Large enough that the search goes on until we end it. */
const world = { seed: 3, rules: 60, train: 60, selection: 60, test: 40, pHi: 0.75, pLo: 0.35, infra: 0.01 };
const budget = 100_000;
/** The defaults of the config. */
const search = { draftSize: 8, dryRounds: 12, memory: true };

class Enough extends Error {}

/**
 * The first `events` lines of a session over the simulated world, by the real engine, pool (8 workers) and journal with
 * the config's defaults; the same ones at each call. The skill grows as in a real session, to some hundred lines.
 */
export async function growLog(events: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const beforeWrite = (line: string) => {
    if (lines.length === events) throw new Enough();
    lines.push(line);
  };
  const now = () => new Date(Date.UTC(2026, 0, 1) + 700 * lines.length).toISOString();
  try {
    await play({ world, budget, search, workers: 8, now, beforeWrite, meddle: paid });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  if (lines.length < events) throw new Error(`the session ended after ${lines.length} events, before ${events}`);
  return lines;
}

/** What the world leaves open: a real agent's usage, time and version stand in every outcome. */
function paid(report: RolloutReport): RolloutReport {
  if (report.kind !== 'finished') return report;
  const draw = unit('paid', report.key);
  const usage = {
    inputTokens: Math.round(4000 + 60_000 * draw),
    outputTokens: Math.round(300 + 4000 * draw),
    costUsd: Math.round(1e5 * draw) / 1e6,
    requests: 1 + Math.round(12 * draw),
  };
  const { result } = report;
  return {
    ...report,
    result: { ...result, usage, durationMs: Math.round(4000 + 90_000 * draw), versions: { agent: '2.1.14' } },
  };
}

/** Makes a session directory that holds the log, without the trajectories beside it. */
export function layOut(folder: string, lines: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(sessionPaths(folder).log, lines.map((line) => `${line}\n`).join(''));
}
