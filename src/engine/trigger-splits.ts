import { fail } from '../ports/failure.ts';
import { type SplitName, splitNames, type TaskRef } from '../ports/task.ts';
import { makeSplits, type SplitLimit, type Splits, splitsByRatio, type WantedSplits } from './splits.ts';

/** A task that may say whether the skill is meant for it. */
export type TriggerRef = TaskRef & { readonly shouldTrigger?: boolean | undefined };

const MOST_NAMED = 8;

/**
 * Splits for a session that optimizes the description: `makeSplits`, with both kinds of tasks in every split, those for
 * which the skill is meant and those for which it is not. With a ratio each kind is drawn by itself with the same seed.
 *
 * Throws `splits` beside what `makeSplits` throws: for tasks that don't say, for a split that one kind would be missing
 * in (there the description that triggers always, or never, would be the best), and for one prompt with both answers.
 */
export function makeTriggerSplits(
  tasks: readonly TriggerRef[],
  wanted: WantedSplits,
  seed: string,
  limit: SplitLimit | null = null,
): Splits {
  const named = 'ratio' in wanted ? null : new Set(splitNames.flatMap((name) => wanted[name]));
  const used = tasks.filter((task) => named === null || named.has(task.id));
  requireSaid(used);
  requireOneMind(used);
  const kinds = { yes: used.filter((t) => t.shouldTrigger === true), no: used.filter((t) => !t.shouldTrigger) };
  const meant = new Set(kinds.yes.map((t) => t.id));
  const ofKinds = limit && { ...limit, kindOf: (task: TaskRef) => `${meant.has(task.id)}` };
  if (!('ratio' in wanted)) {
    const splits = makeSplits(tasks, wanted, seed, ofKinds);
    for (const name of splitNames) requireBoth(splits[name], kinds.yes, name);
    return splits;
  }
  requireEnough(kinds.yes, true);
  requireEnough(kinds.no, false);
  const { ratio } = wanted;
  return splitsByRatio([kinds.yes, kinds.no], ratio, seed, 1, ofKinds);
}

function requireSaid(tasks: readonly TriggerRef[]): void {
  const silent = tasks.filter((t) => t.shouldTrigger === undefined).map((t) => t.id);
  if (silent.length === 0) return;
  throw fail(
    'splits',
    `${silent.length === 1 ? '1 task does' : `${silent.length} tasks do`} not say whether the skill is meant for ${silent.length === 1 ? 'it' : 'them'}: ${some(silent)}`,
    'the pack',
    'add "should_trigger": true or false to each, or name only tasks that have it under "splits"',
  );
}

function requireOneMind(tasks: readonly TriggerRef[]): void {
  const first = new Map<string, TriggerRef>();
  for (const task of tasks) {
    const other = first.get(task.instructionHash);
    if (other !== undefined && other.shouldTrigger !== task.shouldTrigger)
      throw fail(
        'splits',
        `${other.id} and ${task.id} ask the same, and the skill is said to be meant for only one of them`,
        'the pack',
        'make their should_trigger the same, or take one out',
      );
    first.set(task.instructionHash, other ?? task);
  }
}

const kindText = (kind: boolean): string => `"should_trigger": ${kind}`;
const bestWithout = (kind: boolean): string =>
  `the description that triggers ${kind ? 'never' : 'always'} would be the best one`;

/** One of each kind in each split is the least. */
function requireEnough(ofKind: readonly TriggerRef[], kind: boolean): void {
  const least = splitNames.length;
  if (ofKind.length >= least) return;
  const have = ofKind.length === 0 ? 'no task' : ofKind.length === 1 ? 'only 1 task' : `only ${ofKind.length} tasks`;
  throw fail(
    'splits',
    `${have} with ${kindText(kind)}: without any in a split ${bestWithout(kind)} there`,
    'the pack',
    `add ${least - ofKind.length} or more prompts with ${kindText(kind)}: at least one for each of the ${least} splits, some for each are useful`,
  );
}

function requireBoth(split: readonly TaskRef[], yes: readonly TaskRef[], name: SplitName): void {
  const meant = new Set(yes.map((t) => t.id));
  const missing = [true, false].find((kind) => !split.some((t) => meant.has(t.id) === kind));
  if (missing === undefined) return;
  throw fail(
    'splits',
    `${name} has no task with ${kindText(missing)}: ${bestWithout(missing)} there`,
    `splits.${name}`,
    'give each split tasks of both kinds, or start a session of its own with "splits": {"ratio": …}',
  );
}

function some(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
