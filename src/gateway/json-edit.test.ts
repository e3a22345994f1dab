import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { setIn } from './json-edit.ts';

describe('one value of a JSON text is set', () => {
  test.each<[string, readonly [string, ...string[]], unknown, string]>([
    ['{}', ['a'], 1, '{"a":1}'],
    [' { } ', ['a'], 1, ' { "a":1} '],
    ['{"a":12345678901234567890,"model":"x"}', ['model'], 'y', '{"a":12345678901234567890,"model":"y"}'],
    ['{"b" : 1.0 , "a" : null }', ['a'], 'y', '{"b" : 1.0 , "a" : "y" }'],
    ['{"model":"a","model":"b"}', ['model'], 'c', '{"model":"c","model":"c"}'],
    ['{"x":"\\"model\\":1","model":"a"}', ['model'], 'b', '{"x":"\\"model\\":1","model":"b"}'],
    ['{"x":{"model":"inner"}}', ['model'], 'b', '{"x":{"model":"inner"},"model":"b"}'],
    ['{"mod\\u0065l":"a"}', ['model'], 'b', '{"mod\\u0065l":"b"}'],
    ['{"s":{"a":1.50}}', ['s', 'b'], true, '{"s":{"a":1.50,"b":true}}'],
    ['{"s":null}', ['s', 'b'], true, '{"s":{"b":true}}'],
    ['{"a":1}', ['s', 'b'], true, '{"a":1,"s":{"b":true}}'],
    ['{"a":[{"b":"]"},[]],"c":2}', ['c'], 3, '{"a":[{"b":"]"},[]],"c":3}'],
  ])('%s with %j = %j', (text, path, value, expected) => {
    expect(setIn(text, path, value)).toBe(expected);
  });

  const key = fc.constantFrom('model', 'a', 'b', '"', '\\', 'é', '');
  const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }));
  const paths = fc.array(key, { minLength: 1, maxLength: 3 });

  test('whatever stands in it, and however it is written', () => {
    fc.assert(
      fc.property(object, paths, fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (given, path, value, space) => {
        const text = JSON.stringify(given, null, space);
        const expected = structuredClone(given) as Record<string, unknown>;
        let at = expected;
        for (const step of path.slice(0, -1)) {
          const next = Object.hasOwn(at, step) ? at[step] : undefined;
          const inner = typeof next === 'object' && next !== null && !Array.isArray(next) ? next : {};
          at[step] = inner;
          at = inner as Record<string, unknown>;
        }
        at[path.at(-1) as string] = value;
        expect(JSON.parse(setIn(text, path as [string, ...string[]], value))).toEqual(
          JSON.parse(JSON.stringify(expected)),
        );
      }),
    );
  });
});
