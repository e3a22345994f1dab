import { fail } from '../ports/failure.ts';
import { type SplitName, splitNames, type TaskRef } from '../ports/task.ts';

/** Fewest tasks of a split. */
export const minSplitTasks = 2;
/** Below this many tasks a split is used, with a warning. */
export const goodSplitTasks = 8;

/** Throws `splits` for a list that names a task which the pack does not have. */
export function requireKnown(
  lists: Readonly<Record<SplitName, readonly string[]>>,
  byId: ReadonlyMap<string, TaskRef>,
): void {
  for (const name of splitNames) {
    const unknown = lists[name].filter((id) => !byId.has(id));
    if (unknown.length > 0) {
      throw fail(
        'splits',
        `the pack has no task called ${some(unknown)}`,
        `splits.${name}`,
        `name tasks of the pack: ${some([...byId.keys()].toSorted(byText))}`,
      );
    }
  }
}

/** Throws `splits` for a task that is named twice. */
export function requireOneList(lists: Readonly<Record<SplitName, readonly string[]>>): void {
  const home = new Map<string, SplitName>();
  for (const name of splitNames) {
    for (const id of lists[name]) {
      const other = home.get(id);
      if (other === name) {
        throw fail('splits', `${id} is named twice in ${name}`, `splits.${name}`, 'name it once');
      }
      if (other !== undefined) {
        throw fail(
          'splits',
          `${id} stands in ${other} and in ${name}: what was learned from a task can not be measured on it`,
          `splits.${name}`,
          `take ${id} out of one of the two`,
        );
      }
      home.set(id, name);
    }
  }
}

/** Throws `splits` for two splits that hold the same instruction. */
export function requireOwnInstructions(parts: Readonly<Record<SplitName, readonly TaskRef[]>>): void {
  const home = new Map<string, { readonly name: SplitName; readonly id: string }>();
  for (const name of splitNames) {
    for (const task of parts[name]) {
      const other = home.get(task.instructionHash);
      if (other !== undefined && other.name !== name) {
        throw fail(
          'splits',
          `${other.id} in ${other.name} and ${task.id} in ${name} have the same instruction: what was learned from one would be measured on the other`,
          `splits.${name}`,
          `put ${other.id} and ${task.id} into one split`,
        );
      }
      home.set(task.instructionHash, other ?? { name, id: task.id });
    }
  }
}

/** Throws `splits` for two tasks of one name. */
export function requireDistinct(ids: readonly string[]): void {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw fail('splits', `two tasks are called ${twice}`, 'the pack', 'rename one of them');
}

/** Throws `splits` for one content under two names. */
export function requireUniqueContent(tasks: readonly TaskRef[]): void {
  const seen = new Map<string, string>();
  for (const task of tasks) {
    const twin = seen.get(task.hash);
    if (twin !== undefined) {
      throw fail(
        'splits',
        `${twin} and ${task.id} are the same task, file by file: it would be counted twice, or trained on and tested`,
        'the pack',
        `remove ${twin} or ${task.id}`,
      );
    }
    seen.set(task.hash, task.id);
  }
}

/** The failure of splits that leave nothing to search with. */
export function allInTest(where: string) {
  return fail(
    'splits',
    'all tasks are in test: train is needed to find edits, and selection to choose among them',
    where,
    'give train and selection tasks of their own',
  );
}

/** The failure of a split without tasks. */
export function emptySplit(name: SplitName, where: string) {
  const why: Readonly<Record<SplitName, string>> = {
    train: 'no edit could be found',
    selection: 'no edit could be measured',
    test: 'no gain could be shown on tasks that had no part in finding it',
  };
  return fail('splits', `${name} would be empty: ${why[name]}`, where, `give ${name} at least ${minSplitTasks} tasks`);
}

/** The figures are those of one `balanced` gate on 8 tasks with little noise, measured by simulation. */
export function sizeWarnings(parts: Readonly<Record<SplitName, readonly TaskRef[]>>): readonly string[] {
  const selection = parts.selection.length;
  const test = parts.test.length;
  const warnings: string[] = [];
  if (selection < goodSplitTasks) {
    warnings.push(
      `selection has only ${count(selection)}: even with ${goodSplitTasks} tasks and little noise one balanced gate sees a true gain of 20 points in 85 % of cases and one of 10 points in 50 %, and with fewer it sees less`,
    );
  }
  if (test < goodSplitTasks) {
    warnings.push(
      `test has only ${count(test)}: one task more or less moves its score by ${Math.round(100 / test)} points, so only a large gain can be shown on it`,
    );
  }
  return warnings;
}

/** Order of two texts by their code units: the same on every machine. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `1 task`, `2 tasks` */
export function count(tasks: number): string {
  return tasks === 1 ? '1 task' : `${tasks} tasks`;
}

/** At most eight names, and how many more there are. */
export function some(names: readonly string[]): string {
  return names.length <= 8 ? names.join(', ') : `${names.slice(0, 8).join(', ')} and ${names.length - 8} more`;
}
