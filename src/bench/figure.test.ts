import { expect, test } from 'bun:test';
import { asJson, asLines, type Figure, isMet, median, standing } from './figure.ts';

const figure: Figure = {
  name: 'replay',
  what: 'verify against parsing',
  value: 2.5,
  unit: '×',
  target: { atMost: 3 },
  n: 5,
  measured: { verifyMs: 1234.5, parseMs: 49.38 },
  note: '',
};

test.each([
  [[3], 3],
  [[5, 1, 3], 3],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100, 1], 9.5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('nothing has no median', () => {
  expect(() => median([])).toThrow('no median');
});

test.each([
  ['below its ceiling', 2.9, { atMost: 3 }, true],
  ['at its ceiling', 3, { atMost: 3 }, true],
  ['above its ceiling', 3.01, { atMost: 3 }, false],
  ['at its floor', 7.8, { atLeast: 7.8 }, true],
  ['below its floor', 7.7, { atLeast: 7.8 }, false],
  ['no number under a ceiling', Number.NaN, { atMost: 3 }, false],
  ['no number over a floor', Number.NaN, { atLeast: 3 }, false],
] as const)('a figure %s', (_what, value, target, met) => {
  expect(isMet({ value, target })).toBe(met);
});

test('a line says the figure, its target and whether it is met; the next one its sides', () => {
  const missed: Figure = { ...figure, name: 'workers', value: 7.1, target: { atLeast: 7.8 }, note: 'two cores' };
  expect(asLines([figure, missed])).toEqual([
    'replay   2.50 ×           at most 3      met',
    '         verify against parsing · n = 5 · verifyMs 1235, parseMs 49.4',
    'workers  7.10 ×           at least 7.8   NOT MET',
    '         verify against parsing · n = 5 · verifyMs 1235, parseMs 49.4',
    '         two cores',
  ]);
});

test('the JSON value is met as a whole only when each figure is', () => {
  const missed = { ...figure, value: 4 };
  expect(asJson([figure], 'here')).toEqual({
    machine: 'here',
    met: true,
    figures: [{ ...figure, met: true, standing: 'met' }],
    unmeasured: [],
  });
  expect(asJson([figure, missed], 'here')).toMatchObject({ met: false, figures: [{ met: true }, { met: false }] });
  expect(JSON.parse(JSON.stringify(asJson([figure], 'here')))).toEqual(asJson([figure], 'here'));
});

test('what can’t be measured is said with its reason, and fails nothing', () => {
  const none = { name: 'sandbox', unmeasured: 'bubblewrap is not installed' };
  expect(asLines([figure, none]).at(-1)).toBe('sandbox  not measured: bubblewrap is not installed');
  expect(asJson([figure, none], 'here')).toMatchObject({
    met: true,
    figures: [{ name: 'replay' }],
    unmeasured: [{ name: 'sandbox', why: 'bubblewrap is not installed' }],
  });
});

test.each([
  ['below its target', 1.4, 2.5, 'met'],
  ['near its floor', 2.7, 2.5, 'at the floor'],
  ['far above it', 3.1, 2.5, 'not met'],
] as const)('a figure %s stands so', (_what, value, floor, stands) => {
  expect(standing({ value, target: { atMost: 1.5 }, floor })).toBe(stands);
  expect(standing({ value, target: { atMost: 1.5 } })).toBe(value <= 1.5 ? 'met' : 'not met');
});
