import { printableName } from '../ports/printable.ts';
import type { ProposalRequest, ShownRollout } from '../ports/proposals.ts';
import type { Trajectory } from '../ports/trajectory.ts';
import { rolloutText } from './rollout-text.ts';

/** Passing rollouts that can be looked at: more would not be read. */
const MOST_PASSES = 20;

/** A rollout that can be read: its task's name is its id. */
export type Readable = {
  readonly id: string;
  readonly fails: boolean;
  /** Is the skill meant for the task? null = the task does not say. */
  readonly shouldTrigger: boolean | null;
  readonly instruction: string;
  /** What the agent did; null when it is no longer at hand. */
  readonly trajectory: () => Trajectory | null;
  /** The same as lines; empty when it is no longer at hand. */
  readonly lines: () => readonly string[];
};

/** The rollouts of a request, failing ones first, in the order in which they are to be shown. */
export function readables(request: ProposalRequest): readonly Readable[] {
  const passes = request.passes.slice(0, MOST_PASSES);
  return [
    ...request.failing.map((f) => readable(f, true, () => f.trajectory)),
    ...passes.map((p) => readable(p, false, p.read)),
  ];
}

function readable(
  { task, instruction, shouldTrigger = null }: Omit<ShownRollout, 'trajectory'>,
  fails: boolean,
  read: () => Trajectory,
): Readable {
  const trajectory = once(() => {
    try {
      return read();
    } catch {
      return null; // the user removed it: what is left is enough
    }
  });
  const lines = once(() => {
    const known = trajectory();
    return known === null ? [] : rolloutText(known, instruction).split('\n');
  });
  return { id: printableName(task), fails, shouldTrigger, instruction, trajectory, lines };
}

function once<T>(work: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => {
    known ??= { value: work() };
    return known.value;
  };
}
