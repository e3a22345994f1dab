import { MORE_TRIES } from './loop-facts.ts';

/** From the least to the most that is plausible. */
export type Range = readonly [low: number, high: number];

/** How large a job is. `test` = rollouts of the sealed test, 0 where it does not follow by itself. */
export type JobSize = {
  /** Rollouts that decisions may still consume. */
  readonly rollouts: number;
  readonly test: number;
  /** Most edits of one reflection. */
  readonly mostEdits: number;
  readonly workers: number;
  /** Rollouts that may still be started in all; null = no limit. */
  readonly limit: number | null;
  /** Milliseconds of a rollout that no model does. */
  readonly rolloutMs: Range;
};

/**
 * What a model costs. `usd` tells US dollars of one request, null = unknown · `free`: nothing is charged ·
 * `subscription`: a program that is logged in, whose share of an account nobody can tell.
 */
export type Price =
  | { readonly kind: 'usd'; readonly of: (inputTokens: number, outputTokens: number) => number | null }
  | { readonly kind: 'free' | 'local' | 'unknown' | 'subscription' };

/** One call of a role's model, before anything of it was measured. */
export type RoleGuess = {
  readonly role: 'target' | 'optimizer';
  readonly model: string;
  readonly price: Price;
  /** Runs of an agent, each of many requests, in place of calls. */
  readonly isAgent?: true | undefined;
  /** Calls of one rollout, or of one reflection. */
  readonly calls: Range;
  readonly inputTokens: Range;
  readonly outputTokens: Range;
  readonly durationMs: Range;
};

/** What rollouts or reflections came to; null = unknown. */
export type RoleMeasured = Pick<RoleGuess, 'role' | 'model' | 'price' | 'isAgent'> & {
  /** Rollouts or reflections that were measured, 1 at least; what follows is of all of them together. */
  readonly count: number;
  readonly calls: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly durationMs: number;
};

/** What a role will come to. */
export type RoleEstimate = {
  readonly role: 'target' | 'optimizer';
  readonly model: string;
  /** Runs of an agent, in place of calls. */
  readonly isAgent?: true | undefined;
  readonly calls: Range;
  readonly tokens: Range | null;
  readonly cost:
    | { readonly kind: 'usd'; readonly usd: Range }
    | { readonly kind: 'free' | 'local' | 'unknown' | 'subscription' };
};

/** What a job will come to if it uses its whole budget; it ends earlier when nothing is left to improve. Pure JSON. */
export type Estimate = {
  /** `sizes`: of prompts and texts · `round-trip`: also one short call of each model · `measured`: means of rollouts and reflections. */
  readonly basis: 'sizes' | 'round-trip' | 'measured';
  /** Of the budget. */
  readonly planned: number;
  /** Of the sealed test. */
  readonly test: number;
  /** Started in all: run-ahead that no decision reads is on top of the budget. */
  readonly rollouts: Range;
  /** Of the optimizer; none where it is no model. */
  readonly reflections: Range;
  readonly roles: readonly RoleEstimate[];
  /** Of all roles; null = unknown. */
  readonly tokens: Range | null;
  /** US dollars over the roles whose price is known; null = of none. */
  readonly usd: Range | null;
  readonly minutes: Range;
};

/** What is known alike of every kind of work that costs something. */
export type Costs = Pick<Estimate, 'basis' | 'planned' | 'rollouts' | 'roles' | 'tokens' | 'usd' | 'minutes'>;

/** What an eval will come to, as long as every attempt is scored at its first try. Pure JSON. */
export type EvalEstimate = Costs & {
  /** Rollouts if no attempt is scored and each is tried as often as it may be. */
  readonly most: number;
};

/** How large an eval is. */
export type EvalSize = Pick<JobSize, 'workers' | 'limit' | 'rolloutMs'> & {
  /** Attempts, over arms, tasks and repeats. */
  readonly attempts: number;
};

/** Share by which rollouts that were started exceed those that decisions read; and what the last decision may leave unused. */
const RUN_AHEAD = 0.25;
const UNUSED = 0.1;
/** Reflections for each rollout of the budget, times the most edits of one: simulated runs lie within. */
const REFLECTIONS: Range = [0.3, 1.5];
/** How much longer the work takes than with all workers busy, at most: few failing tasks leave some idle. */
const IDLE = 2.5;
/** The same of an eval, which knows all that is to be done: only its last rollouts leave some idle. */
const IDLE_AT_END = 1.5;

/** Rollouts and reflections that a job of this size takes. */
export function counts(size: JobSize): Pick<Estimate, 'planned' | 'test' | 'rollouts' | 'reflections'> {
  const { rollouts, test, mostEdits } = size;
  const ahead = size.workers > 1 ? RUN_AHEAD : 0;
  const each = Math.max(1, mostEdits);
  const least = Math.floor(rollouts * (1 - UNUSED)) + test;
  const most = Math.min(Math.round(rollouts * (1 + ahead)) + test, size.limit ?? Number.POSITIVE_INFINITY);
  return {
    planned: rollouts,
    test,
    rollouts: [Math.min(least, most), most],
    reflections: [
      Math.min(rollouts, Math.max(1, Math.floor((rollouts * REFLECTIONS[0]) / each))),
      Math.ceil((rollouts * REFLECTIONS[1]) / each),
    ],
  };
}

/** What a job will come to: by means where a role was measured, else by guesses. `asked`: each model was asked once. */
export function estimate(size: JobSize, roles: readonly (RoleGuess | RoleMeasured)[], asked = false): Estimate {
  const count = counts(size);
  return { ...count, ...costsOf(count, { ...size, idle: IDLE }, roles, asked) };
}

/** What an eval will come to, by guesses about its target; none of `roles`: no model takes part. */
export function estimateEval(size: EvalSize, roles: readonly RoleGuess[], asked = false): EvalEstimate {
  const { attempts, limit, workers } = size;
  const bounded = (rollouts: number) => Math.min(rollouts, limit ?? Number.POSITIVE_INFINITY);
  const rollouts: Range = [bounded(attempts), bounded(attempts)];
  const busy = { ...size, workers: Math.max(1, Math.min(workers, rollouts[1])), idle: IDLE_AT_END };
  const { reflections: _, ...costs } = costsOf({ rollouts, reflections: NONE }, busy, roles, asked);
  return { planned: attempts, rollouts, most: bounded(attempts * (1 + MORE_TRIES)), ...costs };
}

type Timed = RoleEstimate & { readonly durationMs: Range };

function byGuess(r: RoleGuess, items: Range): Timed {
  return {
    role: r.role,
    model: r.model,
    ...(r.isAgent ? { isAgent: r.isAgent } : {}),
    calls: product(items, r.calls),
    tokens: product(items, r.calls, plus(r.inputTokens, r.outputTokens)),
    cost: guessedCost(r, items),
    durationMs: product(r.calls, r.durationMs),
  };
}

function guessedCost({ price, calls, inputTokens, outputTokens }: RoleGuess, items: Range): RoleEstimate['cost'] {
  if (price.kind !== 'usd') return { kind: price.kind };
  const low = price.of(inputTokens[0], outputTokens[0]);
  const high = price.of(inputTokens[1], outputTokens[1]);
  return low === null || high === null ? { kind: 'unknown' } : { kind: 'usd', usd: product(items, calls, [low, high]) };
}

/** Around the mean of what was measured; of few, it says less. */
function byMeans(r: RoleMeasured, items: Range): Timed {
  const doubt = 1 / Math.sqrt(r.count);
  const around = (sum: number): Range => [(sum / r.count) * (1 - doubt / 2), (sum / r.count) * (1.25 + doubt)];
  const spent = (sum: number | null) => (sum === null ? null : product(items, around(sum)));
  return {
    role: r.role,
    model: r.model,
    ...(r.isAgent ? { isAgent: r.isAgent } : {}),
    calls: r.calls === r.count ? items : product(items, around(r.calls)),
    tokens: spent(r.tokens),
    cost: costOf(r.price, spent(r.costUsd)),
    durationMs: around(r.durationMs),
  };
}

function costOf({ kind }: Price, usd: Range | null): RoleEstimate['cost'] {
  if (kind !== 'usd') return { kind };
  return usd === null ? { kind: 'unknown' } : { kind: 'usd', usd };
}

type Counted = Pick<Estimate, 'rollouts' | 'reflections'>;

function costsOf(
  count: Counted,
  { workers, rolloutMs, idle: most }: Pick<JobSize, 'workers' | 'rolloutMs'> & { readonly idle: number },
  guesses: readonly (RoleGuess | RoleMeasured)[],
  asked: boolean,
): Pick<Estimate, 'basis' | 'reflections' | 'roles' | 'tokens' | 'usd' | 'minutes'> {
  const roles = guesses.map((r): Timed => {
    const items = count[r.role === 'target' ? 'rollouts' : 'reflections'];
    return 'count' in r ? byMeans(r, items) : byGuess(r, items);
  });
  const timeOf = (role: Timed['role']) => roles.find((r) => r.role === role)?.durationMs;
  const rolling = product(count.rollouts, timeOf('target') ?? rolloutMs);
  const reflections = timeOf('optimizer') ? count.reflections : NONE;
  const reflecting = product(reflections, timeOf('optimizer') ?? NONE);
  const idle = Math.min(workers, most);
  const known = roles.flatMap((r) => (r.cost.kind === 'usd' ? [r.cost.usd] : []));
  const free = roles.every((r) => r.cost.kind === 'free');
  return {
    basis: guesses.some((r) => 'count' in r) ? 'measured' : asked ? 'round-trip' : 'sizes',
    reflections,
    roles: roles.map(({ durationMs: _, calls, ...r }) => ({
      ...r,
      calls: [Math.floor(calls[0]), Math.ceil(calls[1])],
    })),
    tokens: roles.reduce<Range | null>((sum, r) => (sum && r.tokens ? plus(sum, r.tokens) : null), NONE),
    usd: known.length > 0 ? known.reduce(plus, NONE) : free ? NONE : null,
    minutes: [
      (rolling[0] / workers + reflecting[0]) / 60_000,
      ((rolling[1] / workers) * idle + reflecting[1]) / 60_000,
    ],
  };
}

const NONE: Range = [0, 0];
const plus = (a: Range, b: Range): Range => [a[0] + b[0], a[1] + b[1]];

/**
 * The product of ranges that know nothing of each other: all of them at their ends at once is not plausible, so the
 * widths add up as their squares do.
 */
export function product(...ranges: readonly Range[]): Range {
  if (ranges.some(([low]) => low <= 0)) return ranges.reduce((a, b) => [a[0] * b[0], a[1] * b[1]], [1, 1]);
  const known = ranges.reduce((all, [low, high]) => (low === high ? all * low : all), 1); // exactly: logarithms round
  const wide = ranges.filter(([low, high]) => low !== high);
  const middle = wide.reduce((sum, [low, high]) => sum + Math.log(low * high) / 2, 0);
  const width = Math.sqrt(wide.reduce((sum, [low, high]) => sum + (Math.log(high / low) / 2) ** 2, 0));
  return [known * Math.exp(middle - width), known * Math.exp(middle + width)];
}
