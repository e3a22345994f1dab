import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Protocol } from '../../../ports/gateway.ts';
import { fakeModel } from './cli-fixture.ts';
import { plainlyNamed, roomOf, vendorOf } from './own-provider.ts';

describe('whose model it is', () => {
  test.each<[string, Protocol, string | null]>([
    ['anthropic/claude-opus-4-8', 'messages', 'anthropic'],
    ['anthropic/claude-opus-4-8', 'chat', null],
    ['anthropic/glm-5', 'messages', null],
    ['openai/gpt-5', 'responses', 'openai'],
    ['openai/o3', 'responses', 'openai'],
    ['openai/gpt-5', 'chat', null],
    ['google/gemini-2.5-pro', 'gemini', 'google'],
    ['openai-compatible/gpt-oss', 'responses', null],
    ['constructor/x', 'chat', null],
  ])('%s by %s', (id, protocol, vendor) => {
    expect(vendorOf({ ...fakeModel, id, name: id.slice(id.indexOf('/') + 1) }, protocol)).toBe(vendor);
  });
});

test('an unknown model is given room for its answer within what it takes', () => {
  expect(roomOf(fakeModel)).toEqual({ contextTokens: 128_000, answerTokens: 16_384 });
  const small = { ...fakeModel, contextTokens: 8_192 };
  expect(roomOf(small)).toEqual({ contextTokens: 8_192, answerTokens: 2_048 });
  expect(roomOf({ ...small, maxOutputTokens: 4_000 })).toEqual({ contextTokens: 8_192, answerTokens: 4_000 });
});

test('entries keep names of their own, whatever these hold', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.nat()), (entries) => {
      const named = plainlyNamed(entries);
      expect(named.map(([, value]) => value)).toEqual(Object.values(entries));
      expect(new Set(named.map(([name]) => name)).size).toBe(named.length);
      for (const [name] of named) expect(name).toMatch(/^[A-Za-z0-9-]+$/);
    }),
  );
  expect(plainlyNamed({ 'a b': 1, a_b: 2, 'a-b': 3 }).map(([name]) => name)).toEqual(['a-b', 'a-b-2', 'a-b-3']);
});
