import { EFFECTS, type Power } from '../events/power.ts';
import type { LoopPlan } from './plan.ts';
import { FUTILITY, type GateRule } from './rules.ts';
import { signTestLeast } from './stats.ts';

/** One selection task as the seed has met it. */
export type PowerTask = {
  /** Passes among its scored outcomes; those that stand in `banked` are counted too. */
  readonly passes: number;
  readonly scored: number;
  /** What the gate's first blocks compare with: known already, null = unscored. Later blocks are rolled fresh. */
  readonly banked: readonly (0 | 1 | null)[];
};

/** Chances of one pair: only the draft passes, only the incumbent does. */
export type PairChance = { readonly win: number; readonly loss: number };

/** Chances below this are left out; all of them together stay far below what is told. */
const NOTHING = 1e-8;
/** Share of a single outcome's variance that is noise, as long as no task has two outcomes; and how many tasks that is worth. */
const NOISE = 0.5;
const NOISE_WEIGHT = 4;
const MOST_NOISE = 0.98;
/** More tasks are not worked out: it would take too long, and so many see gains of a few points. */
const MOST_TASKS = 200;
/** A pooled pass rate is never taken to be nearer to 0 or 1. */
const LEAST_RATE = 0.001;
/** Chances that name the smallest effect found. */
const HALF = 0.5;
const LIKELY = 0.8;
/** An effect of so many points that is mostly missed makes a pack underpowered. */
const LARGE = 20;

/**
 * What one gate by `rule` can tell on these tasks, with the seed as the incumbent.
 *
 * The seed's chance p of passing a task has a beta prior around the pooled pass rate, so a task's outcomes give a beta
 * posterior (beta-binomial model). How strong the prior is follows from how much the outcomes of one task differ among
 * themselves: the method of moments (Kleinman 1973, Proportions with extraneous variance). With one outcome a task that
 * can't be seen, and half of the variance is taken for noise. A draft worth d points turns each failing run into a
 * passing one with chance φ = d / (1 − mean p): q = p + φ(1 − p), so tasks that fail often gain most, and nothing is lost.
 *
 * The first gate compares with outcomes that are known, so these are taken as they are; later blocks are averaged over
 * the posterior, each by itself. Pairs are taken as independent, and every rollout as scored. Up to there everything is
 * exact: the counts of wins and losses of a block are a sum of independent pairs (Poisson trinomial, by convolution),
 * followed through the blocks with the rule's own limits. Curtailment changes no decision and has no part in it.
 */
export function gatePower(tasks: readonly PowerTask[], rule: GateRule, metric: LoopPlan['gate']['metric']): Power {
  if (metric !== 'hard')
    return { kind: 'untold', why: `with metric ${metric} it depends on how far scores move, which nobody knows yet` };
  const scored = tasks.filter((t) => t.scored > 0).length;
  if (scored === 0) return { kind: 'untold', why: 'no outcome of the seed on selection was scored' };
  if (tasks.length > MOST_TASKS)
    return { kind: 'untold', why: `selection has more than ${MOST_TASKS} tasks; so many find gains of a few points` };
  const { chance, most } = chances(tasks, rule);
  const steps = [...EFFECTS.filter((points) => points < most), most];
  // more points are never found less often
  const least = (wanted: number): number | null => {
    const reached = steps.findIndex((points) => points > 0 && rounded(chance(points)) >= wanted);
    if (reached === -1) return null;
    let low = (steps[reached - 1] ?? 0) + 1;
    let high = steps[reached] ?? most;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (rounded(chance(middle)) >= wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    kind: 'told',
    rule: rule.name,
    tasks: tasks.length,
    scored,
    noise: tasks.some((t) => t.scored > 1) ? 'measured' : 'assumed',
    neutral: rounded(chance(0)),
    effects: EFFECTS.map((points) => ({ points, chance: points > most ? null : rounded(chance(points)) })),
    half: least(HALF),
    likely: least(LIKELY),
    // as it is told: the last digits of a sine are not the same on all machines, and a decision hangs on this
    underpowered: rounded(chance(Math.min(LARGE, most))) < HALF,
  };
}

/** Chance that a draft worth so many points is kept, and the most points that there is room for. */
function chances(
  tasks: readonly PowerTask[],
  rule: GateRule,
): { readonly chance: (points: number) => number; readonly most: number } {
  const views = believe(tasks);
  const limits = limitsOf(rule, tasks.length * rule.blocks);
  const known = new Map<number, number>();
  const chance = (points: number): number => {
    let now = known.get(points);
    if (now === undefined) {
      now = meanOf(views, (view) => {
        const gain = Math.min(1, points / 100 / view.room);
        return acceptance(limits, blocksOf(tasks, view.tasks, rule.blocks, gain));
      });
      known.set(points, now);
    }
    return now;
  };
  return { chance, most: Math.floor(100 * meanOf(views, (view) => view.room) + 1e-9) };
}

/**
 * How many tasks like these one gate by `rule` would need to find a gain of 20 points with a chance of 0.8: the given
 * ones over and over, in steps of a quarter of them. Null = 200 are too few, or there is no room for so much.
 */
export function enoughTasks(tasks: readonly PowerTask[], rule: GateRule): number | null {
  const step = Math.max(1, Math.ceil(tasks.length / 4));
  for (let n = tasks.length + step; n <= MOST_TASKS; n += step) {
    const { chance, most } = chances(Array.from({ length: n }, (_, i) => tasks[i % tasks.length]) as PowerTask[], rule);
    if (most < LARGE) return null;
    if (chance(LARGE) >= LIKELY) return n;
  }
  return null;
}

/** Would most gates by `rule` miss even large gains over a seed that fails some of the tasks? `cells` = one outcome a task. */
export function missesLargeGains(
  cells: readonly ({ readonly hard: 0 | 1 } | null)[],
  rule: GateRule,
  metric: LoopPlan['gate']['metric'],
): boolean {
  if (!cells.some((cell) => cell?.hard === 0)) return false; // that there is no room is another matter
  const tasks = cells.map((cell) => ({
    passes: cell?.hard ?? 0,
    scored: cell === null ? 0 : 1,
    banked: [cell?.hard ?? null],
  }));
  const power = gatePower(tasks, rule, metric);
  return power.kind === 'told' && power.underpowered;
}

/** Chance that a candidate is accepted whose pairs, block by block, come out with these chances. */
export function acceptanceChance(rule: GateRule, blocks: readonly (readonly PairChance[])[]): number {
  const pairs = blocks.reduce((sum, b) => sum + b.length, 0);
  return acceptance(limitsOf(rule, pairs), blocks);
}

function meanOf<T>(list: readonly T[], value: (item: T) => number): number {
  return list.reduce((sum, item) => sum + value(item), 0) / list.length;
}

const rounded = (chance: number): number => Math.round(chance * 1000) / 1000;

// -- what is believed of a task ----------------------------------------------------------------------------------------

/** Means over the posterior of p: of p itself, and of p(1 − p). */
type Belief = { readonly pass: number; readonly noise: number };

/** What is believed when the pass rate of tasks like these is known; `room` = 1 − mean of p. */
type View = { readonly room: number; readonly tasks: readonly Belief[] };

/**
 * Two views, as likely as each other: the pass rate one standard deviation below and above what was seen. Between them
 * lies the luck of the seed's outcomes (Gauss-Hermite quadrature of two nodes, on the angle asin √rate, whose variance
 * is 1 / 4n whatever the rate).
 */
function believe(tasks: readonly PowerTask[]): readonly View[] {
  const passes = tasks.reduce((sum, t) => sum + t.passes, 0);
  const scored = tasks.reduce((sum, t) => sum + t.scored, 0);
  // Jeffreys: neither all passed nor all failed is taken for certain
  const mean = (passes + 0.5) / (scored + 1);
  const several = tasks.filter((t) => t.scored > 1);
  // k(n − k) / (n(n − 1)) has the mean p(1 − p), whatever p is
  const within = several.reduce((sum, t) => sum + (t.passes * (t.scored - t.passes)) / (t.scored * (t.scored - 1)), 0);
  const noise = (NOISE * NOISE_WEIGHT + within / (mean * (1 - mean))) / (NOISE_WEIGHT + several.length);
  const share = Math.min(MOST_NOISE, noise);
  // single outcomes that would say as much of the mean
  const outcomes = tasks.reduce((sum, t) => sum + (t.scored > 0 ? 1 / (1 - share + share / t.scored) : 0), 0);
  const angle = Math.asin(Math.sqrt(mean));
  const deviation = 1 / (2 * Math.sqrt(outcomes + 1));
  return [-deviation, deviation].map((off) => {
    const rate = Math.min(1 - LEAST_RATE, Math.max(LEAST_RATE, Math.sin(angle + off) ** 2));
    const beliefs = tasks.map((t) => posterior(t, rate, share));
    return { room: 1 - meanOf(beliefs, (b) => b.pass), tasks: beliefs };
  });
}

/** Beta prior of mean `rate` that leaves the share `noise` of an outcome's variance to the outcome: noise = s / (s + 1). */
function posterior(t: PowerTask, rate: number, noise: number): Belief {
  const strength = noise / (1 - noise);
  const a = strength * rate + t.passes;
  const b = strength * (1 - rate) + t.scored - t.passes;
  return { pass: a / (a + b), noise: (a * b) / ((a + b) * (a + b + 1)) };
}

function blocksOf(
  tasks: readonly PowerTask[],
  beliefs: readonly Belief[],
  blocks: number,
  gain: number,
): readonly (readonly PairChance[])[] {
  const pairsOf = (block: number) =>
    tasks.flatMap((task, i): PairChance[] => {
      const { pass, noise } = beliefs[i] ?? { pass: 0, noise: 0 };
      const after = pass + gain * (1 - pass);
      if (block >= task.banked.length)
        // E[q(1 − p)] and E[p(1 − q)] with q = p + gain(1 − p)
        return [{ win: noise + gain * (1 - pass - noise), loss: (1 - gain) * noise }];
      const before = task.banked[block];
      if (before === 1) return [{ win: 0, loss: 1 - after }];
      return before === 0 ? [{ win: after, loss: 0 }] : [];
    });
  // blocks that are fresh for every task are alike, and counted once
  const known = Math.max(0, ...tasks.map((t) => t.banked.length));
  const fresh = known < blocks ? pairsOf(known) : [];
  return Array.from({ length: blocks }, (_, block) => (block < known ? pairsOf(block) : fresh));
}

// -- the gate ----------------------------------------------------------------------------------------------------------

/** Fewest wins by the number of discordant pairs, for each of the rule's levels. */
type Limits = {
  readonly blocks: number;
  readonly alpha: readonly number[];
  readonly early: readonly number[];
  readonly futility: readonly number[];
};

function limitsOf(rule: GateRule, pairs: number): Limits {
  const at = (level: number) => signTestLeast(pairs, level);
  return { blocks: rule.blocks, alpha: at(rule.alpha), early: at(rule.early), futility: at(FUTILITY) };
}

/** Chances of (wins, losses), a row of `width` for each number of wins. */
type Counts = { readonly rows: number; readonly width: number; readonly chances: Float64Array };

function acceptance(limits: Limits, blocks: readonly (readonly PairChance[])[]): number {
  const counted = new Map<readonly PairChance[], Counts>();
  let accepted = 0;
  let open: Counts = { rows: 1, width: 1, chances: Float64Array.of(1) };
  for (const [at, pairs] of blocks.entries()) {
    const last = at === limits.blocks - 1;
    const added = counted.get(pairs) ?? countsOf(pairs);
    counted.set(pairs, added);
    const now = sum(open, added);
    for (let i = 0; i < now.chances.length; i++) {
      const chance = now.chances[i] ?? 0;
      if (chance === 0) continue;
      const losses = i % now.width;
      const wins = (i - losses) / now.width;
      const reaches = (least: readonly number[]) => wins > losses && wins >= (least[wins + losses] ?? Infinity);
      if (reaches(last ? limits.alpha : limits.early)) accepted += chance;
      else if (!last && reaches(limits.futility)) continue;
      now.chances[i] = 0;
    }
    open = now;
  }
  return Math.min(1, accepted);
}

/** Wins and losses of independent pairs, one pair added after the other. */
function countsOf(pairs: readonly PairChance[]): Counts {
  const rows = mostOf(pairs.map((p) => p.win)) + 1;
  const width = mostOf(pairs.map((p) => p.loss)) + 1;
  const chances = new Float64Array(rows * width);
  chances[0] = 1;
  for (const [at, { win, loss }] of pairs.entries()) {
    const none = 1 - win - loss;
    for (let w = Math.min(at + 1, rows - 1); w >= 0; w--)
      for (let l = Math.min(at + 1 - w, width - 1); l >= 0; l--) {
        const i = w * width + l;
        const won = w > 0 ? (chances[i - width] ?? 0) * win : 0;
        const lost = l > 0 ? (chances[i - 1] ?? 0) * loss : 0;
        chances[i] = (chances[i] ?? 0) * none + won + lost;
      }
  }
  return { rows, width, chances };
}

/** So many of independent events come about at most, but for a chance of about `NOTHING` (Bernstein's inequality). */
function mostOf(chances: readonly number[]): number {
  const mean = chances.reduce((sum, c) => sum + c, 0);
  const variance = chances.reduce((sum, c) => sum + c * (1 - c), 0);
  const third = -Math.log(NOTHING) / 3;
  return Math.min(chances.length, Math.ceil(mean + third + Math.sqrt(third * third + 6 * third * variance)));
}

/** Counts of two independent parts together. */
function sum(a: Counts, b: Counts): Counts {
  const [rows, width] = [a.rows + b.rows - 1, a.width + b.width - 1];
  const chances = new Float64Array(rows * width);
  const [left, right] = [placed(a, width), placed(b, width)];
  for (let x = 0; x < left.many; x++)
    for (let y = 0; y < right.many; y++) {
      // places add up: neither wins nor losses go beyond their rows
      const i = (left.at[x] ?? 0) + (right.at[y] ?? 0);
      chances[i] = (chances[i] ?? 0) + (left.chance[x] ?? 0) * (right.chance[y] ?? 0);
    }
  return { rows, width, chances };
}

/** The counts that are worth following, by their place in rows of another width. */
function placed(counts: Counts, width: number) {
  const at = new Int32Array(counts.chances.length);
  const chance = new Float64Array(counts.chances.length);
  let many = 0;
  for (let i = 0; i < counts.chances.length; i++) {
    const now = counts.chances[i] ?? 0;
    if (now <= NOTHING) continue;
    const losses = i % counts.width;
    at[many] = ((i - losses) / counts.width) * width + losses;
    chance[many++] = now;
  }
  return { many, at, chance };
}
