import { checkConfig } from '../config/load.ts';
import { Journal, readText } from '../journal/journal.ts';
import { shortHash } from '../ports/hash.ts';
import type { Task, TaskRef } from '../ports/task.ts';
import { bounds } from './effective-config.ts';
import { type ForkLog, type ForkOptions, forkLog } from './fork-log.ts';
import { type Parent, placeOf, readParent } from './fork-parent.ts';

/** A log in memory as the parent of a fork. */
export function parentOf(log: string): Parent {
  return readParent(Journal.memory(log).read(), 'skillopt.jsonl', '.');
}

export type ForkPlay = {
  readonly at?: number;
  readonly differsAt?: number;
  /** Other values for some keys of the parent's config. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly tasks?: (tasks: readonly TaskRef[]) => readonly TaskRef[];
  readonly skillText?: string;
  readonly versions?: ForkOptions['versions'];
};

/** Forks a log in memory. */
export async function fork(log: string, o: ForkPlay = {}): Promise<ForkLog> {
  const parent = parentOf(log);
  const { created } = parent;
  const config = checkConfig({ ...created.config, ...o.config }, 'test');
  const tasks = (o.tasks ?? ((all) => all))(created.pack.tasks);
  return forkLog({
    parent,
    place: placeOf(parent, o.at ?? null, o.differsAt ?? null, 'skillopt.jsonl'),
    differsAt: o.differsAt ?? null,
    session: 'child',
    program: 'test',
    now: () => '2000-01-02T00:00:00.000Z',
    config,
    file: bounds(config),
    skill: { ...created.skill, text: o.skillText ?? created.skill.text },
    pack: {
      name: created.pack.name,
      dir: '/nowhere',
      hash: o.tasks ? shortHash(JSON.stringify(tasks)) : created.pack.hash,
      tasks: tasks as readonly Task[],
    },
    versions: o.versions ?? (async () => ({})),
    notes: [],
  });
}

/** The bodies of a log's decisions, in order. */
export function decisionsOf(log: string): string[] {
  return readText(log).lines.flatMap((l) => ('consumed' in l.event ? [l.body] : []));
}

/** Keys of the effects of a log. */
export function effectKeys(log: string): ReadonlySet<string> {
  return new Set(
    readText(log).lines.flatMap(({ event }) =>
      event.type === 'rollout.finished' || event.type === 'reflection.finished' ? [event.key] : [],
    ),
  );
}
