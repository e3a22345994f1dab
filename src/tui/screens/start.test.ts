import { expect, test } from 'bun:test';
import { lineWidth } from '../text.ts';
import { startFrame } from './start.ts';

const estimate = [
  'at most 125 rollouts: 100 of the budget, 25 run ahead',
  'about 15 to 75 reflections, in 46 to 390 calls of provider/optimizer',
  'about 98 k to 2.0 million tokens · about 1 min to 82 min',
  'about $0.12 to $3.09',
  'if the whole budget is used; tokens are estimated from characters, about 4 a token, and answers are guessed',
];
const frame = (columns: number, rows: number, busy: string | null = null) =>
  startFrame({ title: 'quiz · provider/target, provider/optimizer', estimate, busy }, { columns, rows });
const textOf = (columns: number, rows: number, busy: string | null = null) =>
  frame(columns, rows, busy)
    .map((l) =>
      l
        .map((s) => s.text)
        .join('')
        .trimEnd(),
    )
    .join('\n');

test('fills every size exactly', () => {
  for (const columns of [1, 8, 20, 40, 50, 80, 200])
    for (const rows of [2, 3, 10, 15, 24, 60]) {
      const lines = frame(columns, rows);
      expect(lines).toHaveLength(rows - 1);
      expect(lines.filter((l) => lineWidth(l) !== columns)).toEqual([]);
    }
});

test.each([
  [80, 24],
  [50, 15],
  [40, 12],
])('at %i×%i shows what it may cost and the key that begins it', (columns, rows) => {
  const text = textOf(columns, rows);
  expect(text).toContain('about $0.12 to $3.09');
  expect(text).toMatch(/ \[enter\] begin +\[q\] leave$/);
});

test('once it was begun, what happens stands in place of the keys', () => {
  expect(textOf(80, 24, 'asking each model once …')).toMatch(/\n asking each model once …$/);
});
