/** A cell of the comparison: a preset of the world and the rollouts that a run may consume before it ships. */
export type Cell = { readonly preset: string; readonly budget: number };

/** The cells that the peers were measured on. */
export const cells: readonly Cell[] = [
  { preset: 'large-low', budget: 500 },
  { preset: 'large-low', budget: 1500 },
  { preset: 'large-high', budget: 500 },
  { preset: 'large-high', budget: 1500 },
  { preset: 'small-low', budget: 200 },
  { preset: 'small-low', budget: 600 },
  { preset: 'small-high', budget: 200 },
  { preset: 'small-high', budget: 600 },
];

/** `large-low 500` */
export const cellName = (c: Cell): string => `${c.preset} ${c.budget}`;

/** What one run came to: true expected test scores, 0…1, as the world knows them. */
export type Result = Cell & {
  readonly infra: number;
  readonly seed: number;
  /** Of the seed skill, of what was shipped, of the best possible skill. */
  readonly start: number;
  readonly final: number;
  readonly best: number;
};

/** Who ran: a peer, or our program with a setting. */
export type Run = Result & { readonly who: string };

/** Share of the room between the seed and the best possible skill that was closed; below 0 = worse than the seed. */
export const room = (r: Result): number => (r.final - r.start) / (r.best - r.start);

export type Mean = { readonly mean: number; readonly se: number; readonly n: number };

/** Mean and standard error of some values; the error of one value is unknown (NaN). */
export function meanOf(values: readonly number[]): Mean {
  const n = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1);
  return { mean, se: Math.sqrt(variance / n), n };
}

/** One value for each seed: the mean of a quantity over the seed's cells. Seeds that lack a cell are left out. */
export function bySeed(runs: readonly Run[], of: (r: Run) => number): ReadonlyMap<number, number> {
  const seeds = Map.groupBy(runs, (r) => r.seed);
  const most = Math.max(0, ...[...seeds.values()].map((list) => list.length));
  const whole = [...seeds].filter(([, list]) => list.length === most);
  return new Map(whole.map(([seed, list]) => [seed, meanOf(list.map(of)).mean]));
}

/** Differences of two runs on the same seed, ours minus theirs, over the seeds that both have. */
export function paired(ours: ReadonlyMap<number, number>, theirs: ReadonlyMap<number, number>): Mean {
  return meanOf([...ours].flatMap(([seed, value]) => (theirs.has(seed) ? [value - (theirs.get(seed) ?? 0)] : [])));
}
