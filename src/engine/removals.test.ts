import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Edit } from '../ports/edit.ts';
import { isRemoval, judgeRemoval, noRemovals, type Removals } from './removals.ts';

const cut = (target: string): Edit => ({ op: 'delete', target, content: '', cites: ['t0'], reason: '' });

/** Asks in order, `[round, target]`. */
function asked(...asks: readonly (readonly [number, string])[]): { fates: string[]; removals: Removals } {
  const removals = noRemovals();
  return { fates: asks.map(([round, target]) => judgeRemoval(removals, cut(target), round)), removals };
}

describe('what a removal is', () => {
  test.each([
    [{ op: 'delete', target: 'a', content: '' }, true],
    [{ op: 'replace', target: 'a', content: ' \n' }, true],
    [{ op: 'replace', target: 'a', content: 'b' }, false],
    [{ op: 'insert_after', target: 'a', content: '' }, false],
    [{ op: 'append_section', target: '', content: 'a' }, false],
  ] as const)('%j: %p', (edit, is) => {
    expect(isRemoval({ ...edit, cites: [], reason: '' })).toBe(is);
  });
});

describe('what becomes of a removal', () => {
  test('the first is tried; asked for by another round it goes in; from then on a new one waits', () => {
    expect(asked([1, 'a'], [2, 'a'], [2, 'b'], [3, 'b']).fates).toEqual(['try', 'again', 'wait', 'again']);
  });

  test('the same round does not ask again, and is told the same', () => {
    const { fates, removals } = asked([1, 'a'], [1, 'a'], [2, 'a'], [2, 'a']);
    expect(fates).toEqual(['try', 'try', 'again', 'again']);
    expect([removals.asked, removals.again]).toEqual([2, 1]);
  });

  test.each([
    ['a line', 'the start of a line', 'again'],
    ['the start of a line', 'a line', 'again'],
    ['one passage', 'another passage', 'try'],
    ['a line', 'a lin', 'again'],
    ['line a', 'line b', 'try'],
  ])('%j, then %j: %s', (first, second, fate) => {
    expect(asked([1, first], [2, second]).fates).toEqual(['try', fate]);
  });

  test.each([
    [11, 'again'],
    [12, 'try'],
  ])('%d rounds later: %s', (later, fate) => {
    expect(asked([1, 'a'], [1 + later, 'a']).fates[1]).toBe(fate);
  });

  test('when fewer than one in ten comes again, a removal is tried as before', () => {
    const others = (n: number) => Array.from({ length: n }, (_, i) => [i + 3, `other ${i} `] as const);
    const { fates } = asked([1, 'a'], [2, 'a'], ...others(9));
    expect(fates.slice(2)).toEqual([...Array<string>(8).fill('wait'), 'try']);
  });

  test('an optimizer that never repeats itself: every one is tried', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { maxLength: 60 }), (gaps) => {
        let round = 1;
        const asks = gaps.map((gap, i) => {
          round += gap;
          return [round, `<${i}>`] as const;
        });
        expect(asked(...asks).fates.every((f) => f === 'try')).toBe(true);
      }),
    );
  });

  test('what is remembered does not grow with the session', () => {
    const { removals } = asked(...Array.from({ length: 500 }, (_, i) => [i, `<${i % 40}>`] as const));
    expect(removals.recent.length).toBeLessThanOrEqual(12);
    expect(removals.asked).toBe(500);
  });
});
