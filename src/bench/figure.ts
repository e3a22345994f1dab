/** A bound that a figure is held against. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One figure: two things measured side by side and their ratio, or a share of a core. */
export type Figure = {
  readonly name: string;
  /** What was compared with what, in a line. */
  readonly what: string;
  readonly value: number;
  readonly unit: '×' | '% of a core' | '%' | 'ms';
  readonly target: Target;
  /** What a program that does nothing takes, built and measured in the same way: no work of ours gets below it. */
  readonly floor?: number;
  /** Measurements behind each side. */
  readonly n: number;
  /** The sides themselves, with their units in the names. */
  readonly measured: Readonly<Record<string, number>>;
  /** What else has to be known to read it; empty = nothing. */
  readonly note: string;
};

/** A figure that this machine can't give, and why. */
export type Unmeasured = { readonly name: string; readonly unmeasured: string };

export type Measured = Figure | Unmeasured;

export const isFigure = (one: Measured): one is Figure => !('unmeasured' in one);

/** The middle value; between the two middle ones of an even number. Throws without values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('there is no median of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** A value that is no number meets nothing. */
export function isMet({ value, target }: Pick<Figure, 'value' | 'target'>): boolean {
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}

/** Above the floor by no more than this share, a figure is as good as can be. */
const AT_FLOOR = 1.2;

export type Standing = 'met' | 'at the floor' | 'not met';

/** A target that lies below the floor is missed by whatever is built on this runtime: that is said, and is no failure. */
export function standing(f: Pick<Figure, 'value' | 'target' | 'floor'>): Standing {
  if (isMet(f)) return 'met';
  return f.floor !== undefined && f.value <= AT_FLOOR * f.floor ? 'at the floor' : 'not met';
}

/** The one JSON value of `npm run bench -- --json`. */
export function asJson(measured: readonly Measured[], machine: string) {
  const figures = measured.filter(isFigure);
  return {
    machine,
    met: figures.every(isMet),
    figures: figures.map((f) => ({ ...f, met: isMet(f), standing: standing(f) })),
    unmeasured: measured.flatMap((one) => (isFigure(one) ? [] : [{ name: one.name, why: one.unmeasured }])),
  };
}

/** Lines for people: a figure a line, with what it was made of below. */
export function asLines(figures: readonly Measured[]): readonly string[] {
  const width = Math.max(0, ...figures.map((f) => f.name.length));
  const indent = ' '.repeat(width + 2);
  return figures.flatMap((f) => {
    if (!isFigure(f)) return [`${f.name.padEnd(width)}  not measured: ${f.unmeasured}`];
    const value = `${f.value.toFixed(2)} ${f.unit}`.padEnd(16);
    const bound = 'atMost' in f.target ? `at most ${f.target.atMost}` : `at least ${f.target.atLeast}`;
    const sides = Object.entries(f.measured).map(([name, amount]) => `${name} ${rounded(amount)}`);
    return [
      `${f.name.padEnd(width)}  ${value} ${bound.padEnd(14)} ${standing(f) === 'not met' ? 'NOT MET' : standing(f)}`,
      `${indent}${f.what} · n = ${f.n} · ${sides.join(', ')}`,
      ...(f.note === '' ? [] : [`${indent}${f.note}`]),
    ];
  });
}

function rounded(amount: number): string {
  return Math.abs(amount) >= 100 ? amount.toFixed(0) : amount.toPrecision(3);
}
