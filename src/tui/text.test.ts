import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  clock,
  cut,
  ends,
  fill,
  fit,
  type Line,
  lineWidth,
  pad,
  padLeft,
  rule,
  span,
  widthOf,
  windowed,
  wrap,
} from './text.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '汉字漢字',
    '🦀🦀',
    'e\u0301e\u0301',
    '\u001b[31mred',
    'a\tb',
    '\u202eabc',
    '→ — é 汉 🦀',
    '👩‍👩‍👧 family',
    '',
  ),
);
const anyLine = fc
  .array(fc.tuple(anyText, fc.constantFrom('plain', 'good' as const)), { maxLength: 5 })
  .map((parts): Line => parts.map(([t, tone]) => span(t, tone as 'plain')));
const width = fc.integer({ min: 0, max: 60 });

describe('text on a screen', () => {
  test('is never wider than it may be, and never holds what steers a terminal', () => {
    fc.assert(
      fc.property(anyText, width, (text, w) => {
        for (const shown of [cut(text, w), pad(text, w), padLeft(text, w)]) {
          expect(widthOf(shown)).toBeLessThanOrEqual(w);
          expect(shown).not.toMatch(/[\p{Cc}]|\u202e/u);
        }
        expect(widthOf(pad(text, w))).toBe(w);
        expect(widthOf(padLeft(text, w))).toBe(w);
      }),
      { numRuns: 500 },
    );
  });

  test('a line fits, and is filled to the column', () => {
    fc.assert(
      fc.property(anyLine, anyLine, width, (l, r, w) => {
        expect(lineWidth(fit(l, w))).toBeLessThanOrEqual(w);
        expect(lineWidth(fill(l, w))).toBe(w);
        expect(lineWidth(ends(l, r, w))).toBe(w);
      }),
      { numRuns: 500 },
    );
  });

  test('what fits is left whole', () => {
    expect(cut('rename-table', 12)).toBe('rename-table');
    expect(cut('rename-table', 11)).toBe('rename-tab…');
    expect(cut('汉字漢字', 5)).toBe('汉字…');
    expect(fit([span('ab'), span('cd')], 4)).toEqual([span('ab'), span('cd')]);
    expect(
      fit([span('ab'), span('cd')], 3)
        .map((s) => s.text)
        .join(''),
    ).toBe('ab…');
  });

  test('words wrap with an indent, and no part is wider', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 10, max: 40 }), (text, w) => {
        for (const part of wrap(text, w, 3)) expect(widthOf(part)).toBeLessThanOrEqual(w);
      }),
    );
    expect(wrap('it lost as many tasks as it won', 16, 2)).toEqual(['it lost as', '  many tasks as', '  it won']);
  });

  test.each([
    [0, '0:00'],
    [41_900, '0:41'],
    [725_000, '12:05'],
    [3_729_000, '1:02:09'],
    [-5, '0:00'],
  ])('%d ms are %s', (ms, shown) => expect(clock(ms)).toBe(shown));

  test('a rule is as wide as it is asked to be', () => {
    for (const w of [0, 3, 10, 40]) {
      expect(lineWidth(rule('feed', w))).toBeLessThanOrEqual(w);
      expect(lineWidth(fill(rule('feed', w), w))).toBe(w);
    }
    expect(
      rule('feed', 20, '3 of 4')
        .map((s) => s.text)
        .join(''),
    ).toBe('── feed ─── 3 of 4 ─');
  });

  test('a window is clamped to what there is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { maxLength: 20 }),
        fc.integer({ min: -5, max: 30 }),
        fc.integer({ min: 0, max: 25 }),
        (items, from, height) => {
          const shown = windowed(items, from, height);
          expect(shown.length).toBe(Math.min(items.length, height));
        },
      ),
    );
  });
});
