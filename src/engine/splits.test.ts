import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SkilloptError } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { splitNames, type TaskRef } from '../ports/task.ts';
import { minSplitTasks } from './split-rules.ts';
import { makeSplits, type Splits, splitSizes, type WantedSplits } from './splits.ts';

function task(id: string, content = id, instruction = content): TaskRef {
  return { id, hash: sha256(`content ${content}`), instructionHash: sha256(`instruction ${instruction}`) };
}

function pack(total: number): readonly TaskRef[] {
  return Array.from({ length: total }, (_, index) => task(`t${index}`));
}

function refusal(make: () => unknown): { readonly what: string; readonly where: string; readonly fix: string } {
  try {
    make();
  } catch (error) {
    if (error instanceof SkilloptError && error.failure.code === 'splits') return error.failure;
    throw error;
  }
  throw new Error('was not refused');
}

function contents(splits: Splits) {
  return Object.fromEntries(splitNames.map((name) => [name, splits[name].map((one) => one.hash)]));
}

const even: WantedSplits = { ratio: { train: 1, selection: 1, test: 1 } };

describe('refusals', () => {
  const eight = pack(8);
  const ids = (...numbers: number[]) => numbers.map((number) => `t${number}`);
  const ratio = (train: number, selection: number, testPart: number): WantedSplits => ({
    ratio: { train, selection, test: testPart },
  });
  const cases: readonly [string, readonly TaskRef[], WantedSplits, RegExp][] = [
    ['three tasks in total', pack(3), even, /3 tasks in all, and three splits need at least 6: .*1–0.*two tasks/],
    ['five tasks named', pack(5), { train: ids(0), selection: ids(1, 2), test: ids(3, 4) }, /5 tasks in all/],
    ['no tasks', [], even, /0 tasks in all/],
    [
      'one task in a split',
      eight,
      { train: ids(0, 1, 2), selection: ids(3), test: ids(4, 5) },
      /selection has 1 task: .*1–0/,
    ],
    ['one task in test', eight, { train: ids(0, 1, 2), selection: ids(3, 4), test: ids(5) }, /test has 1 task/],
    ['all in test by ratio', eight, ratio(0, 0, 1), /all tasks are in test/],
    [
      'all in test by list',
      eight,
      { train: [], selection: [], test: ids(0, 1, 2, 3, 4, 5, 6, 7) },
      /all tasks are in test/,
    ],
    ['test: 0', eight, ratio(1, 1, 0), /test would be empty: no gain could be shown/],
    ['test: []', eight, { train: ids(0, 1), selection: ids(2, 3), test: [] }, /test would be empty/],
    ['train: 0', eight, ratio(0, 1, 1), /train would be empty/],
    ['selection: 0', eight, ratio(1, 0, 1), /selection would be empty/],
    ['all parts 0', eight, ratio(0, 0, 0), /train would be empty/],
    ['negative', eight, ratio(1, -1, 1), /-1 is no proportion/],
    ['NaN', eight, ratio(1, 1, Number.NaN), /NaN is no proportion/],
    ['infinite', eight, ratio(Number.POSITIVE_INFINITY, 1, 1), /Infinity is no proportion/],
    ['unknown id', eight, { train: ['t0', 'nope'], selection: ids(1, 2), test: ids(3, 4) }, /no task called nope/],
    [
      'in two lists',
      eight,
      { train: ids(0, 1), selection: ids(2, 3), test: ids(4, 1) },
      /t1 stands in train and in test/,
    ],
    [
      'twice in one list',
      eight,
      { train: ids(0, 0), selection: ids(2, 3), test: ids(4, 5) },
      /t0 is named twice in train/,
    ],
    [
      'one content under two ids, in train and test',
      [...eight, task('copy', 't0')],
      { train: ids(0, 1), selection: ids(2, 3), test: ['t4', 'copy'] },
      /t0 and copy are the same task/,
    ],
    ['one content under two ids, by ratio', [...eight, task('copy', 't0')], even, /t0 and copy are the same task/],
    [
      'one instruction in two splits',
      [...eight, task('alike', 'alike', 't0')],
      { train: ids(0, 1), selection: ids(2, 3), test: ['t4', 'alike'] },
      /t0 in train and alike in test have the same instruction/,
    ],
    ['one id twice', [...eight, task('t0', 'other')], even, /two tasks are called t0/],
    [
      'one instruction for nearly all',
      Array.from({ length: 7 }, (_, index) => task(`t${index}`, `t${index}`, index < 5 ? 'same' : `own ${index}`)),
      even,
      /too many tasks share an instruction/,
    ],
  ];
  test.each(cases)('%s', (_name, tasks, wanted, what) => {
    const failure = refusal(() => makeSplits(tasks, wanted, 'seed'));
    expect(failure.what).toMatch(what);
    expect(failure.where).not.toBe('');
    expect(failure.fix).not.toBe('');
  });
});

describe('by ratio', () => {
  const sizes: readonly [number, readonly [number, number, number], readonly [number, number, number]][] = [
    [6, [1, 1, 1], [2, 2, 2]],
    [7, [1, 1, 1], [3, 2, 2]],
    [8, [1, 1, 1], [3, 3, 2]],
    [20, [0.5, 0.25, 0.25], [10, 5, 5]],
    [30, [40, 30, 30], [12, 9, 9]],
    [10, [0.8, 0.1, 0.1], [6, 2, 2]],
    [10, [1e-9, 1, 1e-9], [2, 6, 2]],
    [11, [4, 3, 4], [4, 3, 4]],
    [12, [5, 3, 3], [6, 3, 3]],
    [6, [1e308, 1e308, 1e308], [2, 2, 2]],
  ];
  test.each(sizes)('%d tasks as %j are %j', (total, [train, selection, testPart], expected) => {
    const ratio = { train, selection, test: testPart };
    const splits = makeSplits(pack(total), { ratio }, 'seed');
    expect(splitNames.map((name) => splits[name].length)).toEqual([...expected]);
    expect(splitSizes(total, ratio)).toEqual({ train: expected[0], selection: expected[1], test: expected[2] });
  });

  test('another seed deals other tasks', () => {
    const dealt = new Set(
      Array.from({ length: 20 }, (_, seed) => JSON.stringify(contents(makeSplits(pack(20), even, `${seed}`)))),
    );
    expect(dealt.size).toBeGreaterThan(15);
  });

  test('each task comes into each split, over many seeds', () => {
    const homes = pack(9).map(() => new Set<string>());
    for (let seed = 0; seed < 60; seed++) {
      const splits = makeSplits(pack(9), even, `${seed}`);
      for (const name of splitNames) for (const one of splits[name]) homes[Number(one.id.slice(1))]?.add(name);
    }
    expect(homes.map((home) => home.size)).toEqual(homes.map(() => 3));
  });

  test('tasks with one instruction stay together, and a size that bends to that is told', () => {
    const tasks = [0, 1, 2, 3].map((index) => task(`same${index}`, `same${index}`, 'same')).concat(pack(5));
    const splits = makeSplits(tasks, even, 'seed');
    const homes = splitNames.filter((name) => splits[name].some((one) => one.id.startsWith('same')));
    expect(homes).toHaveLength(1);
    expect(splits[homes[0]!]).toHaveLength(4);
    expect(splits.warnings[0]).toMatch(
      /same instruction are kept in one split, so the sizes are .* and not 3 \/ 3 \/ 3/,
    );
  });

  test('groups that would starve a split are moved', () => {
    const tasks = ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'd'].map((group, index) => task(`t${index}`, `t${index}`, group));
    const splits = makeSplits(tasks, { ratio: { train: 2, selection: 1, test: 1 } }, 'seed');
    expect(splitNames.map((name) => splits[name].length).toSorted()).toEqual([2, 3, 3]);
  });
});

describe('by lists', () => {
  const tasks = pack(8);
  const lists = { train: ['t5', 't0'], selection: ['t4', 't1'], test: ['t2', 't3'] };

  test('each task goes where it is named; the rest is left out and told', () => {
    const splits = makeSplits(tasks, lists, 'seed');
    for (const name of splitNames) {
      expect(splits[name].map((one) => one.id).toSorted()).toEqual(lists[name].toSorted());
    }
    expect(splits.warnings.join('\n')).toMatch(/2 tasks of the pack stand in no split and are not used: t6, t7/);
  });

  test('an order within a list means nothing', () => {
    const turned = { train: ['t0', 't5'], selection: ['t1', 't4'], test: ['t3', 't2'] };
    expect(makeSplits(tasks, turned, 'seed')).toEqual(makeSplits(tasks, lists, 'other seed'));
  });

  test('two tasks with one instruction in one split are allowed', () => {
    const alike = [...tasks, task('alike', 'alike', 't0')];
    expect(makeSplits(alike, { ...lists, train: ['t0', 'alike'] }, 'seed').train).toHaveLength(2);
  });

  test('a copy of a task in no list is no harm', () => {
    expect(makeSplits([...tasks, task('copy', 't0')], lists, 'seed').train).toHaveLength(2);
  });
});

describe('a limit', () => {
  const lists: WantedSplits = {
    train: pack(12)
      .slice(0, 6)
      .map((one) => one.id),
    selection: ['t6', 't7', 't8', 't9'],
    test: ['t10', 't11'],
  };

  test.each([
    ['ratio', even],
    ['lists', lists],
  ] as const)('draws at most so many tasks of each split, the same for one seed: %s', (_, wanted) => {
    const whole = contents(makeSplits(pack(12), wanted, 'seed'));
    const cut = makeSplits(pack(12), wanted, 'seed', { most: 3 });
    for (const name of splitNames) {
      expect(cut[name].length).toBe(Math.min(3, whole[name]?.length ?? 0));
      expect(whole[name]).toEqual(expect.arrayContaining(cut[name].map((one) => one.hash)));
    }
    expect(makeSplits(pack(12).toReversed(), wanted, 'seed', { most: 3 })).toEqual(cut);
    expect(cut.warnings.join()).toContain('of the splits are not used: at most 3 of each split');
    expect(makeSplits(pack(12), wanted, 'seed', { most: 12 })).toEqual(makeSplits(pack(12), wanted, 'seed'));
  });

  test('a higher one draws the same tasks and others; another seed others', () => {
    const train = (limit: number, seed = 'seed') =>
      contents(makeSplits(pack(12), lists, seed, { most: limit })).train ?? [];
    for (let limit = 2; limit < 6; limit++) expect(train(limit + 1)).toEqual(expect.arrayContaining(train(limit)));
    expect(new Set(Array.from({ length: 12 }, (_, seed) => train(3, `${seed}`).join())).size).toBeGreaterThan(3);
  });

  test('warnings speak of what is left', () => {
    expect(makeSplits(pack(30), even, 'seed', { most: 4 }).warnings.join()).toContain('selection has only 4 tasks');
  });
});

describe('warnings', () => {
  const wanted = (selection: number, testTasks: number): WantedSplits => {
    const ids = pack(30).map((one) => one.id);
    return {
      train: ids.slice(0, 10),
      selection: ids.slice(10, 10 + selection),
      test: ids.slice(20, 20 + testTasks),
    };
  };
  const warned = (selection: number, testTasks: number) =>
    makeSplits(pack(30), wanted(selection, testTasks), 'seed').warnings.filter((line) => line.includes('has only'));

  test('seven tasks in selection: with what eight could see', () => {
    const lines = warned(7, 8);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^selection has only 7 tasks: even with 8 tasks .* 20 points in 85 % .* 10 points in 50 %/,
    );
  });

  test('three tasks in test: with what one task weighs', () => {
    expect(warned(8, 3)).toEqual([expect.stringMatching(/^test has only 3 tasks: one task .* by 33 points/)]);
  });

  test('none from eight on', () => {
    expect(warned(8, 8)).toEqual([]);
  });
});

describe('properties', () => {
  const tasks = fc
    .uniqueArray(fc.nat(10_000), { minLength: 6, maxLength: 60 })
    .map((numbers) => numbers.map((number) => task(`id${number}`, `${number}`)));
  const grouped = fc
    .tuple(fc.uniqueArray(fc.nat(10_000), { minLength: 6, maxLength: 40 }), fc.integer({ min: 1, max: 8 }))
    .map(([numbers, kinds]) =>
      numbers.map((number) => task(`id${number}`, `${number}`, number % 3 === 0 ? `kind${number % kinds}` : undefined)),
    );
  const part = fc.double({ min: 0.001, max: 1000, noNaN: true });
  const ratio = fc.record({ train: part, selection: part, test: part });

  test('order and names mean nothing', () => {
    fc.assert(
      fc.property(grouped, ratio, fc.string(), fc.infiniteStream(fc.nat()), (list, parts, seed, numbers) => {
        const changed = list
          .map((one, index) => ({ one: { ...one, id: `renamed ${index}` }, rank: numbers.next().value as number }))
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ one }) => one);
        const split = (refs: readonly TaskRef[]) => {
          try {
            return contents(makeSplits(refs, { ratio: parts }, seed));
          } catch (error) {
            if (error instanceof SkilloptError) return error.failure.what;
            throw error;
          }
        };
        expect(split(changed)).toEqual(split(list));
      }),
    );
  });

  test('disjoint, complete, in the order of contents, at least two each, near the ratio', () => {
    fc.assert(
      fc.property(tasks, ratio, fc.string(), (list, parts, seed) => {
        const splits = makeSplits(list, { ratio: parts }, seed);
        const all = splitNames.flatMap((name) => splits[name]);
        expect(all.map((one) => one.id).toSorted()).toEqual(list.map((one) => one.id).toSorted());
        const sum = parts.train + parts.selection + parts.test;
        const bound = splitNames.some((name) => (list.length * parts[name]) / sum < minSplitTasks);
        for (const name of splitNames) {
          const hashes = splits[name].map((one) => one.hash);
          expect(hashes).toEqual(hashes.toSorted());
          expect(hashes.length).toBeGreaterThanOrEqual(minSplitTasks);
          if (!bound) expect(Math.abs(hashes.length - (list.length * parts[name]) / sum)).toBeLessThan(1 + 1e-9);
        }
      }),
    );
  });

  test('one instruction is never in two splits', () => {
    fc.assert(
      fc.property(grouped, ratio, fc.string(), (list, parts, seed) => {
        let splits: Splits;
        try {
          splits = makeSplits(list, { ratio: parts }, seed);
        } catch (error) {
          if (error instanceof SkilloptError) return;
          throw error;
        }
        const homes = new Map<string, string>();
        for (const name of splitNames) {
          expect(splits[name].length).toBeGreaterThanOrEqual(minSplitTasks);
          for (const one of splits[name]) {
            expect(homes.get(one.instructionHash) ?? name).toBe(name);
            homes.set(one.instructionHash, name);
          }
        }
      }),
    );
  });
});
