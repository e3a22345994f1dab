import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { endOfHead, longestWord, shownBeginning, startOfTail, wordRoom } from './half-words.ts';

describe('a cut', () => {
  // The cut falls at |; what stays of the head, and of the tail.
  const cases: readonly (readonly [string, string, string])[] = [
    ['one two| three', 'one two', ' three'],
    ['one |two three', 'one ', 'two three'],
    ['one t|wo three', 'one ', ' three'],
    ['one two\nthr|ee\tfour', 'one two\n', '\tfour'],
    // Runs that are longer than what may be given up (8): behind the farthest border, else where it must be.
    ['{"a":"b","c|d":"e","f":1}', '{"a"', '"f":1}'],
    ['abcdefghijkl|mnopqrstuvwx', 'abcd', 'uvwx'],
  ];
  for (const [text, head, tail] of cases) {
    test(JSON.stringify(text), () => {
      const at = text.indexOf('|');
      const whole = text.replace('|', '');
      expect(whole.slice(0, endOfHead(whole, at, 8))).toBe(head);
      expect(whole.slice(startOfTail(whole, at, 8))).toBe(tail);
    });
  }
});

test('a word that stands between blanks is kept whole or not at all, wherever the cut falls', () => {
  const word = fc.stringMatching(/^[!-~]{1,30}$/);
  const around = fc.string({ unit: fc.constantFrom('x', ' ', '\n'), minLength: 60, maxLength: 90 });
  fc.assert(
    fc.property(around, word, around, fc.nat(200), (before, secret, after, position) => {
      const text = `${before} ${secret} ${after}`;
      const cut = Math.min(position, text.length);
      const head = text.slice(0, endOfHead(text, cut, 40));
      const tail = text.slice(startOfTail(text, cut, 40));
      const start = before.length + 1;
      const cutInside = cut > start && cut < start + secret.length;
      if (!cutInside) return;
      expect(head).toBe(`${before} `);
      expect(tail).toBe(` ${after}`);
    }),
  );
});

test('what is given up is bounded', () => {
  const text = 'a'.repeat(10_000);
  expect(endOfHead(text, 5_000, longestWord)).toBe(4_600);
  expect(startOfTail(text, 5_000, longestWord)).toBe(5_400);
  expect(wordRoom(8_000)).toBe(longestWord);
  expect(wordRoom(20)).toBe(5);
});

test('the beginning of a text is one line without a half word', () => {
  expect(shownBeginning('  one\n two ', 20)).toBe('one two');
  expect(shownBeginning('one two sk-0123456789', 16)).toBe('one two…');
  expect(shownBeginning('sk-0123456789abcdef', 16)).toBe('…');
  expect(shownBeginning('🦀'.repeat(30), 16).isWellFormed()).toBe(true);
});
