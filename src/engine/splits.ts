import { fail } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { type SplitName, splitNames, type TaskRef } from '../ports/task.ts';
import {
  allInTest,
  byText,
  count,
  emptySplit,
  minSplitTasks,
  requireDistinct,
  requireKnown,
  requireOneList,
  requireOwnInstructions,
  requireUniqueContent,
  sizeWarnings,
  some,
} from './split-rules.ts';

/** The parts of the tasks that each split gets; only their proportion counts. */
export type SplitRatio = Readonly<Record<SplitName, number>>;

/** How tasks are to be split: by proportion, or named one by one. */
export type WantedSplits = { readonly ratio: SplitRatio } | Readonly<Record<SplitName, readonly string[]>>;

/** The three splits, each in the order of its tasks' content hashes. `warnings` are sentences for people. */
export type Splits = Readonly<Record<SplitName, readonly TaskRef[]>> & { readonly warnings: readonly string[] };

const whyTwo =
  'with one task a single lucky rollout (1–0) would decide, so a paired gate needs at least two tasks in each split';

/**
 * Splits tasks by content. The same contents and the same seed give the same splits, whatever the tasks are called and
 * in whichever order they come. Tasks with the same instruction stay together, so that what is learned on one split
 * is never asked for again in another. With a ratio the sizes follow the largest remainder, at least two tasks each;
 * the seed decides which task goes where. Lists are taken as they are. Of a split with more than `limit` tasks the seed
 * draws so many; a higher limit draws the same ones and others.
 *
 * Throws `splits` for whatever could not be measured: too few tasks in all or in a split, a split of nothing,
 * impossible ratios, lists that overlap by name, content or instruction, unknown names, one content under two names.
 */
export function makeSplits(
  tasks: readonly TaskRef[],
  wanted: WantedSplits,
  seed: string,
  limit: SplitLimit | null = null,
): Splits {
  requireDistinct(tasks.map((task) => task.id));
  if (tasks.length < minSplitTasks * splitNames.length) {
    throw fail(
      'splits',
      `${count(tasks.length)} in all, and three splits need at least ${minSplitTasks * splitNames.length}: ${whyTwo}`,
      'the pack',
      `add ${count(minSplitTasks * splitNames.length - tasks.length)} to the pack`,
    );
  }
  const whole = 'ratio' in wanted ? byRatio(tasks, wanted.ratio, seed) : byLists(tasks, wanted);
  return finished(whole, limit, seed);
}

/**
 * Splits by a ratio of which every stratum of tasks has its part, at least `least` tasks in each split. The caller sees
 * to it that each stratum has that many. Throws as `makeSplits` does.
 */
export function splitsByRatio(
  strata: readonly (readonly TaskRef[])[],
  ratio: SplitRatio,
  seed: string,
  least: number,
  limit: SplitLimit | null = null,
): Splits {
  requireDistinct(strata.flat().map((task) => task.id));
  requireUniqueContent(strata.flat());
  const drawn = strata.map((tasks) => byRatio(tasks, ratio, seed, least));
  const all = (name: SplitName) => inOrder(drawn.flatMap((parts) => parts[name]));
  const warnings = [...new Set(drawn.flatMap((parts) => parts.warnings))];
  return finished({ train: all('train'), selection: all('selection'), test: all('test'), warnings }, limit, seed);
}

/** How many tasks of a split are drawn at most; at least one of each kind is, where there are several. */
export type SplitLimit = { readonly most: number; readonly kindOf?: (task: TaskRef) => string };

/** The splits in their order and within their limit, with what is odd about their sizes. */
function finished(whole: Parts, limit: SplitLimit | null, seed: string): Splits {
  const splits = limit === null ? whole : limited(whole, limit, seed);
  return {
    train: inOrder(splits.train),
    selection: inOrder(splits.selection),
    test: inOrder(splits.test),
    warnings: [...splits.warnings, ...sizeWarnings(splits)],
  };
}

/** At most so many tasks of each split, at least two; kinds in the shares that they had. */
function limited(parts: Parts, { most: wanted, kindOf = () => '' }: SplitLimit, seed: string): Parts {
  const most = Math.max(minSplitTasks, wanted);
  const rank = (task: TaskRef) => sha256(JSON.stringify(['task-limit@1', seed, task.hash]));
  const drawn = (name: SplitName) =>
    [...Map.groupBy(parts[name], kindOf).values()]
      .flatMap((kind) =>
        kind
          .map((task) => ({ task, rank: rank(task) }))
          .toSorted((a, b) => byText(a.rank, b.rank))
          .map((one, at) => ({ ...one, share: at === 0 ? 0 : (at + 0.5) / kind.length })),
      )
      .toSorted((a, b) => a.share - b.share || byText(a.rank, b.rank))
      .slice(0, most)
      .map(({ task }) => task);
  const cut = { train: drawn('train'), selection: drawn('selection'), test: drawn('test') };
  const left = splitNames.reduce((sum, name) => sum + parts[name].length - cut[name].length, 0);
  if (left === 0) return parts;
  return {
    ...cut,
    warnings: [
      ...parts.warnings,
      `${count(left)} of the splits ${left === 1 ? 'is' : 'are'} not used: at most ${most} of each split, as taskLimit says`,
    ],
  };
}

type Parts = Readonly<Record<SplitName, readonly TaskRef[]>> & { readonly warnings: readonly string[] };
type Group = { readonly key: string; readonly tasks: readonly TaskRef[] };

// By ratio.

function byRatio(tasks: readonly TaskRef[], ratio: SplitRatio, seed: string, least = minSplitTasks): Parts {
  requireRatio(ratio);
  requireUniqueContent(tasks);
  const targets = splitSizes(tasks.length, ratio, least);
  const parts: Record<SplitName, Group[]> = { train: [], selection: [], test: [] };
  for (const group of seededGroups(tasks, seed)) {
    const emptiest = splitNames.reduce((best, name) =>
      targets[name] - size(parts[name]) > targets[best] - size(parts[best]) ? name : best,
    );
    parts[emptiest].push(group);
  }
  for (const name of splitNames) fillUp(parts, name, least);
  const short = splitNames.find((name) => size(parts[name]) < least);
  if (short !== undefined) {
    throw fail(
      'splits',
      `too many tasks share an instruction: they have to stay in one split, which leaves fewer than ${count(least)} for ${short}`,
      'the pack',
      'give the tasks instructions of their own, or add others',
    );
  }
  const moved = splitNames.some((name) => size(parts[name]) !== targets[name]);
  return {
    train: parts.train.flatMap((group) => group.tasks),
    selection: parts.selection.flatMap((group) => group.tasks),
    test: parts.test.flatMap((group) => group.tasks),
    warnings: moved
      ? [
          `tasks with the same instruction are kept in one split, so the sizes are ${splitNames.map((name) => size(parts[name])).join(' / ')} and not ${splitNames.map((name) => targets[name]).join(' / ')}`,
        ]
      : [],
  };
}

function requireRatio(ratio: SplitRatio): void {
  for (const name of splitNames) {
    const part = ratio[name];
    if (!Number.isFinite(part) || part < 0) {
      throw fail('splits', `a part of ${part} is no proportion`, `splits.ratio.${name}`, 'give a number above 0');
    }
  }
  if (ratio.train === 0 && ratio.selection === 0 && ratio.test > 0) throw allInTest('splits.ratio');
  const none = splitNames.find((name) => ratio[name] === 0);
  if (none !== undefined) throw emptySplit(none, `splits.ratio.${none}`);
}

/**
 * Sizes by the largest remainder (ties: train, selection, test), then at least two (or `least`) each, taken from the
 * split that has the most to give. Needs that many for each split, and parts above 0.
 */
export function splitSizes(
  total: number,
  ratio: SplitRatio,
  least = minSplitTasks,
): Readonly<Record<SplitName, number>> {
  const largest = Math.max(...splitNames.map((name) => ratio[name]));
  const sum = splitNames.reduce((part, name) => part + ratio[name] / largest, 0);
  const quota = (name: SplitName) => (total * (ratio[name] / largest)) / sum;
  const sizes = { train: 0, selection: 0, test: 0 };
  for (const name of splitNames) sizes[name] = Math.floor(quota(name));
  const remainders = splitNames.toSorted((a, b) => quota(b) - sizes[b] - (quota(a) - sizes[a]));
  for (let left = total - (sizes.train + sizes.selection + sizes.test), next = 0; left > 0; left--, next++) {
    sizes[remainders[next % remainders.length]!]++;
  }
  for (const name of splitNames) {
    while (sizes[name] < least) {
      const giver = splitNames.reduce((best, other) => (sizes[other] > sizes[best] ? other : best));
      sizes[giver]--;
      sizes[name]++;
    }
  }
  return sizes;
}

/** Tasks with one instruction as one group: larger groups first, equals in an order that the seed and their content alone decide. */
function seededGroups(tasks: readonly TaskRef[], seed: string): readonly Group[] {
  const byInstruction = Map.groupBy(tasks, (task) => task.instructionHash);
  return [...byInstruction.values()]
    .map((members): Group => {
      const sorted = inOrder(members);
      return { key: sha256(JSON.stringify(['splits@1', seed, sorted.map((task) => task.hash)])), tasks: sorted };
    })
    .toSorted((a, b) => b.tasks.length - a.tasks.length || byText(a.key, b.key));
}

/** Moves small groups from the largest splits until the split has its two tasks, if that is possible. */
function fillUp(parts: Record<SplitName, Group[]>, name: SplitName, least: number): void {
  while (size(parts[name]) < least) {
    const offers = splitNames
      .filter((other) => other !== name)
      .flatMap((other) =>
        parts[other].map((group) => ({ other, group, left: size(parts[other]) - group.tasks.length })),
      )
      .filter((offer) => offer.left >= least)
      .toSorted(
        (a, b) => a.group.tasks.length - b.group.tasks.length || b.left - a.left || byText(a.group.key, b.group.key),
      );
    const best = offers[0];
    if (best === undefined) return;
    parts[best.other] = parts[best.other].filter((group) => group !== best.group);
    parts[name].push(best.group);
  }
}

// By lists.

function byLists(tasks: readonly TaskRef[], lists: Readonly<Record<SplitName, readonly string[]>>): Parts {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  requireKnown(lists, byId);
  requireOneList(lists);
  const pick = (name: SplitName) => lists[name].map((id) => byId.get(id)!);
  const parts = { train: pick('train'), selection: pick('selection'), test: pick('test') };
  requireUniqueContent(splitNames.flatMap((name) => parts[name]));
  requireOwnInstructions(parts);
  if (parts.train.length === 0 && parts.selection.length === 0 && parts.test.length > 0) throw allInTest('splits.test');
  for (const name of splitNames) {
    const found = parts[name].length;
    if (found === 0) throw emptySplit(name, `splits.${name}`);
    if (found < minSplitTasks) {
      throw fail(
        'splits',
        `${name} has ${count(found)}: ${whyTwo}`,
        `splits.${name}`,
        `name at least ${minSplitTasks} tasks for ${name}`,
      );
    }
  }
  const named = new Set(splitNames.flatMap((name) => lists[name]));
  const unused = tasks.map((task) => task.id).filter((id) => !named.has(id));
  return {
    ...parts,
    warnings:
      unused.length === 0
        ? []
        : [`${count(unused.length)} of the pack stand in no split and are not used: ${some(unused.toSorted(byText))}`],
  };
}

function inOrder(tasks: readonly TaskRef[]): readonly TaskRef[] {
  return tasks.toSorted((a, b) => byText(a.hash, b.hash));
}

function size(groups: readonly Group[]): number {
  return groups.reduce((sum, group) => sum + group.tasks.length, 0);
}
