import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { dockerIgnore, dockerPattern, MATCHING_STEPS, MatchingTooLong } from './docker-patterns.ts';

const budget = () => ({ steps: MATCHING_STEPS });
const matching = (pattern: string, paths: readonly string[], deep = false) =>
  paths.filter((path) => dockerPattern(pattern, deep)!.test(path, budget()));

test.each<[string, readonly string[], readonly string[]]>([
  ['*.txt', ['a.txt', '.txt'], ['a/b.txt', 'a.md']],
  ['a?c', ['abc', 'aéc', 'a🦀c'], ['a/c', 'ac']],
  ['[a-c]x', ['bx'], ['dx']],
  ['[^a]x', ['bx'], ['ax', '/x']],
  ['[\\]\\d]', [']', 'd'], ['1', '\\']],
  ['[[a]', ['[', 'a'], ['b']],
  ['a\\*b', ['a*b'], ['axb']],
  ['a.b+(c)', ['a.b+(c)'], ['axb+(c)']],
  ['d/*', ['d/x'], ['d/x/y', 'd']],
  ['**/x', ['a/x'], ['x', 'a/b/x']],
])('pattern %s', (pattern, yes, no) => {
  expect(matching(pattern, [...yes, ...no])).toEqual([...yes]);
});

test.each<[string, readonly string[], readonly string[]]>([
  ['**/x', ['x', 'a/x', 'a/b/x'], ['ax', 'a/xb', 'x/a']],
  ['a/**/x', ['a/x', 'a/b/x', 'a/b/c/x'], ['ax', 'a/bx', 'b/a/x']],
  ['a/**', ['a/x', 'a/b/c'], ['a', 'b']],
  ['**', ['a', 'a/b'], []],
  ['a**b', ['ab', 'a/x/b', 'axb'], ['a', 'b']],
  ['**/**/**/x', ['x', 'a/x', 'a/b/x'], ['ax']],
  ['***/x', ['a/x', 'a/b/x'], ['x']],
  ['**/*.log', ['.log', 'a/x.log'], ['a.logs']],
])('deep pattern %s', (pattern, yes, no) => {
  expect(matching(pattern, [...yes, ...no], true)).toEqual([...yes]);
});

test.each(['[a', 'a\\', '[z-a]', '[]', '[^]'])('pattern %s is malformed', (pattern) => {
  expect(dockerPattern(pattern, false)).toBeNull();
});

test('agrees with a regular expression of the same meaning', () => {
  const part = fc.constantFrom('a', 'b', '/', '*', '?', '**', '**/');
  const meaning: Record<string, string> = { '*': '[^/]*', '?': '[^/]', '**': '.*', '**/': '(?:.*/)?' };
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 7 }),
      (parts, path) => {
        const pattern = parts.join('');
        const readAgain = pattern.match(/\*\*\/|\*\*|./g) ?? [];
        const expression = new RegExp(`^${readAgain.map((one) => meaning[one] ?? one).join('')}$`);
        const own = dockerPattern(pattern, true)!;
        expect(own.test(path, budget())).toBe(expression.test(path));
        const prefixes = [...path.matchAll(/\/|$/g)].map(({ index }) => path.slice(0, index));
        expect(own.testAny(path, budget())).toBe(prefixes.some((prefix) => expression.test(prefix)));
      },
    ),
    { numRuns: 500 },
  );
});

describe('patterns that would go back and forth', () => {
  test.each([
    ['many **/', `${'**/'.repeat(24)}[z]`, true],
    ['**/a, again and again', `${'**/a'.repeat(24)}/[z]`, true],
    ['many *', `${'*'.repeat(200)}[z]`, false],
    ['*a, again and again', `${'*a'.repeat(100)}[z]`, false],
    ['* and ** by turns', `${'*a**'.repeat(50)}[z]`, true],
  ])('%s takes steps by the length of pattern and path', (_name, pattern, deep) => {
    const path = `${'a/'.repeat(100)}${'a'.repeat(800)}`;
    const left = budget();
    expect(dockerPattern(pattern, deep)!.test(path, left)).toBe(false);
    expect(MATCHING_STEPS - left.steps).toBeLessThan(3 * (pattern.length + 3) * path.length);
  });

  test('a budget that is used up ends the matching', () => {
    const left = { steps: 1000 };
    const ignores = dockerIgnore(Array.from({ length: 50 }, (_, n) => `**/*a*a*a[${n}]`).join('\n'), left);
    expect(() => ignores('a'.repeat(100))).toThrow(MatchingTooLong);
  });
});

test.each<[string, string, readonly string[], readonly string[]]>([
  ['names', 'secret.txt\n', ['secret.txt'], ['a/secret.txt']],
  ['folders with all below', '/build/\n', ['build', 'build/x/y'], ['a/build', 'builder/x']],
  ['at any depth', '**/*.log\n', ['a.log', 'x/y/a.log'], ['a.logs']],
  ['folders at any depth', '**/tmp\n', ['tmp', 'x/tmp/y'], ['x/tmpy']],
  ['exceptions', '*\n!keep\n', ['x', '.y'], ['keep', 'keep/x']],
  ['the last rule', '!a\na\n', ['a'], ['b']],
  ['comments, blanks, BOM', '\uFEFF# x\n\n  a  \r\n', ['a'], ['x', '# x']],
])('.dockerignore: %s', (_name, text, ignored, kept) => {
  const ignores = dockerIgnore(text, budget());
  expect([...ignored, ...kept].filter(ignores)).toEqual([...ignored]);
});
