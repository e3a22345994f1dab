import { readFileSync } from 'node:fs';
import { sessionPaths } from '../../session/paths.ts';

type Line = {
  readonly type: string;
  readonly at: string;
  readonly key?: string;
  readonly rollouts?: number;
  readonly consumed?: readonly string[];
};

/** How the workers of a search were used, by the stamps of its log. */
export type Use = {
  /** Rollouts that decisions consumed, and that were started in all. */
  readonly consumed: number;
  readonly started: number;
  /** From the first start of a rollout to the end of the search. */
  readonly wallMs: number;
  /** Phases that were laid out as a whole: sweeps, gates, confirmation. `waves` = the fewest that their rollouts need. */
  readonly inPhases: { readonly waves: number; readonly wallMs: number };
};

const phases = new Set(['evaluation.finished', 'gate.decided', 'confirmation.finished']);

/**
 * Reads it from a session's directory. A phase goes from the first start of a rollout that its decision consumed to the
 * finish of the last one; what finished before the phase (run-ahead) is not counted in it.
 */
export function workDone(dir: string, workers: number): Use {
  const lines = readFileSync(sessionPaths(dir).log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const begun = new Map<string, number>();
  const ended = new Map<string, number>();
  let consumed = 0;
  let [first, last] = [Number.NaN, Number.NaN];
  const inPhases = { waves: 0, wallMs: 0 };
  for (const line of lines) {
    const at = Date.parse(line.at);
    if (line.type === 'rollout.started' && line.key !== undefined) {
      begun.set(line.key, at);
      if (Number.isNaN(first)) first = at;
    }
    if (line.type === 'rollout.finished' && line.key !== undefined) ended.set(line.key, at);
    if (line.type === 'session.ended') last = at;
    const rollouts = (line.consumed ?? []).filter((key) => ended.has(key));
    consumed += rollouts.length;
    if (!phases.has(line.type) || rollouts.length < 2) continue;
    inPhases.waves += Math.ceil(rollouts.length / workers);
    const starts = rollouts.map((key) => begun.get(key) ?? at);
    const ends = rollouts.map((key) => ended.get(key) ?? at);
    inPhases.wallMs += Math.max(...ends) - Math.min(...starts);
  }
  return { consumed, started: begun.size, wallMs: last - first, inPhases };
}
