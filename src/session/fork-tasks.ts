import type { EventOf } from '../events/events.ts';
import type { Fork } from '../events/shapes.ts';
import { fail } from '../ports/failure.ts';
import { type SplitName, splitNames, type TaskRef } from '../ports/task.ts';
import { keptSplits } from './first-lines.ts';

/** What has become of the parent's tasks. Ids are those of now, where there is one. */
export type TaskChanges = {
  /** Other content under the same name: the split stays, the rollouts are of another task. */
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  readonly added: readonly string[];
  /** The same content under another name. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** Parent's id → id of now, for every task whose content is the same. */
  readonly same: ReadonlyMap<string, string>;
};

/** Compares the tasks of a parent with those that its fork begins with: by content first, then by name. */
export function taskChanges(before: readonly TaskRef[], now: readonly TaskRef[]): TaskChanges {
  const byName = new Map(before.map((t) => [t.id, t]));
  const untouched = new Set(now.filter((t) => byName.get(t.id)?.hash === t.hash).map((t) => t.id));
  const same = new Map([...untouched].map((id) => [id, id]));
  const moved = new Map(before.filter((t) => !untouched.has(t.id)).map((t) => [t.hash, t.id]));
  for (const t of now) {
    const from = untouched.has(t.id) ? undefined : moved.get(t.hash);
    if (from !== undefined && !same.has(from)) same.set(from, t.id);
  }
  const taken = new Set(same.values());
  const others = now.filter((t) => !taken.has(t.id)).map((t) => t.id);
  const changed = others.filter((id) => byName.has(id) && !same.has(id));
  return {
    changed,
    gone: before.map((t) => t.id).filter((id) => !same.has(id) && !changed.includes(id)),
    added: others.filter((id) => !changed.includes(id)),
    renamed: [...same].filter(([from, to]) => from !== to).map(([from, to]) => ({ from, to })),
    same,
  };
}

/** The tasks of the parent's splits, and those in none, under the names that they have now. */
export function inheritedSplits(
  parent: { readonly created: EventOf<'session.created'>; readonly splits: EventOf<'splits.fixed'> },
  { same, gone, added }: TaskChanges,
): Pick<Fork, 'splits' | 'unused'> {
  const taken = new Set([...same.values(), ...added]);
  /** A name that is gone stays on record, unless another task bears it now. */
  const nameNow = (id: string) => (gone.includes(id) && taken.has(id) ? [] : [same.get(id) ?? id]);
  const ids = (name: SplitName) => parent.splits[name].flatMap((t) => nameNow(t.id));
  const splits = { train: ids('train'), selection: ids('selection'), test: ids('test') };
  const used = new Set(splitNames.flatMap((name) => splits[name]));
  return { splits, unused: parent.created.pack.tasks.flatMap((t) => nameNow(t.id)).filter((id) => !used.has(id)) };
}

/** A split that is left with less than two tasks can't be measured on. Throws `splits`. */
export function refuseEmptied(kept: Pick<Fork, 'splits' | 'unused'>, tasks: readonly TaskRef[], pack: string): void {
  const left = keptSplits(kept, tasks);
  const here = new Set(tasks.map((t) => t.id));
  for (const name of splitNames) {
    if (left[name].length >= 2) continue;
    const gone = kept.splits[name].filter((id) => !here.has(id));
    throw fail(
      'splits',
      `${name} would be left with ${left[name].length === 1 ? '1 task' : 'no task'}: ${gone.join(', ')} ${gone.length === 1 ? 'is' : 'are'} gone`,
      pack,
      `put back what is gone from ${name}, or start a new session with splits of its own`,
    );
  }
}
