import type { MountedSkill, RolloutReport, RolloutRequest } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';

/** One thing that every backend does. `check` throws when it does not. */
export type SelfCheck = { readonly name: string; readonly check: () => Promise<void> };

type Bench = { leftovers(): Promise<readonly string[]>; close(): Promise<void> };

/** A check by its name and what it does with a bench of its own, on which nothing may be left behind. */
export function selfCheck<B extends Bench>(
  make: () => Promise<B>,
): (name: string, body: (bench: B) => Promise<void>) => SelfCheck {
  return (name, body) => ({ name, check: () => onBench(make, body) });
}

/**
 * Checks that look at different sides of the same work: it is done once, on one bench, when the first of them is run.
 * What it left behind fails them all.
 */
export function sharedChecks<B extends Bench, T>(
  make: () => Promise<B>,
  work: (bench: B) => Promise<T>,
): (name: string, body: (found: T) => void) => SelfCheck {
  let found: Promise<T> | null = null;
  return (name, body) => ({
    name,
    check: async () => {
      found ??= onBench(make, work);
      body(await found);
    },
  });
}

/** Makes a bench, works on it, and sees that nothing is left on it. */
async function onBench<B extends Bench, T>(make: () => Promise<B>, work: (bench: B) => Promise<T>): Promise<T> {
  const bench = await make();
  try {
    const done = await work(bench);
    const left = await bench.leftovers();
    demand(left.length === 0, `left behind: ${left.join(', ')}`);
    return done;
  } finally {
    await bench.close();
  }
}

/** 1 or 0 of a scored rollout, else null. */
export function scoreOf(report: RolloutReport): number | null {
  return report.kind === 'finished' && report.result.outcome.status === 'scored' ? report.result.outcome.hard : null;
}

/** A request for the first attempt. */
export function request(key: string, task: Task, skill: MountedSkill | null = null, signal = never()): RolloutRequest {
  return { key, task, skill, attempt: 0, try: 0, signal };
}

/** A signal that nobody gives. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** Everything that comes. */
export async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Throws the problem unless the condition holds. */
export function demand(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}

/** Throws when the two are not the same as JSON. */
export function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)];
  demand(left === right, `got ${left}, wanted ${right}`);
}
