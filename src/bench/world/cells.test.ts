import { describe, expect, test } from 'bun:test';
import { bySeed, cells, meanOf, paired, type Run, room } from './cells.ts';
import { readPeers, tableLines } from './table.ts';

const run = (seed: number, final: number, more: Partial<Run> = {}): Run => ({
  who: 'us',
  preset: 'small-low',
  budget: 200,
  infra: 0,
  seed,
  start: 0.2,
  final,
  best: 1,
  ...more,
});

describe('figures of the world', () => {
  test('room is the share of the way from the seed to the best possible skill', () => {
    expect([run(0, 0.2), run(0, 1), run(0, 0.6), run(0, 0.12)].map(room).map((r) => Math.round(r * 100))).toEqual([
      0, 100, 50, -10,
    ]);
  });

  test('mean and standard error', () => {
    expect(meanOf([1, 2, 3, 4])).toEqual({ mean: 2.5, se: Math.sqrt(5 / 3 / 4), n: 4 });
    expect(meanOf([7]).se).toBeNaN();
  });

  test('a seed that lacks a cell is left out, and differences are taken seed by seed', () => {
    const other = { preset: 'large-low', budget: 500 };
    const ours = bySeed([run(1, 0.6), run(1, 1, other), run(2, 0.6), run(3, 0.2), run(3, 0.6, other)], room);
    expect([...ours].map(([seed, value]) => [seed, Math.round(100 * value) / 100])).toEqual([
      [1, 0.75],
      [3, 0.25],
    ]);
    const theirs = new Map([
      [1, 0.25],
      [3, 0.5],
      [9, 1],
    ]);
    const { mean, n } = paired(ours, theirs);
    expect(n).toBe(2);
    expect(mean).toBeCloseTo(0.125);
  });

  test('the peers were run on 24 seeds in every cell, without and with errors', () => {
    const peers = readPeers();
    for (const who of ['SkillOpt', 'SkillOpt, slow update off', 'GEPA'])
      for (const infra of [0, 0.1])
        for (const { preset, budget } of cells) {
          const of = peers.filter(
            (p) => [p.who, p.infra, p.preset, p.budget].join() === [who, infra, preset, budget].join(),
          );
          expect(new Set(of.map((p) => p.seed)).size).toBe(24);
        }
  });

  test('the table tells what was not run as –', () => {
    const lines = tableLines([], readPeers(), 0);
    expect(lines.find((l) => l.startsWith('GEPA'))).toContain('0.277 ±0.018');
    expect(lines.join('\n')).not.toContain('NaN');
  });
});
