import { parseArgs } from 'node:util';
import { optimize } from '../engine/loop.ts';
import type { LoopPlan } from '../engine/plan.ts';
import { shortHash } from '../ports/hash.ts';
import { type Habit, VariantWorld, variants } from './rulebook-variants.ts';
import { type WorldConfig, WorldPorts, worldOps, worldPlan, worldPresets } from './rulebook-world.ts';

/**
 * `npm run bench:search [-- --worlds default,'poor optimizer' --seeds 120 --first 5000 --memory on,off --slow off,on]`: the
 * versions of the loop's rule, or one of them without and with slow updates, side by side on simulated worlds, in memory; about a minute for a world, 120 seeds and one setting of
 * the memory. Room closed = (final − seed) / (best possible − seed), true test scores, mean of the eight cells; the
 * difference to the first rule is paired by seed, ± is one standard error.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '60' },
    first: { type: 'string', default: '5000' },
    worlds: { type: 'string', default: 'default' },
    rules: { type: 'string', default: 'loop@1,loop@2' },
    memory: { type: 'string', default: 'on' },
    slow: { type: 'string', default: 'off' },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => Number(values.first) + i);
const wanted =
  values.worlds === 'all' ? variants : variants.filter(([name]) => values.worlds.split(',').includes(name));

const cells = [
  ['large-low', 500],
  ['large-low', 1500],
  ['large-high', 500],
  ['large-high', 1500],
  ['small-low', 200],
  ['small-low', 600],
  ['small-high', 200],
  ['small-high', 600],
] as const;

type Run = {
  readonly room: number;
  readonly below: boolean;
  readonly calls: number;
  readonly accepted: number;
  /** True gains of the guidance that was handed in, and of what its gate accepted. */
  readonly guided: readonly { readonly gain: number; readonly accepted: boolean }[];
};

async function run(world: VariantWorld, plan: LoopPlan): Promise<Run> {
  const ports = new WorldPorts(world);
  const end = await optimize(plan, ports, worldOps);
  const gates = ports.decisions.flatMap((d) => (d.type === 'gate.decided' && d.kind === 'slow-update' ? [d] : []));
  const guided = ports.guided.flatMap(({ before, after }) => {
    const gate = gates.find((g) => g.candidate === shortHash(after) && g.incumbent === shortHash(before));
    const gain = world.trueScore(after) - world.trueScore(before);
    return gate === undefined ? [] : [{ gain, accepted: gate.gateAction === 'accept' }];
  });
  const [start, final] = [world.trueScore(world.seedText), world.trueScore(end.text)];
  const room = (final - start) / (world.config.pHi - start);
  return { room, below: final < start - 1e-9, calls: end.calls, accepted: end.accepted, guided };
}

const mean = (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
const error = (xs: readonly number[]) => {
  const m = mean(xs);
  return Math.sqrt(xs.reduce((a, x) => a + (x - m) ** 2, 0) / (xs.length - 1) / xs.length);
};
const signed = (x: number) => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(3)}`;

async function rowsOf(
  rule: LoopPlan['rule'],
  memory: boolean,
  slow: boolean,
  more: Partial<WorldConfig>,
  habit?: Habit,
) {
  const bySeed = new Map(seeds.map((seed) => [seed, [] as Run[]]));
  for (const [preset, budget] of cells)
    for (const seed of seeds) {
      const world = new VariantWorld({ ...worldPresets[preset], infra: 0, ...more, seed }, habit);
      const plan = worldPlan(world, budget, {
        rule,
        search: { draftSize: 8, dryRounds: 12, memory },
        slowUpdate: slow ? true : undefined,
      });
      bySeed.get(seed)?.push(await run(world, plan));
    }
  return [...bySeed.values()];
}

/** The paired difference in each cell. */
function byCellText(rows: readonly (readonly Run[])[], before: readonly (readonly Run[])[]): string {
  return cells
    .map((_, cell) => {
      const more = rows.map((cellRuns, seed) => (cellRuns[cell]?.room ?? 0) - (before[seed]?.[cell]?.room ?? 0));
      return `${signed(mean(more))} ±${error(more).toFixed(3)}`;
    })
    .join('  ');
}

/** What became of guidance: how often it met its gate, and what it was really worth. */
function guidedText(runs: readonly Run[]): string {
  const all = runs.flatMap((r) => r.guided);
  const kept = all.filter((g) => g.accepted);
  const gain = (of: typeof all) =>
    of.length < 2 ? '–' : `${signed(mean(of.map((g) => g.gain)))} ±${error(of.map((g) => g.gain)).toFixed(4)}`;
  const worse = kept.filter((g) => g.gain < -1e-9).length / Math.max(1, kept.length);
  return `guidance a run ${(all.length / runs.length).toFixed(2)}, accepted ${(kept.length / runs.length).toFixed(2)}; true gain of all ${gain(all)}, of the accepted ${gain(kept)}, worse than before ${(100 * worse).toFixed(0)} %`;
}

const settings = (values.rules.split(',') as LoopPlan['rule'][]).flatMap((rule) =>
  values.slow.split(',').map((slow) => [rule, slow === 'on'] as const),
);

for (const [name, more, habit] of wanted)
  for (const memory of values.memory.split(',')) {
    console.log(`\n${name}, memory ${memory}`);
    let first: readonly number[] | null = null;
    let firstRows: readonly (readonly Run[])[] | null = null;
    for (const [rule, slow] of settings) {
      const rows = await rowsOf(rule, memory === 'on', slow, more, habit);
      const rooms = rows.map((cellRuns) => mean(cellRuns.map((r) => r.room)));
      const runs = rows.flat();
      const against = first?.map((room, i) => (rooms[i] ?? 0) - room) ?? null;
      const byCell = cells.map((_, i) => mean(rows.map((cellRuns) => cellRuns[i]?.room ?? 0)).toFixed(2)).join(' ');
      const compared =
        against === null ? `±${error(rooms).toFixed(3)}` : `${signed(mean(against))} ±${error(against).toFixed(3)}`;
      console.log(
        `  ${rule}${slow ? ', slow updates' : ''}  ${mean(rooms).toFixed(3)}  ${compared.padEnd(14)}  ${byCell}  below the seed ${(100 * mean(runs.map((r) => Number(r.below)))).toFixed(1)} %  calls ${mean(runs.map((r) => r.calls)).toFixed(0)}  accepted ${mean(runs.map((r) => r.accepted)).toFixed(1)}`,
      );
      if (firstRows !== null) console.log(`    by cell ${byCellText(rows, firstRows)}`);
      if (slow) console.log(`    ${guidedText(runs)}`);
      first ??= rooms;
      firstRows ??= rows;
    }
  }
