import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DataFence, fencedDocument } from './fences.ts';
import { cutMiddle, shares } from './room.ts';

const nasty = fc.array(
  fc.oneof(fc.string(), fc.constantFrom('```', '`````', '\n', '</data-', '<data-', '\u001b[2J', '\u202e', '\r\n')),
);

describe('DataFence', () => {
  test('what is inside never holds its closing line', () => {
    fc.assert(
      fc.property(fc.string(), nasty, (seed, pieces) => {
        const lines = new DataFence(seed).wrap(pieces.join('')).split('\n');
        const letters = /^<data-([0-9a-f]{12})>$/.exec(lines[0]!)?.[1];
        expect(lines.at(-1)).toBe(`</data-${letters}>`);
        expect(lines.slice(1, -1).join('\n')).not.toContain(letters!);
      }),
    );
  });

  test('material that knows the letters gets others', () => {
    const fence = new DataFence('k');
    const known = fence.wrap('x');
    const again = fence.wrap(known);
    expect(again).toContain(known);
    expect(again.split('\n')[0]).not.toBe(known.split('\n')[0]!);
    expect(fence.wrap('x')).toBe(known);
  });

  test('nothing steers a terminal', () => {
    const inside = new DataFence('k').wrap('a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\r\nc\u202ed\u0000e\u009b2Jf');
    expect(inside.split('\n').slice(1, -1)).toEqual(['aredb', 'c\\u{202e}d\\u{0}ef']);
  });
});

test('a document stands verbatim between lines that do not occur in it', () => {
  fc.assert(
    fc.property(nasty, (pieces) => {
      const text = pieces.join('');
      const shown = fencedDocument(text);
      const fence = shown.slice(0, shown.indexOf('\n'));
      expect(text).not.toContain(fence);
      expect(shown).toBe(`${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`);
    }),
  );
});

test('a text is cut in the middle, with its beginning and its end', () => {
  const text = `first ${'word '.repeat(500)}last`;
  const cut = cutMiddle(text, 300);
  expect(cut).toStartWith('first');
  expect(cut).toEndWith('last');
  expect(cut).toMatch(/characters left out/);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(400), (s, limit) => {
      const short = cutMiddle(s, limit);
      expect(short.length).toBeLessThanOrEqual(Math.max(limit, 0));
      if (s.length <= limit) expect(short).toBe(s);
    }),
  );
});

test('room is shared: the short get all they need, the long the same of what is left', () => {
  expect(shares([10, 1000, 20, 1000], 430)).toEqual([10, 200, 20, 200]);
  expect(shares([10, 20], 430)).toEqual([10, 20]);
  expect(shares([], 430)).toEqual([]);
  fc.assert(
    fc.property(fc.array(fc.nat(2_000)), fc.nat(10_000), (sizes, total) => {
      const given = shares(sizes, total);
      expect(given.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(total);
      expect(given.every((g, at) => g <= sizes[at]!)).toBe(true);
    }),
  );
});
