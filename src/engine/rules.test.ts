import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RulebookWorld, WorldPorts, worldOps, worldPlan, worldPresets } from '../bench/rulebook-world.ts';
import type { EditBudget } from '../events/shapes.ts';
import { optimize } from './loop.ts';
import { type BudgetPlace, mostEdits } from './rules.ts';

const at = (consumed: number, hits: BudgetPlace['hits'] = []): BudgetPlace => ({ consumed, hits });
const goes = (schedule: 'constant' | 'linear' | 'cosine' | 'autonomous', max = 6, min = 1): EditBudget => ({
  schedule,
  max,
  min,
});

describe('most edits of a reflection', () => {
  test('a third of train, 2 to 8, and no more than the budget allows', () => {
    expect([2, 6, 9, 24, 90].map((n) => mostEdits(n, null, at(0)))).toEqual([2, 2, 3, 8, 8]);
    expect(mostEdits(24, 3, at(0.5))).toBe(3);
    expect(mostEdits(6, 5, at(0.5))).toBe(2);
  });

  test.each([
    ['constant', [6, 6, 6, 6, 6]],
    ['linear', [6, 5, 4, 2, 1]],
    ['cosine', [6, 5, 4, 2, 1]],
  ] as const)('%s, along the consumed share of the budget', (schedule, want) => {
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => mostEdits(24, goes(schedule), at(share)))).toEqual([...want]);
  });

  test('a cosine is slow at both ends', () => {
    const most = (share: number) => mostEdits(24, goes('cosine', 8, 1), at(share));
    expect([most(0.15), most(0.85)]).toEqual([8, 1]);
    expect(mostEdits(24, goes('linear', 8, 1), at(0.15))).toBe(7);
  });

  test('autonomous: one fewer after a round that kept nothing, one more after one that kept half', () => {
    const miss = { offered: 4, kept: 0 };
    const half = { offered: 4, kept: 2 };
    const some = { offered: 4, kept: 1 };
    const most = (...hits: BudgetPlace['hits']) => mostEdits(24, goes('autonomous', 4, 2), at(0, hits));
    expect([most(), most(miss), most(miss, miss, miss), most(miss, miss, half), most(miss, some), most(half)]).toEqual([
      4, 3, 2, 3, 3, 4,
    ]);
  });

  test('stays within its bounds whatever comes', () => {
    const hit = fc.record({ offered: fc.integer({ min: 1, max: 8 }), kept: fc.integer({ min: 0, max: 8 }) });
    fc.assert(
      fc.property(
        fc.constantFrom('constant', 'linear', 'cosine', 'autonomous'),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 2, max: 60 }),
        fc.double({ min: -1, max: 3, noNaN: true }),
        fc.array(hit),
        (schedule, a, b, train, consumed, hits) => {
          const [min, max] = [Math.min(a, b), Math.max(a, b)];
          const most = mostEdits(train, goes(schedule, max, min), at(consumed, hits));
          const cap = mostEdits(train, null, at(0));
          expect(most).toBeLessThanOrEqual(Math.min(max, cap));
          expect(most).toBeGreaterThanOrEqual(Math.min(min, cap));
        },
      ),
    );
  });

  test('reaches the reflections of a search, and a replay asks for the same', async () => {
    const world = () => new RulebookWorld({ seed: 5, infra: 0, ...worldPresets['large-low'] });
    const plan = worldPlan(world(), 500, { editBudget: goes('linear', 8, 1) });
    const ports = new WorldPorts(world());
    await optimize(plan, ports, worldOps);
    const asked = ports.proposals.map((p) => p.atMost);
    expect(asked[0]).toBeGreaterThan(asked.at(-1) ?? 0);
    expect(asked.at(-1)).toBeLessThanOrEqual(2);
    const again = new WorldPorts(world());
    await optimize(plan, again, worldOps);
    expect(again.decisions).toEqual(ports.decisions);
  });
});
