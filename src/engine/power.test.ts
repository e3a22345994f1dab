import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GateRuleName } from '../events/loop-facts.ts';
import type { Power } from '../events/power.ts';
import { scored } from '../ports/outcome.ts';
import { oneGate } from './gate-fixture.ts';
import { acceptanceChance, enoughTasks, gatePower, type PairChance, type PowerTask } from './power.ts';
import { FUTILITY, gateRule } from './rules.ts';
import { signTestAtMost } from './stats.ts';

const rules = ['balanced', 'bold', 'careful', 'skillopt'] as const;

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
function drawn(seed: number): () => number {
  let s = seed | 0;
  return () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Draw = () => number;
type Outcomes = readonly (readonly (0 | 1)[])[];

const pass = (chance: number, draw: Draw): 0 | 1 => (draw() < chance ? 1 : 0);
const outcome = (hard: 0 | 1) => scored({ reward: hard }, hard, 1, { read: true });

/** Half of the tasks pass seldom, half often: the packs of the published table. */
const noises = { low: [0.05, 0.95], high: [0.35, 0.75] } as const;
const pack = (n: number, noise: keyof typeof noises) => Array.from({ length: n }, (_, i) => noises[noise][i % 2] ?? 0);

/** A draft worth so many points turns failing runs into passing ones, each with the same chance. */
function lifted(before: readonly number[], points: number): readonly number[] {
  const room = before.reduce((sum, p) => sum + 1 - p, 0) / before.length;
  return before.map((p) => p + (points / 100 / room) * (1 - p));
}

const fresh = (p: number, q: number): PairChance => ({ win: q * (1 - p), loss: p * (1 - q) });
const against = (known: 0 | 1, q: number): PairChance => (known === 1 ? { win: 0, loss: 1 - q } : { win: q, loss: 0 });

/** Share of real gates that accept; block 0 compares with `known`, if it is given. */
async function simulated(
  many: number,
  rule: GateRuleName,
  p: readonly number[],
  q: readonly number[],
  draw: Draw,
  known?: readonly (0 | 1)[],
): Promise<number> {
  let accepted = 0;
  for (let i = 0; i < many; i++) {
    const { decided } = await oneGate(p.length, rule, (who, task, attempt) => {
      if (who === 'candidate') return outcome(pass(q[task] ?? 0, draw));
      return outcome((attempt === 0 ? known?.[task] : undefined) ?? pass(p[task] ?? 0, draw));
    });
    if (decided.gateAction === 'accept') accepted++;
  }
  return accepted / many;
}

const tasksOf = (outcomes: Outcomes): PowerTask[] =>
  outcomes.map((of) => ({
    passes: of.filter((o) => o === 1).length,
    scored: of.length,
    banked: of.slice(0, 1),
  }));

const once = (passes: number, tasks: number): PowerTask[] =>
  tasksOf(Array.from({ length: tasks }, (_, i) => [i < passes ? 1 : 0]));

function told(p: Power) {
  if (p.kind === 'untold') throw new Error(p.why);
  return p;
}

describe('the chance of acceptance', () => {
  test('on a small gate it is the sum over all that can come', () => {
    const pair = fc
      .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([p, q]) => fresh(p, q));
    const block = fc.array(pair, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...rules), fc.tuple(block, block, block), (name, given) => {
        const rule = gateRule(name, 0);
        const blocks = given.slice(0, rule.blocks);
        const from = (at: number, wins: number, losses: number): number => {
          const better = (level: number) => wins > losses && signTestAtMost(wins, losses, level);
          if (at === blocks.length) return better(rule.alpha) ? 1 : 0;
          if (at > 0 && !better(FUTILITY)) return 0;
          if (at > 0 && better(rule.early)) return 1;
          const pairs = blocks[at] ?? [];
          const over = (next: number, w: number, l: number): number => {
            const pair = pairs[next];
            if (pair === undefined) return from(at + 1, w, l);
            const { win, loss } = pair;
            return (
              win * over(next + 1, w + 1, l) + loss * over(next + 1, w, l + 1) + (1 - win - loss) * over(next + 1, w, l)
            );
          };
          return over(0, wins, losses);
        };
        expect(acceptanceChance(rule, blocks)).toBeCloseTo(from(0, 0, 0), 5);
      }),
    );
  });

  // bench-world/operating.py, 3000 gates a figure: neutral, +5, +10, +20 points
  test.each([
    ['low', 8, 'bold', [0.24, 0.45, 0.67, 0.89]],
    ['low', 8, 'balanced', [0.09, 0.27, 0.5, 0.85]],
    ['low', 8, 'careful', [0.08, 0.25, 0.45, 0.85]],
    ['low', 24, 'bold', [0.36, 0.68, 0.88, 1]],
    ['low', 24, 'balanced', [0.22, 0.56, 0.85, 0.99]],
    ['low', 24, 'careful', [0.15, 0.53, 0.85, 1]],
    ['low', 48, 'bold', [0.4, 0.81, 0.97, 1]],
    ['low', 48, 'balanced', [0.23, 0.74, 0.97, 1]],
    ['low', 48, 'careful', [0.2, 0.75, 0.98, 1]],
    ['high', 8, 'bold', [0.38, 0.47, 0.57, 0.74]],
    ['high', 8, 'balanced', [0.23, 0.31, 0.41, 0.63]],
    ['high', 8, 'careful', [0.18, 0.25, 0.37, 0.63]],
    ['high', 24, 'bold', [0.44, 0.59, 0.72, 0.93]],
    ['high', 24, 'balanced', [0.27, 0.45, 0.64, 0.89]],
    ['high', 24, 'careful', [0.22, 0.41, 0.61, 0.9]],
    ['high', 48, 'bold', [0.45, 0.66, 0.83, 0.98]],
    ['high', 48, 'balanced', [0.29, 0.54, 0.77, 0.98]],
    ['high', 48, 'careful', [0.26, 0.52, 0.79, 0.98]],
  ] as const)('%s noise, %i tasks, %s: as the simulated table says', (noise, n, name, published) => {
    const rule = gateRule(name, 0);
    const before = pack(n, noise);
    const [low, high] = noises[noise];
    const got = [0, 5, 10, 20].map((points) => {
      // there a gain makes the first tasks that pass seldom pass often
      let left = (points / 100) * n;
      const after = before.map((p) => {
        const step = p === low ? Math.min(left, high - low) : 0;
        left -= step;
        return p + step;
      });
      const block = before.map((p, i) => fresh(p, after[i] ?? 0));
      return acceptanceChance(
        rule,
        Array.from({ length: rule.blocks }, () => block),
      );
    });
    for (const [i, chance] of got.entries()) expect(Math.abs(chance - (published[i] ?? 0))).toBeLessThan(0.03);
  });

  test.each([
    [8, 'low', 0],
    [8, 'high', 20],
    [24, 'low', 5],
    [24, 'high', 10],
    [60, 'low', 0],
    [60, 'high', 5],
  ] as const)('%i tasks, %s noise, +%i points: as often as the real gate accepts', async (n, noise, points) => {
    const draw = drawn(n * 100 + points);
    const p = pack(n, noise);
    const q = lifted(p, points);
    const known = p.map((chance) => pass(chance, draw));
    // on large packs without skillopt, whose gate is that of bold
    for (const name of rules.slice(0, n < 60 ? 4 : 3)) {
      const rule = gateRule(name, 0);
      const later = p.map((chance, i) => fresh(chance, q[i] ?? 0));
      const first = known.map((k, i) => against(k, q[i] ?? 0));
      const exact = acceptanceChance(
        rule,
        Array.from({ length: rule.blocks }, (_, block) => (block === 0 ? first : later)),
      );
      expect(Math.abs(exact - (await simulated(3000, name, p, q, draw, known)))).toBeLessThan(0.03);
    }
  });
});

describe('the power of a gate, from what the seed has shown', () => {
  const arcsine = (draw: Draw) => Math.sin((Math.PI / 2) * draw()) ** 2;
  const worlds = {
    // the middle that is taken where a task has one outcome: half of its variance is noise
    middle: (n: number, draw: Draw) => Array.from({ length: n }, () => arcsine(draw)),
    low: (n: number) => pack(n, 'low'),
    high: (n: number) => pack(n, 'high'),
  } as const;

  test.each([
    ['middle', 24, 1, 'balanced'],
    ['middle', 60, 1, 'bold'],
    ['low', 8, 3, 'balanced'],
    ['low', 24, 3, 'careful'],
    ['low', 60, 3, 'bold'],
    ['high', 8, 3, 'skillopt'],
    ['high', 24, 3, 'balanced'],
    ['high', 60, 3, 'careful'],
  ] as const)(
    'world %s, %i tasks, %i outcomes each, %s: real gates accept as often, over many packs',
    async (world, n, each, name) => {
      const draw = drawn(n + each);
      const packs = 300;
      const points = [0, 10] as const;
      const off = [0, 0];
      for (let i = 0; i < packs; i++) {
        const p = worlds[world](n, draw);
        const outcomes = p.map((chance) => Array.from({ length: each }, () => pass(chance, draw)));
        const power = told(gatePower(tasksOf(outcomes), gateRule(name, 0), 'hard'));
        const known = outcomes.map((of) => of[0] ?? 0);
        for (const [at, more] of points.entries()) {
          const chance = at === 0 ? power.neutral : (power.effects.find((e) => e.points === more)?.chance ?? 0);
          const share = await simulated(6, name, p, lifted(p, more), draw, known);
          off[at] = (off[at] ?? 0) + (chance - share) / packs;
        }
      }
      // 3 points, and the error of 3000 gates on 300 packs
      for (const mean of off) expect(Math.abs(mean)).toBeLessThan(0.03 + 0.012);
    },
  );

  test('more points are never found less often, and the smallest ones found are the smallest', () => {
    const tasks = fc.array(
      fc
        .tuple(fc.nat(3), fc.nat(3), fc.constantFrom<0 | 1 | null>(0, 1, null))
        .map(([passes, more, first]): PowerTask => {
          const scored = passes + more + (first === null ? 0 : 1);
          return { passes: passes + (first ?? 0), scored, banked: [first] };
        }),
      { minLength: 2, maxLength: 12 },
    );
    fc.assert(
      fc.property(tasks, fc.constantFrom(...rules), (given, name) => {
        const power = gatePower(given, gateRule(name, 0), 'hard');
        if (power.kind === 'untold') return expect(given.every((t) => t.scored === 0)).toBe(true);
        const chances = [power.neutral, ...power.effects.flatMap((e) => (e.chance === null ? [] : [e.chance]))];
        expect(chances).toEqual([...chances].sort((a, b) => a - b));
        for (const [least, wanted] of [
          [power.half, 0.5],
          [power.likely, 0.8],
        ] as const)
          for (const { points, chance } of power.effects) {
            if (chance === null) continue;
            if (least !== null && points >= least) expect(chance).toBeGreaterThanOrEqual(wanted);
            else expect(chance).toBeLessThan(wanted);
          }
        const large = power.effects.at(-1)?.chance ?? null;
        if (large !== null) expect(power.underpowered).toBe(power.half === null || power.half > 20);
      }),
      { numRuns: 60 },
    );
  });

  test('more tasks see more; a middling pack of eight is not enough for ten points', () => {
    const [few, many] = [8, 48].map((n) => told(gatePower(once(n / 2, n), gateRule('balanced', 0), 'hard')));
    expect(few?.half).toBeGreaterThan(10);
    expect(many?.half).toBeLessThan(6);
    expect(few?.noise).toBe('assumed');
  });

  test('a gain that there is no room for has no chance to tell', () => {
    const power = told(gatePower(once(22, 24), gateRule('balanced', 0), 'hard'));
    expect(power.effects.map((e) => [e.points, e.chance === null])).toEqual([
      [5, false],
      [10, true],
      [20, true],
    ]);
    const full = told(gatePower(once(8, 8), gateRule('balanced', 0), 'hard'));
    expect(full).toMatchObject({ neutral: 0, half: null, likely: null, underpowered: true });
  });

  test('two tasks, and careful: even 20 points are mostly missed', () => {
    const power = told(gatePower(once(1, 2), gateRule('careful', 0), 'hard'));
    expect(power).toMatchObject({ underpowered: true, tasks: 2, scored: 2 });
  });

  test.each(rules.flatMap((name) => [once(1, 2), once(1, 6), once(4, 6), once(8, 8)].map((t) => [name, t] as const)))(
    '%s: so many tasks like these are enough, a step fewer are not',
    (name, tasks) => {
      const rule = gateRule(name, 0);
      const enough = enoughTasks(tasks, rule);
      const chanceOf = (n: number) => {
        const many = Array.from({ length: n }, (_, i) => tasks[i % tasks.length]!);
        return told(gatePower(many, rule, 'hard')).effects.find((e) => e.points === 20)?.chance ?? 0;
      };
      if (enough === null) return expect(chanceOf(200)).toBeLessThan(0.8);
      const step = Math.max(1, Math.ceil(tasks.length / 4));
      expect(chanceOf(enough)).toBeGreaterThanOrEqual(0.799);
      if (enough - step > tasks.length) expect(chanceOf(enough - step)).toBeLessThan(0.8);
    },
  );

  test('a known outcome that could not be scored is no pair', () => {
    const lost: PowerTask = { passes: 0, scored: 0, banked: [null] };
    const [without, having] = [once(4, 12), [...once(4, 12), lost, lost]].map((t) =>
      told(gatePower(t, gateRule('bold', 0), 'hard')),
    );
    expect(having?.neutral).toBe(without?.neutral ?? -1);
    expect(having).toMatchObject({ tasks: 14, scored: 12 });
  });

  test('no figure is better than a wrong one', () => {
    const untold = (tasks: PowerTask[], metric: 'hard' | 'soft' | 'mixed') =>
      gatePower(tasks, gateRule('balanced', 0), metric).kind;
    expect(untold(once(4, 8), 'soft')).toBe('untold');
    expect(untold(once(4, 8), 'mixed')).toBe('untold');
    expect(untold([{ passes: 0, scored: 0, banked: [null] }], 'hard')).toBe('untold');
    expect(untold(once(100, 201), 'hard')).toBe('untold');
    expect(untold([], 'hard')).toBe('untold');
  });
});
