import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Stamps } from './stamp.ts';

test('any run of stamps is read as Date reads it', () => {
  const near = fc.integer({ min: 0, max: 200_000 }).map((ms) => Date.UTC(2026, 11, 31, 23, 58) + ms);
  const far = fc.date({ noInvalidDate: true }).map((d) => d.getTime());
  fc.assert(
    fc.property(fc.array(fc.oneof(near, far)), (times) => {
      const stamps = new Stamps();
      const read = times.map((t) => stamps.ms(new Date(t).toISOString()));
      expect(read).toEqual(times);
    }),
  );
});

test.each(['', 'x', 'xxxxxxxxxxxxxxxxxxxxxxxZ', '2026-01-31T23:59:aa.aaaZ'])('%p is no stamp', (text) => {
  const stamps = new Stamps();
  stamps.ms('2026-01-31T23:59:59.999Z');
  expect(stamps.ms(text)).toBeNaN();
});
