import { expect, test } from 'bun:test';
import { wrapped } from './io.ts';

test('a long line goes on below its text', () => {
  const text = 'result      sealed test: 7/8 with the result, 2/8 with the seed, 0/8 without a skill';
  expect(wrapped(text, 50).split('\n')).toEqual([
    'result      sealed test: 7/8 with the result, 2/8',
    '            with the seed, 0/8 without a skill',
  ]);
  expect(wrapped(text, 200)).toBe(text);
  expect(wrapped(text, 20)).toBe(text);
  for (const line of wrapped(`label       ${'汉字🦀'.repeat(40)}`, 60).split('\n'))
    expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
});
