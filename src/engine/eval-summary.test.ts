import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EvalArmName, EvalAttempt, EvalRow } from '../events/eval-shapes.ts';
import { betaInterval } from './beta.ts';
import { clusterInterval, evalSummary, passAt } from './eval-summary.ts';
import { signTestP } from './stats.ts';

const attempt = (passed: boolean | null, read: boolean | null = null): EvalAttempt => ({
  passed,
  soft: passed === null ? null : passed ? 1 : 0,
  read,
});

/** Rows of two arms from strings: `1` passed, `0` failed, `x` unscored, an attempt each. */
const rows = (skill: readonly string[], none: readonly string[]): readonly EvalRow[] =>
  skill.map((s, i) => ({
    task: `t${i}`,
    arms: (['skill', 'no-skill'] as const).map((arm) => ({
      arm,
      attempts: [...(arm === 'skill' ? s : (none[i] ?? ''))].map((c) => attempt(c === 'x' ? null : c === '1')),
    })),
  }));
const arms: readonly EvalArmName[] = ['skill', 'no-skill'];
const options = { attempts: 1, silent: new Set<string>(), opens: true };

describe('with one attempt a task', () => {
  test('the interval is the exact one of passes: 9 of 14', () => {
    const {
      arms: [skill],
    } = evalSummary(rows([...'11111111100000'], []), ['skill'], options);
    expect(skill).toMatchObject({ passed: 9, scored: 14, of: 14, unscored: 0 });
    expect(skill?.interval?.[0]).toBeCloseTo(0.3513801106, 9);
    expect(skill?.interval?.[1]).toBeCloseTo(0.8724015701, 9);
    expect(skill?.passAt).toEqual([]);
  });

  test('an unscored attempt is left out of all means, never a 0', () => {
    const s = evalSummary(rows([...'11x0'], [...'1x00']), arms, options);
    expect(s.arms.map((a) => [a.passed, a.scored, a.of, a.unscored, a.share, a.soft])).toEqual([
      [2, 3, 4, 1, 2 / 3, 2 / 3],
      [1, 3, 4, 1, 1 / 3, 1 / 3],
    ]);
    expect(s.comparisons).toEqual([
      { arm: 'skill', against: 'no-skill', wins: 0, losses: 0, pairs: 2, of: 4, p: 1, evidence: 0 },
    ]);
  });

  test('arms are compared task by task, by the exact sign test of the side that is ahead', () => {
    const ten = evalSummary(rows([...'1111111100'], [...'0000000011']), arms, options).comparisons[0]!;
    expect(ten).toMatchObject({ wins: 8, losses: 2, p: 0.0547, evidence: 0.9453 });
    const worse = evalSummary(rows([...'0000000011'], [...'1111111100']), arms, options).comparisons[0]!;
    expect(worse).toMatchObject({ wins: 2, losses: 8, p: signTestP(8, 2), evidence: 0.9453 });
  });

  test('nothing scored has no share and no interval', () => {
    const [skill] = evalSummary(rows([...'xx'], []), ['skill'], options).arms;
    expect(skill).toMatchObject({ passed: 0, scored: 0, unscored: 2, share: null, interval: null, soft: null });
  });
});

describe('with repeats', () => {
  const counts = fc.array(
    fc
      .integer({ min: 1, max: 6 })
      .chain((scored) => fc.record({ passed: fc.nat(scored), scored: fc.constant(scored) })),
    { minLength: 1, maxLength: 20 },
  );

  test('the interval lies around the mean, between that of as many tasks and that of as many rollouts', () => {
    fc.assert(
      fc.property(counts, (list) => {
        const mean = list.reduce((a, c) => a + c.passed / c.scored, 0) / list.length;
        const n = list.reduce((a, c) => a + c.scored, 0);
        const [low, high] = clusterInterval(list)!;
        const widest = betaInterval(mean * list.length, list.length, 0.95);
        const narrowest = betaInterval(mean * n, n, 0.95);
        const slack = 1e-9;
        expect(low).toBeLessThanOrEqual(mean + slack);
        expect(high).toBeGreaterThanOrEqual(mean - slack);
        expect(high - low).toBeLessThanOrEqual(widest[1] - widest[0] + slack);
        expect(high - low).toBeGreaterThanOrEqual(narrowest[1] - narrowest[0] - slack);
      }),
    );
  });

  test('attempts that only repeat each other add nothing', () => {
    const once = [...'1101001'].map((c) => ({ passed: Number(c), scored: 1 }));
    const thrice = once.map((c) => ({ passed: 3 * c.passed, scored: 3 }));
    expect(clusterInterval(thrice)).toEqual(clusterInterval(once));
  });

  test('it covers the mean over tasks in at least 93 of 100 draws, where pooled attempts would not', () => {
    let state = 7;
    const random = () => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647;
    };
    const draws = 1500;
    for (const [tasks, repeats, chances] of [
      [10, 5, [0.05, 0.95]],
      [12, 3, [0.1, 0.5, 0.9]],
      [25, 4, [0.3, 0.7]],
    ] as const) {
      const truth = chances.reduce((a, b) => a + b, 0) / chances.length;
      let covered = 0;
      let pooled = 0;
      for (let d = 0; d < draws; d++) {
        const list = Array.from({ length: tasks }, () => {
          const p = chances[Math.floor(random() * chances.length)] ?? 0;
          return { passed: Array.from({ length: repeats }, random).filter((x) => x < p).length, scored: repeats };
        });
        const isIn = ([low, high]: readonly [number, number]) => low <= truth && truth <= high;
        const passed = list.reduce((a, c) => a + c.passed, 0);
        if (isIn(clusterInterval(list)!)) covered++;
        if (isIn(betaInterval(passed, tasks * repeats, 0.95))) pooled++;
      }
      expect(covered / draws).toBeGreaterThan(0.93);
      if (tasks === 10) expect(pooled / draws).toBeLessThan(0.8);
    }
  });

  test('where one side lacks attempts, arms that are equally good win and lose alike', () => {
    const strings = (of: readonly string[]) =>
      of.reduce<readonly string[]>((all, choice) => all.flatMap((s) => [...choice].map((c) => s + c)), ['']);
    for (const chance of [0.2, 0.7]) {
      const of = (s: string) => [...s].reduce((p, c) => p * (c === 'x' ? 1 : c === '1' ? chance : 1 - chance), 1);
      let won = 0;
      let lost = 0;
      for (const skill of strings(['01', '01', '01']))
        for (const none of strings(['x', '01', 'x'])) {
          const [c] = evalSummary(rows([skill], [none]), arms, { ...options, attempts: 3 }).comparisons;
          won += (c?.wins ?? 0) * of(skill) * of(none);
          lost += (c?.losses ?? 0) * of(skill) * of(none);
        }
      expect(won).toBeGreaterThan(0.1);
      expect(won).toBeCloseTo(lost, 12);
    }
  });

  test('share and mean score count each task once, however many of its attempts are scored', () => {
    const [skill] = evalSummary(rows(['1xx', '000'], []), ['skill'], { ...options, attempts: 3 }).arms;
    expect([skill?.passed, skill?.scored, skill?.share, skill?.soft]).toEqual([1, 4, 0.5, 0.5]);
  });

  test('a task without a pass that both have scored is left out', () => {
    const s = evalSummary(rows(['1x', '1x'], ['x0', '00']), arms, { ...options, attempts: 2 });
    expect(s.comparisons[0]).toMatchObject({ wins: 1, losses: 0, pairs: 1, of: 2 });
  });

  test('tasks are compared by what passed', () => {
    const s = evalSummary(rows(['110', '11x', '000', 'xxx'], ['100', '10x', '000', '111']), arms, {
      ...options,
      attempts: 3,
    });
    expect(s.comparisons[0]).toMatchObject({ wins: 2, losses: 0, pairs: 3, of: 4 });
    expect(s.arms[0]?.passAt.map((p) => p.k)).toEqual([1, 2, 3]);
  });
});

describe('pass@k and pass^k', () => {
  /** All ways to choose k of n attempts. */
  function choices(n: number, k: number, from = 0): number[][] {
    if (k === 0) return [[]];
    return Array.from({ length: n - from }, (_, i) => from + i).flatMap((first) =>
      choices(n, k - 1, first + 1).map((rest) => [first, ...rest]),
    );
  }

  test('they are the means over all ways to choose k attempts', () => {
    for (let n = 1; n <= 6; n++)
      for (let c = 0; c <= n; c++)
        for (let k = 1; k <= n; k++) {
          const all = choices(n, k);
          const share = (holds: (chosen: number[]) => boolean) => all.filter(holds).length / all.length;
          const got = passAt([{ passed: c, scored: n }], k);
          expect(got.any).toBeCloseTo(
            share((s) => s.some((i) => i < c)),
            12,
          );
          expect(got.all).toBeCloseTo(
            share((s) => s.every((i) => i < c)),
            12,
          );
        }
  });

  test('tasks with too few scored attempts are left out and counted', () => {
    const list = [
      { passed: 1, scored: 1 },
      { passed: 1, scored: 3 },
    ];
    const one = passAt(list, 1);
    expect([one.k, one.tasks]).toEqual([1, 2]);
    expect(one.any).toBeCloseTo((1 + 1 / 3) / 2, 12);
    expect(one.all).toBeCloseTo((1 + 1 / 3) / 2, 12);
    expect(passAt(list, 3)).toEqual({ k: 3, any: 1, all: 0, tasks: 1 });
    expect(passAt(list, 4)).toEqual({ k: 4, any: null, all: null, tasks: 0 });
  });
});

describe('reading', () => {
  const row = (task: string, passed: boolean | null, read: boolean | null): EvalRow => ({
    task,
    arms: [
      { arm: 'skill', attempts: [attempt(passed, read)] },
      { arm: 'no-skill', attempts: [attempt(passed, null)] },
    ],
  });
  const list = [
    row('a', true, true),
    row('b', false, false),
    row('c', true, null),
    row('quiet', true, false),
    row('loud', false, true),
    row('dark', true, null),
  ];
  const silent = new Set(['quiet', 'loud', 'dark']);

  test('is counted over the attempts that can tell, and at tasks for which the skill is not meant for its staying shut', () => {
    const [skill, none] = evalSummary(list, arms, { ...options, silent }).arms;
    expect(skill?.read).toEqual([2, 4]);
    expect(skill?.keptShut).toEqual({ shut: 1, told: 2, of: 3 });
    expect(none).toMatchObject({ read: [0, 0], keptShut: null });
  });

  test('says nothing where the agent does not choose', () => {
    const [skill] = evalSummary(list, arms, { ...options, silent, opens: false }).arms;
    expect(skill?.keptShut).toEqual({ shut: 0, told: 0, of: 3 });
    expect(evalSummary(list, arms, options).arms[0]?.keptShut).toBeNull();
  });
});
