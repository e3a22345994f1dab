import { mkdirSync, writeFileSync } from 'node:fs';
import { sessionPaths } from '../session/paths.ts';
import { play } from '../session/session-fixture.ts';

/** Large enough that the search goes on until we end it. */
const world = { seed: 1, rules: 60, train: 60, selection: 60, test: 40, pHi: 0.75, pLo: 0.35 };
const budget = 100_000;

class Enough extends Error {}

/**
 * The first `events` lines of a session over the simulated world, by the real engine, pool (8 workers) and journal; the
 * same ones at each call. The skill grows as in a real session, to some hundred lines.
 */
export async function growLog(events: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const beforeWrite = (line: string) => {
    if (lines.length === events) throw new Enough();
    lines.push(line);
  };
  try {
    await play({ world, budget, workers: 8, beforeWrite });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  if (lines.length < events) throw new Error(`the session ended after ${lines.length} events, before ${events}`);
  return lines;
}

/** Makes a session directory that holds the log, without the trajectories beside it. */
export function layOut(folder: string, lines: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(sessionPaths(folder).log, lines.map((line) => `${line}\n`).join(''));
}
