import { describe, expect, test } from 'bun:test';
import { regexProblem } from './regex-problem.ts';

describe('regular expressions of checks', () => {
  test.each([
    '^a+$',
    '(\\d+,)*\\d+',
    '(?:[a-z]+\\s)+',
    '(a|b)*',
    '(.|\\n)*',
    '(?:\\d{3}){2}',
    '^(\\w+\\s?)$',
    '(ab+c)+',
    '(?:-?\\d+(?:\\.\\d+)?,)*x',
    '[(a+)+]',
    '\\(a+\\)+',
    '(?<y>\\d{4})-\\k<y>',
    '(foo|far)+',
    '(a|ab)*c',
    '(ab*)*c',
    '(?:\\r\\n|\\n)*',
    '(?:ab?){3}',
    '(?:[A-Z][a-z]+ )*x',
    '[^"]*"(?:[^"\\\\]|\\\\.)*"',
  ])('%s is taken', (pattern) => {
    expect(regexProblem(pattern, '')).toBeNull();
  });

  test.each([
    '(a+)+$',
    '(a*)*',
    '(a?){30}a{30}',
    '(?:x?y?)*z',
    '(\\d|\\d\\d)+$',
    '(?:\\r\\n|\\r|\\n)*x',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(\\w+\\s?)+$',
    '(.*,)+x',
    '(a|a)*$',
    '(\\s|.)*x',
    '((a+)b?)*',
    '(?:x*){10,}',
    '(?=(a+)+b)',
    '([a-z]+[0-9]*)+!',
    '((?:\\d|\\w)+)y',
  ])('%s is refused', (pattern) => {
    expect(regexProblem(pattern, '')?.what).toContain('repetitions inside each other');
  });

  test('letters of either case meet under the flag i alone', () => {
    expect(regexProblem('(a+A)+', '')).toBeNull();
    expect(regexProblem('(a+A)+', 'i')).not.toBeNull();
    expect(regexProblem('(.|\\n)*', 's')).not.toBeNull();
  });

  test('what does not compile, and flags that keep a state, are refused in words', () => {
    expect(regexProblem('[', '')?.what).not.toBe('');
    expect(regexProblem('\\p{L}', 'u')).toBeNull();
    for (const flag of ['g', 'y', 'd', 'x']) expect(regexProblem('a', flag)?.what).toContain(`flag "${flag}"`);
    expect(regexProblem('a', 'ii')).not.toBeNull();
  });
});
