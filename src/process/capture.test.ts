import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Capture } from './capture.ts';

test('however the bytes arrive, first and last half are kept and the rest is counted', () => {
  const chunks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 }), { maxLength: 12 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 2, max: 30 }), (texts, limit) => {
      const capture = new Capture(limit);
      for (const text of texts) capture.add(Buffer.from(text));
      const whole = texts.join('');
      const half = Math.floor(limit / 2);
      const dropped = Math.max(0, whole.length - 2 * half);
      expect(capture.droppedBytes).toBe(dropped);
      expect(capture.text()).toBe(
        dropped === 0 ? whole : `${whole.slice(0, half)}\n… ${dropped} bytes cut …\n${whole.slice(-half)}`,
      );
    }),
  );
});
