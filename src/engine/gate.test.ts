import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { unit } from '../bench/rulebook-world.ts';
import type { GateRuleName } from '../events/loop-facts.ts';
import { type Outcome, scored, unscored } from '../ports/outcome.ts';
import { Tally } from './gate.ts';
import { oneGate } from './gate-fixture.ts';
import { gateRule } from './rules.ts';
import { signFlipAtMost, signTestAtMost } from './stats.ts';

const of = (x: number | null): Outcome =>
  x === null ? unscored('environment', 'lost') : scored({ reward: x }, x, 1, { read: true });
const score = fc.constantFrom(0, 0, 1, 1, null);

describe('a gate over any outcomes', () => {
  const tables = fc.record({
    n: fc.integer({ min: 2, max: 9 }),
    rule: fc.constantFrom<GateRuleName>('balanced', 'bold', 'careful', 'skillopt'),
    before: fc.array(fc.array(score, { minLength: 9, maxLength: 9 }), { minLength: 3, maxLength: 3 }),
    after: fc.array(fc.array(score, { minLength: 9, maxLength: 9 }), { minLength: 3, maxLength: 3 }),
  });

  test('a tie or worse is never accepted, and what is accepted meets its level', async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ n, rule, before, after }) => {
        const { decided } = await oneGate(n, rule, (who, task, attempt) =>
          of((who === 'candidate' ? after : before)[attempt]?.[task] ?? null),
        );
        if (decided.gateAction !== 'accept') return;
        expect(decided.wins).toBeGreaterThan(decided.losses);
        expect(signTestAtMost(decided.wins, decided.losses, gateRule(rule, 0).alpha)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('curtailment never turns an acceptance into a rejection or back', async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ n, rule: name, before, after }) => {
        // an unscored cell stays so through its tries, so the table says it all
        const cell = (table: (number | null)[][], block: number, task: number) => table[block]?.[task] ?? null;
        const { decided } = await oneGate(n, name, (who, task, attempt) =>
          of(cell(who === 'candidate' ? after : before, attempt, task)),
        );
        const rule = gateRule(name, 0);
        let wins = 0;
        let losses = 0;
        let full: 'accept' | 'reject' | 'indecisive' | null = null;
        let have = 0;
        let had = 0;
        let pairs = 0;
        for (let block = 0; block < rule.blocks && full === null; block++) {
          for (let task = 0; task < n; task++) {
            const a = cell(before, block, task);
            const b = cell(after, block, task);
            pairs++;
            if (a !== null) had++;
            if (b !== null) have++;
            if (a !== null && b !== null && b > a) wins++;
            if (a !== null && b !== null && b < a) losses++;
          }
          if (have < 0.6 * pairs || had < 0.6 * pairs || Math.abs(have - had) > 0.2 * pairs) full = 'indecisive';
          else if (block < rule.blocks - 1) {
            if (wins <= losses || !signTestAtMost(wins, losses, 500)) full = 'reject';
            else if (signTestAtMost(wins, losses, rule.early)) full = 'accept';
          }
        }
        full ??= wins > losses && signTestAtMost(wins, losses, rule.alpha) ? 'accept' : 'reject';
        if (full === 'indecisive')
          expect(decided.gateAction).not.toBe('accept'); // a curtailed rejection stands
        else expect(decided.gateAction).toBe(full);
      }),
      { numRuns: 600 },
    );
  });

  test('unscored rollouts change no mean', async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ n, rule, before, after }) => {
        const { decided } = await oneGate(n, rule, (who, task, attempt) =>
          of((who === 'candidate' ? after : before)[attempt]?.[task] ?? null),
        );
        for (const [side, read] of [
          ['incumbent', 'before'],
          ['candidate', 'after'],
        ] as const) {
          const got = decided.tasks.map((p) => p[read]).filter((x) => x !== null);
          const mean = got.length === 0 ? null : got.reduce((a, b) => a + b, 0) / got.length;
          const shown = decided.selection[side];
          expect(shown.scored).toBe(got.length);
          if (mean === null) expect(shown.mean).toBeNull();
          else expect(shown.mean).toBeCloseTo(mean, 3);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('soft metrics', () => {
  test('the mean must strictly rise and the sign-flip test must hold', async () => {
    const soft = fc.array(
      fc.array(
        fc.integer({ min: 0, max: 10 }).map((x) => x / 10),
        { minLength: 6, maxLength: 6 },
      ),
      { minLength: 2, maxLength: 2 },
    );
    await fc.assert(
      fc.asyncProperty(
        soft,
        soft,
        fc.constantFrom('soft' as const, 'mixed' as const),
        async (before, after, metric) => {
          const { decided } = await oneGate(
            6,
            'balanced',
            (who, task, attempt) => of((who === 'candidate' ? after : before)[attempt]?.[task] ?? 0),
            { gate: { rule: 'balanced', metric } },
          );
          if (decided.gateAction !== 'accept') return;
          const differences = decided.tasks.map((p) => Math.round(((p.after ?? 0) - (p.before ?? 0)) * 1000));
          expect(differences.reduce((a, b) => a + b, 0)).toBeGreaterThan(0);
          expect(signFlipAtMost(differences, 350)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('mixed is the mean of hard and soft', async () => {
    const { decided } = await oneGate(2, 'bold', (who) => of(who === 'candidate' ? 1 : 0.4), {
      gate: { rule: 'bold', metric: 'mixed' },
    });
    expect(decided.tasks.map((p) => [p.before, p.after])).toEqual([
      [0.2, 1],
      [0.2, 1],
    ]);
    expect(decided.gateAction).toBe('accept');
  });
});

describe('coverage and reading', () => {
  test('three of six unscored on one side: indecisive', async () => {
    const { decided } = await oneGate(6, 'bold', (who, task) => of(who === 'incumbent' ? 0 : task < 3 ? null : 1));
    expect([decided.gateAction, decided.why, decided.wins]).toEqual(['indecisive', 'coverage', 3]);
    expect(decided.selection.candidate).toEqual({ passed: 3, scored: 3, of: 6, mean: 1 });
  });

  test('a candidate that nobody read gets no verdict', async () => {
    const { decided } = await oneGate(4, 'bold', (who) =>
      scored({ reward: 1 }, who === 'candidate' ? 1 : 0, 1, { read: who !== 'candidate' }),
    );
    expect([decided.gateAction, decided.why]).toEqual(['indecisive', 'the skill was not read']);
  });

  test('where the description is optimized, a skill that was rightly never opened is judged as ever', async () => {
    const { decided } = await oneGate(
      4,
      'bold',
      (who) => scored({ trigger: 1 }, who === 'candidate' ? 1 : 0, 1, { read: who !== 'candidate' }),
      { optimize: 'description' },
    );
    expect([decided.gateAction, decided.wins]).toEqual(['accept', 4]);
  });

  test('an agent that can’t tell is judged as ever', async () => {
    const { decided } = await oneGate(4, 'bold', (who) =>
      scored({ reward: 1 }, who === 'candidate' ? 1 : 0, 1, { read: null }),
    );
    expect(decided.gateAction).toBe('accept');
  });
});

test('a tally ends as soon as nothing can help, and not before', () => {
  const tally = new Tally('hard');
  const zero = { value: 0, hard: 0 as const };
  expect(tally.lost(tally.room(zero), true, 500)).toBe(false);
  expect(tally.lost(0, true, 500)).toBe(true);
  expect(tally.lost(tally.room({ value: 1000, hard: 1 }) + tally.room(null), true, 500)).toBe(true);
});

/** `[neutral, +5, +10, +20, −15 %]`: probability of acceptance of one decision, half the tasks easy and half hard. */
const operating: readonly (readonly [string, number, GateRuleName, readonly number[]])[] = [
  ['low', 8, 'balanced', [0.09, 0.27, 0.5, 0.85, 0.04]],
  ['low', 24, 'bold', [0.36, 0.68, 0.88, 1.0, 0.1]],
  ['low', 24, 'balanced', [0.22, 0.56, 0.85, 0.99, 0.03]],
  ['low', 24, 'careful', [0.15, 0.53, 0.85, 1.0, 0.01]],
  ['low', 48, 'balanced', [0.23, 0.74, 0.97, 1.0, 0.01]],
  ['high', 8, 'balanced', [0.23, 0.31, 0.41, 0.63, 0.11]],
  ['high', 24, 'bold', [0.44, 0.59, 0.72, 0.93, 0.22]],
  ['high', 24, 'balanced', [0.27, 0.45, 0.64, 0.89, 0.09]],
  ['high', 24, 'careful', [0.22, 0.41, 0.61, 0.9, 0.06]],
  ['high', 48, 'balanced', [0.29, 0.54, 0.77, 0.98, 0.05]],
];
const draws = Number(process.env.SKILLOPT_TEST_DRAWS ?? 250);

test.each(operating)('operating table: %s noise, %i tasks, %s', async (noise, n, rule, want) => {
  const [hi, lo] = noise === 'low' ? [0.95, 0.05] : [0.75, 0.35];
  const base = Array.from({ length: n }, (_, i) => (i % 2 === 1 ? hi : lo));
  for (const [column, lift] of [0, 0.05, 0.1, 0.2, null].entries()) {
    let left = (lift ?? 0) * n;
    const lifted = base.map((p, i) => {
      if (lift === null) return p * 0.85;
      const step = i % 2 === 0 ? Math.min(left, hi - lo) : 0;
      left -= step;
      return p + step;
    });
    let accepted = 0;
    for (let d = 0; d < draws; d++) {
      const { decided } = await oneGate(n, rule, (who, task, attempt) => {
        const p = (who === 'candidate' ? lifted : base)[task] ?? 0;
        return of(unit(noise, n, rule, column, d, who, task, attempt) < p ? 1 : 0);
      });
      if (decided.gateAction === 'accept') accepted++;
    }
    const p = want[column] ?? 0;
    const q = Math.min(0.97, Math.max(0.03, p));
    const error = Math.sqrt((q * (1 - q)) / draws + (q * (1 - q)) / 3000);
    expect(Math.abs(accepted / draws - p)).toBeLessThan(4 * error + 0.005);
  }
});
