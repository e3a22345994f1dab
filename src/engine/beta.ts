/**
 * Quantiles of the beta and of Student's t distribution, on doubles, right to about 1e-11. For figures that people read:
 * no decision rests on them, for logarithms may differ in the last digit between machines.
 */

/** Lanczos' coefficients for g = 7. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** Logarithm of the gamma function for x > 0. */
function lnGamma(x: number): number {
  const z = x - 1;
  let sum: number = lanczos[0];
  for (const [i, c] of lanczos.entries()) if (i > 0) sum += c / (z + i);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The continued fraction of the incomplete beta function, by Lentz's method. */
function fraction(x: number, a: number, b: number): number {
  const away = (d: number) => (Math.abs(d) < 1e-300 ? 1e-300 : d);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let h = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return h;
}

/** P(X ≤ x) of a beta distribution with a, b > 0. */
function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

/** The x with P(X ≤ x) = p of a beta distribution with a, b > 0. */
export function betaQuantile(p: number, a: number, b: number): number {
  let low = 0;
  let high = 1;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (betaShare(middle, a, b) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The t with P(T ≤ t) = p of Student's t with `df` degrees of freedom, for ½ < p < 1. */
export function tQuantile(p: number, df: number): number {
  const x = betaQuantile(2 * (1 - p), df / 2, 0.5);
  return Math.sqrt((df * (1 - x)) / x);
}

/**
 * The two-sided Clopper-Pearson interval for `k` of `n`, neither of which has to be whole; `level` such as 0.95. For
 * whole numbers it is the exact one of the binomial distribution.
 */
export function betaInterval(k: number, n: number, level: number): readonly [number, number] {
  const tail = (1 - level) / 2;
  return [k <= 0 ? 0 : betaQuantile(tail, k, n - k + 1), k >= n ? 1 : betaQuantile(1 - tail, k + 1, n - k)];
}
