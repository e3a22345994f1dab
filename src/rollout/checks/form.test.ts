import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Check } from '../../ports/task.ts';
import { formProblems } from './form.ts';
import { runCheck } from './run-check.ts';

const equals = (value: string, after: string | null): Check => ({
  kind: 'equals',
  value,
  ignoreCase: false,
  weight: 1,
  after,
});
const number = (value: number, after: string | null): Check => ({
  kind: 'number',
  value,
  tolerance: 0,
  weight: 1,
  after,
});
const json = (path: string, value: unknown): Check => ({ kind: 'json-path', path, value, weight: 1, after: null });

const jsonIn = (place: 'whole' | 'anywhere'): Check => ({ kind: 'json', place, weight: 1, after: null });

describe('what is said of a form', () => {
  test.each<[string, readonly Check[], string, readonly RegExp[]]>([
    ['the line that is looked for is missing', [equals('Paris', 'ANSWER:')], 'It is Paris.', [/begins with “ANSWER:”/]],
    ['the line is there, whatever it says', [equals('Paris', 'ANSWER:')], 'ANSWER: Rome', []],
    ['no JSON as a whole', [jsonIn('whole')], 'So: {"a": 1}', [/not JSON as a whole/]],
    ['no JSON anywhere', [jsonIn('anywhere')], 'So: none', [/holds no JSON/]],
    ['JSON that is asked for', [jsonIn('whole'), jsonIn('anywhere')], '{"a": 1}', []],
    ['no JSON', [json('a', 1)], 'a is 1', [/no JSON/]],
    ['JSON with another value', [json('a', 1)], '{"a": 2}', []],
    ['two numbers', [number(7, null)], 'It is 3 or 4.', [/exactly one number/]],
    ['another number', [number(7, null)], 'It is 3.', []],
    ['no number after the mark', [number(7, 'TOTAL:')], 'TOTAL: seven', [/What follows “TOTAL:”/]],
    ['the same twice is said once', [equals('a', 'X:'), equals('b', 'X:')], 'none', [/begins with “X:”/]],
    ['an empty answer', [equals('a', null)], '', []],
  ])('%s', (_name, checks, answer, said) => {
    const problems = formProblems(checks, answer);
    expect(problems.length).toBe(said.length);
    for (const [i, pattern] of said.entries()) expect(problems[i]).toMatch(pattern);
  });

  test('never names what was expected, and says nothing of an answer that passes', () => {
    const marks = fc.constantFrom(null, 'ANSWER:', 'TOTAL:');
    const answers = fc.oneof(fc.string(), fc.constantFrom('ANSWER: 12', 'TOTAL: {"a": 1}', '12'));
    fc.assert(
      fc.property(marks, answers, (after, answer) => {
        const secret = 'zq-9071-secret';
        expect(formProblems([equals(secret, after)], answer).join(' ')).not.toContain(secret);
        for (const check of [equals('12', after), number(12, after)])
          if (check.kind !== 'command' && runCheck(check, answer)) expect(formProblems([check], answer)).toEqual([]);
      }),
    );
  });
});
