import { MORE_TRIES } from './loop-facts.ts';
import { rolloutName } from './rollout-key.ts';
import type { Pending, Running, RunState } from './run-state.ts';

/** One attempt with the newest of its tries. */
export type Attempt = Pick<Pending, 'skill' | 'task' | 'line' | 'attempt'> & {
  /** 0…1; null = the last try ended unscored; undefined = no try has ended. */
  readonly score: number | null | undefined;
  readonly passed: boolean | null;
  /** No further try can follow. */
  readonly settled: boolean;
  /** ISO 8601 in UTC: since when a try is at work; null = none is. */
  readonly since: string | null;
};

/** True: no further try follows on this one. */
export function isLastTry(p: Pick<Pending, 'score' | 'try'>): boolean {
  return p.score !== null || p.try >= MORE_TRIES;
}

/** Attempts that are at work or wait for a decision, in the order of their numbers. */
export function attemptsOf(
  state: Pick<RunState, 'running' | 'pending'>,
  wanted: (r: Pick<Running, 'skill' | 'task' | 'line' | 'seq'>) => boolean,
): readonly Attempt[] {
  const ended = new Map<string, Pending>();
  const found = new Map<string, Attempt>();
  const id = (r: Pick<Running, 'skill' | 'task'>, attempt: number) => `${r.skill}/${r.task}/${attempt}`;
  for (const p of state.pending.values()) {
    if (!wanted(p)) continue;
    const before = ended.get(id(p, p.attempt));
    if (before === undefined || before.try < p.try) ended.set(id(p, p.attempt), p);
  }
  for (const [at, p] of ended) {
    const { skill, task, line, attempt, score, passed } = p;
    found.set(at, { skill, task, line, attempt, score, passed, settled: isLastTry(p), since: null });
  }
  for (const r of state.running.values()) {
    if (!wanted(r)) continue;
    const { attempt } = rolloutName(r.key);
    const before = found.get(id(r, attempt));
    const { skill, task, line, since } = r;
    found.set(id(r, attempt), {
      ...(before ?? { skill, task, line, attempt, score: undefined, passed: null }),
      settled: false,
      since,
    });
  }
  return [...found.values()].sort((a, b) => a.attempt - b.attempt);
}
