import { shortHash } from '../../ports/hash.ts';
import type { MountedSkill, RolloutRequest } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';

/** One skill under test in one draw: an entry of `agents` in a job. */
export type Entry = {
  /** Stands in the trial's environment, and so in its result: with the task's path it names one rollout. */
  readonly id: string;
  /** Null: the no-skill arm. */
  readonly skill: MountedSkill | null;
};

/** One Harbor job: each of its entries on each of its tasks, once. */
export type Job = {
  readonly entries: readonly Entry[];
  readonly tasks: readonly FolderTask[];
  /** The tasks give their agent no limit of their own. */
  readonly untimed: boolean;
  /** The request of one cell, by `cellOf`. */
  readonly requests: ReadonlyMap<string, RolloutRequest<FolderTask>>;
};

/** What stands for one trial of a job: the path that the task has in the config, and the entry. */
export function cellOf(taskPath: string, entry: string): string {
  return `${entry} ${taskPath}`;
}

/**
 * Requests as jobs. A job is a rectangle, as Harbor runs every entry on every task: tasks that are wanted for the same
 * entries share one, so that a gate or a sealed test is one job with its arms interleaved task by task. Draws of one skill
 * are entries of their own: Harbor does not number attempts, and which of two trials came first would decide which counts
 * for which attempt. Tasks with and without a limit of time are parted, as the limit is the entry's.
 */
export function jobsOf(requests: readonly RolloutRequest<FolderTask>[], sessionId: string): readonly Job[] {
  const entries = new Map<string, Entry>();
  const wanted = new Map<FolderTask['dir'], Map<string, RolloutRequest<FolderTask>>>();
  for (const request of requests) {
    const ofTask = wanted.get(request.task.dir) ?? new Map<string, RolloutRequest<FolderTask>>();
    wanted.set(request.task.dir, ofTask);
    let entry = entryFor(request, sessionId, 0);
    for (let again = 1; ofTask.has(entry.id); again++) entry = entryFor(request, sessionId, again);
    entries.set(entry.id, entries.get(entry.id) ?? entry);
    ofTask.set(entry.id, request);
  }
  const groups = new Map<string, Map<string, RolloutRequest<FolderTask>>[]>();
  for (const ofTask of wanted.values()) {
    const [first] = ofTask.values();
    const like = JSON.stringify([first?.task.agentTimeoutSec === null, [...ofTask.keys()].sort()]);
    groups.set(like, [...(groups.get(like) ?? []), ofTask]);
  }
  return [...groups.values()].map((group) => {
    const cells = group.flatMap((ofTask) => [...ofTask]);
    const ids = new Set(cells.map(([id]) => id));
    const requests = cells.map(([id, request]) => [cellOf(request.task.dir, id), request] as const);
    return {
      entries: [...entries.values()].filter(({ id }) => ids.has(id)),
      tasks: group.flatMap((ofTask) => [...ofTask.values()].slice(0, 1).map(({ task }) => task)),
      untimed: cells[0]?.[1].task.agentTimeoutSec === null,
      requests: new Map(requests),
    };
  });
}

/** Opaque, so that an agent learns nothing of what it is measured for. `again` parts requests that are alike. */
function entryFor(
  { skill, attempt, try: nth }: Pick<RolloutRequest, 'skill' | 'attempt' | 'try'>,
  sessionId: string,
  again: number,
): Entry {
  const what = skill === null ? null : [skill.hash, skill.name, skill.bundleDir];
  return { id: `${sessionId}/${shortHash(JSON.stringify([sessionId, what, attempt, nth, again]))}`, skill };
}
