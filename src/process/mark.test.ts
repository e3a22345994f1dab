import { describe, expect, test } from 'bun:test';
import { carriesMark, type Mark } from './mark.ts';
import { findMarked, markedLines } from './reap-leftovers.ts';

const exact: Mark = { name: 'M', match: 'exact', value: 's/1' };
const prefix: Mark = { name: 'M', match: 'prefix', value: 's/' };

describe('a mark in an environment', () => {
  const cases: readonly (readonly [string, readonly string[], boolean, boolean])[] = [
    ['first', ['M=s/1', 'A=b'], true, true],
    ['last', ['A=b', 'M=s/1'], true, true],
    ['another rollout', ['M=s/12'], false, true],
    ['another session', ['M=t/1'], false, false],
    ['another name that ends alike', ['XM=s/1'], false, false],
    ['inside a value', ['A=M=s/1'], false, false],
    ['a false one before the true one', ['XM=s/1', 'M=s/1'], true, true],
    ['none', [], false, false],
  ];
  for (const [name, entries, isExact, isPrefix] of cases) {
    test(name, () => {
      const block = Buffer.from(entries.map((entry) => `${entry}\0`).join(''));
      expect(carriesMark(block, exact)).toBe(isExact);
      expect(carriesMark(block, prefix)).toBe(isPrefix);
    });
    test(`${name}, in a line of ps`, () => {
      const lines = `  41 /bin/sleep 60 ${entries.join(' ')}\n`;
      // A line has no border between a value and the next entry, so `A=M=…` is told apart by the missing blank alone.
      expect(markedLines(lines, exact, new Set()).map((found) => found.pid)).toEqual(isExact ? [41] : []);
      expect(markedLines(lines, prefix, new Set()).map((found) => found.pid)).toEqual(isPrefix ? [41] : []);
      expect(markedLines(lines, prefix, new Set([41]))).toEqual([]);
    });
  }
});

test('this process and those above it are never found', async () => {
  const path: Mark = { name: 'PATH', match: 'prefix', value: '' };
  const found = (await findMarked(path)).map((process) => process.pid);
  expect(found).not.toContain(process.pid);
  expect(found).not.toContain(process.ppid);
});
