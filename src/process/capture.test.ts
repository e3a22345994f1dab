import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Capture } from './capture.ts';
import { wordRoom } from './half-words.ts';

function capture(limit: number, texts: readonly string[]) {
  const all = new Capture(limit);
  for (const text of texts) all.add(Buffer.from(text));
  return all.captured();
}

test('however the bytes arrive, beginning and end are kept up to a word and the rest is counted', () => {
  const chunks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 12 }), { maxLength: 12 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 2, max: 30 }), (texts, limit) => {
      const { text, droppedBytes } = capture(limit, texts);
      const whole = texts.join('');
      const half = Math.floor(limit / 2);
      expect(capture(limit, [whole])).toEqual({ text, droppedBytes });
      if (whole.length <= 2 * half) {
        expect({ text, droppedBytes }).toEqual({ text: whole, droppedBytes: 0 });
        return;
      }
      const [head = '', tail = ''] = text.split(`\n… ${droppedBytes} bytes cut …\n`);
      expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
      expect(head.length + droppedBytes + tail.length).toBe(whole.length);
      for (const kept of [head, tail]) {
        expect(kept.length).toBeLessThanOrEqual(half);
        expect(kept.length).toBeGreaterThanOrEqual(half - wordRoom(half));
      }
    }),
  );
});

test('no half of a word stays at the cut, in bytes of any alphabet', () => {
  const words = 'a '.repeat(18);
  const end = ` and the end${' of it'.repeat(4)}`;
  const { text, droppedBytes } = capture(80, [`${words}secret-é-one-${'x'.repeat(500)}`, `-é-two${end}`]);
  expect(text).toBe(`${words}\n… ${droppedBytes} bytes cut …\n${end}`);
  expect(droppedBytes).toBe(Buffer.byteLength(`secret-é-one-${'x'.repeat(500)}-é-two`));
});
