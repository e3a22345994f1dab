import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SkilloptError } from '../ports/failure.ts';
import { splitNames } from '../ports/task.ts';
import { makeSplits, type WantedSplits } from './splits.ts';
import { makeTriggerSplits, type TriggerRef } from './trigger-splits.ts';

const task = (n: number, shouldTrigger?: boolean): TriggerRef => ({
  id: `t${n}`,
  hash: `hash of ${n}`,
  instructionHash: `instruction of ${n}`,
  ...(shouldTrigger === undefined ? {} : { shouldTrigger }),
});
const pack = (yes: number, no: number) => Array.from({ length: yes + no }, (_, n) => task(n, n < yes));
const thirds: WantedSplits = { ratio: { train: 1, selection: 1, test: 1 } };

/** What it is refused with. */
function refusal(tasks: readonly TriggerRef[], wanted = thirds): string {
  try {
    makeTriggerSplits(tasks, wanted, '1');
    return '';
  } catch (e) {
    if (!(e instanceof SkilloptError)) throw e;
    return `${e.failure.code}: ${e.failure.what} (${e.failure.where}); ${e.failure.fix}`;
  }
}

describe('by a ratio', () => {
  const counts = fc.record({ yes: fc.integer({ min: 3, max: 30 }), no: fc.integer({ min: 3, max: 30 }) });
  const part = fc.integer({ min: 1, max: 5 });
  const ratios = fc.record({ train: part, selection: part, test: part });

  test('each split holds both kinds, each task stands in one, and the order of the pack is no matter', () => {
    fc.assert(
      fc.property(counts, ratios, fc.string({ maxLength: 3 }), ({ yes, no }, ratio, seed) => {
        const tasks = pack(yes, no);
        const splits = makeTriggerSplits(tasks, { ratio }, seed);
        const kindOf = new Map(tasks.map((t) => [t.id, t.shouldTrigger]));
        for (const name of splitNames) {
          const kinds = new Set(splits[name].map((t) => kindOf.get(t.id)));
          expect([...kinds].toSorted()).toEqual([false, true]);
        }
        const all = splitNames.flatMap((name) => splits[name].map((t) => t.id));
        expect(all.toSorted()).toEqual(tasks.map((t) => t.id).toSorted());
        expect(makeTriggerSplits(tasks.toReversed(), { ratio }, seed)).toEqual(splits);
      }),
    );
  });

  test('a limit leaves both kinds in each split', () => {
    for (const most of [2, 3, 5]) {
      const tasks = pack(20, 8);
      const splits = makeTriggerSplits(tasks, thirds, '1', { most });
      for (const name of splitNames) {
        const meant = splits[name].filter((t) => tasks.find((other) => other.id === t.id)?.shouldTrigger).length;
        expect(splits[name].length).toBe(most);
        expect(meant).toBeGreaterThan(0);
        expect(meant).toBeLessThan(most);
      }
    }
  });

  test('sizes of each kind follow the ratio', () => {
    const { train, selection, test: sealed } = makeTriggerSplits(pack(12, 12), thirds, 'x');
    expect([train.length, selection.length, sealed.length]).toEqual([8, 8, 8]);
  });

  test('another seed draws otherwise', () => {
    const drawn = new Set(
      ['1', '2', '3'].map((seed) => JSON.stringify(makeTriggerSplits(pack(8, 8), thirds, seed).train)),
    );
    expect(drawn.size).toBe(3);
  });

  test('tasks with one instruction stay together', () => {
    const twins = [...pack(6, 6), { ...task(20, true), instructionHash: 'instruction of 0' }];
    const splits = makeTriggerSplits(twins, thirds, '1');
    const home = splitNames.find((name) => splits[name].some((t) => t.id === 't0'));
    expect(home !== undefined && splits[home].some((t) => t.id === 't20')).toBe(true);
  });
});

describe('refused', () => {
  test.each([
    ['none is meant', pack(0, 8), '"should_trigger": true'],
    ['all are meant', pack(8, 0), 'the description that triggers always would be the best one'],
    ['too few of a kind', pack(8, 2), 'only 2 tasks with "should_trigger": false'],
    [
      'tasks that don’t say',
      [...pack(6, 6), task(30), task(31)],
      '2 tasks do not say whether the skill is meant for them: t30, t31',
    ],
    [
      'one prompt with both answers',
      [...pack(4, 4), { ...task(30, true), instructionHash: 'instruction of 7' }],
      't7 and t30 ask the same',
    ],
    ['one content under two names', [...pack(4, 4), { ...task(0, true), id: 'again' }], 'are the same task'],
  ] as const)('%s', (_name, tasks, expected) => {
    expect(refusal(tasks)).toStartWith('splits: ');
    expect(refusal(tasks)).toContain(expected);
  });

  test('names a few of many that don’t say', () => {
    const silent = Array.from({ length: 200 }, (_, n) => task(n));
    expect(refusal(silent)).toContain('and 192 more');
    expect(refusal(silent).length).toBeLessThan(400);
  });
});

describe('by lists', () => {
  const lists = { train: ['t0', 't4'], selection: ['t1', 't5'], test: ['t2', 't6'] };

  test('taken as they are; tasks in no split need not say', () => {
    const tasks = [...pack(4, 4), task(9)];
    expect(makeTriggerSplits(tasks, lists, '1')).toEqual(makeSplits(tasks, lists, '1'));
  });

  test('each has to hold both kinds', () => {
    expect(refusal(pack(4, 4), { ...lists, selection: ['t1', 't3'] })).toContain(
      'selection has no task with "should_trigger": false',
    );
  });
});
