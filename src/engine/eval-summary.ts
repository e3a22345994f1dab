import { attemptsOf, pairAt } from '../events/eval-pairs.ts';
import type { EvalArmName, EvalRow } from '../events/eval-shapes.ts';
import type { ArmSummary, Comparison, EvalSummary, PassAt } from '../events/eval-summary.ts';
import { betaInterval, tQuantile } from './beta.ts';
import { signTestP } from './stats.ts';

const LEVEL = 0.95;

/** The figures of an eval, from its attempts alone. `silent` = tasks for which the skill is not meant. */
export function evalSummary(
  rows: readonly EvalRow[],
  arms: readonly EvalArmName[],
  o: { readonly attempts: number; readonly silent: ReadonlySet<string>; readonly opens: boolean },
): EvalSummary {
  const [first, ...others] = arms;
  return {
    arms: arms.map((arm) => armSummary(rows, arm, o)),
    comparisons: first === undefined ? [] : others.map((against) => comparison(rows, first, against)),
  };
}

/** Mean soft score of one arm at one task; null = none of its attempts is scored. */
function meanSoft(row: EvalRow, arm: EvalArmName): number | null {
  const scored = attemptsOf(row, arm).flatMap(({ soft }) => (soft === null ? [] : [soft]));
  return scored.length === 0 ? null : scored.reduce((a, b) => a + b, 0) / scored.length;
}

/** Passes and scored attempts of one arm at one task. */
function countOf(row: EvalRow, arm: EvalArmName): { readonly passed: number; readonly scored: number } {
  const scored = attemptsOf(row, arm).filter((a) => a.passed !== null);
  return { passed: scored.filter((a) => a.passed === true).length, scored: scored.length };
}

function armSummary(
  rows: readonly EvalRow[],
  arm: EvalArmName,
  o: { readonly attempts: number; readonly silent: ReadonlySet<string>; readonly opens: boolean },
): ArmSummary {
  const counts = rows.map((row) => countOf(row, arm)).filter((c) => c.scored > 0);
  const all = rows.flatMap((row) => attemptsOf(row, arm));
  const told = all.filter((a) => a.read !== null);
  const softs = rows.flatMap((row) => meanSoft(row, arm) ?? []);
  const silent = rows.filter((row) => o.silent.has(row.task)).flatMap((row) => attemptsOf(row, arm));
  const silentTold = o.opens ? silent.filter((a) => a.read !== null) : [];
  const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  return {
    arm,
    passed: sum(counts.map((c) => c.passed)),
    scored: sum(counts.map((c) => c.scored)),
    of: rows.length * o.attempts,
    unscored: all.filter((a) => a.passed === null).length,
    share: counts.length === 0 ? null : sum(counts.map((c) => c.passed / c.scored)) / counts.length,
    interval: clusterInterval(counts),
    soft: softs.length === 0 ? null : sum(softs) / softs.length,
    read: [told.filter((a) => a.read === true).length, told.length],
    keptShut:
      arm === 'no-skill' || silent.length === 0
        ? null
        : {
            shut: silentTold.filter((a) => a.read === false).length,
            told: silentTold.length,
            of: silent.filter((a) => a.passed !== null).length,
          },
    passAt: o.attempts === 1 ? [] : Array.from({ length: o.attempts }, (_, i) => passAt(counts, i + 1)),
  };
}

/**
 * 95 % interval for the mean over tasks of the share of passes. Attempts at one task are alike, so that the task is the
 * unit: a Clopper-Pearson interval of as many rollouts as the spread between the tasks leaves effective (Korn and
 * Graubard, with the quantiles of t for the few tasks). That is never fewer than there are tasks, for nothing spreads
 * more than tasks that pass always or never, and never more than there are rollouts. With one attempt a task it is the
 * exact interval for passes of tasks. Null when nothing is scored.
 */
export function clusterInterval(
  counts: readonly { readonly passed: number; readonly scored: number }[],
): readonly [number, number] | null {
  const tasks = counts.length;
  if (tasks === 0) return null;
  const rollouts = counts.reduce((n, c) => n + c.scored, 0);
  const shares = counts.map((c) => c.passed / c.scored);
  const mean = shares.reduce((a, b) => a + b, 0) / tasks;
  const effective = Math.min(rollouts, Math.max(tasks, effectiveRollouts(shares, mean, rollouts)));
  return betaInterval(mean * effective, effective, LEVEL);
}

function effectiveRollouts(shares: readonly number[], mean: number, rollouts: number): number {
  const tasks = shares.length;
  if (tasks < 2 || rollouts === tasks || mean <= 0 || mean >= 1) return tasks;
  const variance = shares.reduce((a, x) => a + (x - mean) ** 2, 0) / (tasks - 1) / tasks;
  if (variance === 0) return rollouts;
  const level = 1 - (1 - LEVEL) / 2;
  return ((mean * (1 - mean)) / variance) * (tQuantile(level, rollouts - 1) / tQuantile(level, tasks - 1)) ** 2;
}

/** Task by task, over the passes that both have scored: who is ahead. A task without such a pass is left out. */
function comparison(rows: readonly EvalRow[], arm: EvalArmName, against: EvalArmName): Comparison {
  let wins = 0;
  let losses = 0;
  let pairs = 0;
  for (const row of rows) {
    const task = pairAt(row, arm, against);
    if (task.pairs === 0) continue;
    pairs++;
    if (task.ahead > 0) wins++;
    if (task.ahead < 0) losses++;
  }
  const p = signTestP(Math.max(wins, losses), Math.min(wins, losses));
  return { arm, against, wins, losses, pairs, of: rows.length, p, evidence: Math.round((1 - p) * 10_000) / 10_000 };
}

/**
 * The chance that of k attempts at a task at least one passes, and that all do: the mean over tasks of the unbiased
 * estimates 1 − C(n − c, k)/C(n, k) and C(c, k)/C(n, k), c of n scored attempts passed. Tasks with fewer than k scored
 * attempts are left out.
 */
export function passAt(counts: readonly { readonly passed: number; readonly scored: number }[], k: number): PassAt {
  const enough = counts.filter((c) => c.scored >= k);
  const mean = (share: (c: { readonly passed: number; readonly scored: number }) => number) =>
    enough.length === 0 ? null : enough.reduce((a, c) => a + share(c), 0) / enough.length;
  return {
    k,
    any: mean((c) => 1 - chosen(c.scored - c.passed, c.scored, k)),
    all: mean((c) => chosen(c.passed, c.scored, k)),
    tasks: enough.length,
  };
}

/** C(m, k) / C(n, k). */
function chosen(m: number, n: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i++) share *= Math.max(0, m - i) / (n - i);
  return share;
}
