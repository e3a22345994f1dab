import type { ProcessEnd } from '../process/process-end.ts';

type Variables = Readonly<Record<string, string>>;

/** The PATH that a task sets itself, as it stands there, by the last that sets one; null = it takes the host's. */
export function taskPath(...envs: readonly Variables[]): string | null {
  return envs.findLast((env) => env.PATH !== undefined)?.PATH ?? null;
}

/**
 * Why a program of a rollout could not be started, for people. A PATH of the task's own (see `taskPath`) is named: it
 * may hide what the host has.
 */
export function whyNotStarted(program: string, end: ProcessEnd, ownPath: string | null): string {
  const setByTask = ownPath === null ? '' : `; the task sets PATH to ${ownPath}`;
  return `${program} could not be started: ${end.detail}${setByTask}`;
}
