/**
 * Exact statistics of paired comparisons. Everything is integer arithmetic or plain + − × ÷ on doubles, so that the
 * same numbers come out on every machine.
 */

/** Number of the 2^n sign patterns of n discordant pairs with at least `wins` wins (n = wins + losses). */
function tail(wins: number, losses: number): bigint {
  const n = wins + losses;
  let term = 1n;
  let sum = 0n;
  for (let i = n; i >= wins; i--) {
    sum += term;
    term = (term * BigInt(i)) / BigInt(n - i + 1);
  }
  return sum;
}

/** Is p = P(Bin(wins + losses, ½) ≥ wins) ≤ `level`/1000? Compared in integers (2–0 is exactly 250/1000). */
export function signTestAtMost(wins: number, losses: number, level: number): boolean {
  const n = wins + losses;
  return tail(wins, losses) * 1000n <= BigInt(level) << BigInt(n);
}

/**
 * For each number n of discordant pairs from 0 to `most` the fewest wins for which `signTestAtMost` holds at `level`;
 * n + 1 where even n wins are too few.
 */
export function signTestLeast(most: number, level: number): readonly number[] {
  const least: number[] = [];
  let wins = 0;
  let sum = 1n; // sign patterns with at least `wins` wins
  let below = 0n; // those with exactly one fewer
  for (let n = 0; n <= most; n++) {
    if (n > 0) {
      sum = 2n * sum + below; // C(n, k) = C(n − 1, k) + C(n − 1, k − 1)
      below = (below * BigInt(n)) / BigInt(n - wins + 1);
    }
    while (sum * 1000n > BigInt(level) << BigInt(n)) {
      below = wins === 0 ? 1n : (below * BigInt(n - wins + 1)) / BigInt(wins);
      sum -= below;
      wins++;
    }
    least.push(wins);
  }
  return least;
}

/** One-sided sign test p = P(Bin(wins + losses, ½) ≥ wins), rounded half up to four places. */
export function signTestP(wins: number, losses: number): number {
  return ratio(tail(wins, losses), 1n << BigInt(wins + losses));
}

/**
 * One-sided exact sign-flip test on integer differences: the share of the 2^n sign patterns of |d| whose sum reaches
 * the observed one. By dynamic programming over the sum; zero differences drop out. Returned as an exact fraction.
 */
function signFlip(differences: readonly number[]): { readonly hits: bigint; readonly all: bigint } {
  const sizes = differences.filter((d) => d !== 0).map(Math.abs);
  const observed = differences.reduce((a, b) => a + b, 0);
  let counts = new Map<number, bigint>([[0, 1n]]);
  for (const size of sizes) {
    const next = new Map<number, bigint>();
    for (const [sum, n] of counts) {
      next.set(sum + size, (next.get(sum + size) ?? 0n) + n);
      next.set(sum - size, (next.get(sum - size) ?? 0n) + n);
    }
    counts = next;
  }
  let hits = 0n;
  for (const [sum, n] of counts) if (sum >= observed) hits += n;
  return { hits, all: 1n << BigInt(sizes.length) };
}

/** Is the sign-flip p of these integer differences ≤ `level`/1000? */
export function signFlipAtMost(differences: readonly number[], level: number): boolean {
  const { hits, all } = signFlip(differences);
  return hits * 1000n <= BigInt(level) * all;
}

/** One-sided sign-flip p of integer differences, rounded half up to four places. */
export function signFlipP(differences: readonly number[]): number {
  const { hits, all } = signFlip(differences);
  return ratio(hits, all);
}

function ratio(part: bigint, whole: bigint): number {
  return Number((part * 20000n + whole) / (2n * whole)) / 10000;
}

/** P(Bin(n, p) ≥ k) for 0 < p < 1, by a running term; accurate to about 1e-12 for n up to some thousands. */
function upperTail(n: number, k: number, p: number): number {
  if (k <= 0) return 1;
  // Start from the largest term to avoid underflow, then normalize: terms are ratios to it.
  const mode = Math.min(n, Math.floor((n + 1) * p));
  let total = 1;
  let hit = mode >= k ? 1 : 0;
  let term = 1;
  for (let i = mode; i < n; i++) {
    term *= ((n - i) / (i + 1)) * (p / (1 - p));
    total += term;
    if (i + 1 >= k) hit += term;
  }
  term = 1;
  for (let i = mode; i > 0; i--) {
    term *= (i / (n - i + 1)) * ((1 - p) / p);
    total += term;
    if (i - 1 >= k) hit += term;
  }
  return hit / total;
}

/** Lower 1 − `alpha` bound for a share of `k` of `n` (Clopper-Pearson, one side), by bisection. */
export function lowerBound(k: number, n: number, alpha: number): number {
  if (k === 0) return 0;
  let low = 0;
  let high = 1;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (upperTail(n, k, middle) > alpha) high = middle;
    else low = middle;
  }
  return low;
}

/** Two-sided Clopper-Pearson interval for `k` of `n`, rounded to three places; null for n = 0. `level` e.g. 0.95. */
export function clopperPearson(k: number, n: number, level: number): readonly [number, number] | null {
  if (n === 0) return null;
  const alpha = (1 - level) / 2;
  const round = (x: number) => Math.round(x * 1000) / 1000;
  return [round(lowerBound(k, n, alpha)), round(1 - lowerBound(n - k, n, alpha))];
}
