import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ModelPart, ModelReply, ModelTool } from '../ports/model.ts';
import { noUsage } from '../ports/usage.ts';
import { chargeOf } from './charge.ts';
import { answerOf, roundTripRequest, wordOf } from './round-trip.ts';

describe('what a model is charged at', () => {
  const local = 'http://127.0.0.1:8000/v1';
  test.each([
    ['anthropic/claude-haiku-4-5', {}, 'usd'],
    ['openai/no-such-model', {}, 'unknown'],
    ['openai-compatible/x', { baseUrl: local }, 'local'],
    ['openai-compatible/x', { baseUrl: 'http://localhost:1/v1' }, 'local'],
    ['openai-compatible/x', { baseUrl: 'http://[::1]:1/v1' }, 'local'],
    ['openai-compatible/x', { baseUrl: local, keyEnv: 'SOME_KEY' }, 'unknown'],
    ['openai-compatible/x', { baseUrl: 'http://192.168.0.9:8000/v1' }, 'unknown'],
    ['openai-compatible/x', { baseUrl: 'http://127.0.0.1.example.org/v1' }, 'unknown'],
    ['openai-compatible/x', { baseUrl: local, price: { input: 1, output: 2 } }, 'usd'],
    ['openai-compatible/x', { baseUrl: 'https://a.example/v1', price: { input: 0, output: 0 } }, 'free'],
    ['ollama/x', {}, 'local'],
    ['anthropic/x', { baseUrl: local }, 'unknown'],
    ['command/claude', {}, 'subscription'],
    ['command/mine', { command: ['mine'], price: { input: 0, output: 0 } }, 'free'],
    ['command/mine', { command: ['mine'], price: { input: 3, output: 3 } }, 'usd'],
  ] as const)('%s with %j: %s', (model, more, kind) => {
    expect(chargeOf({ model, ...more } as Parameters<typeof chargeOf>[0]).kind).toBe(kind);
  });

  test('a price tells a request', () => {
    const charge = chargeOf({ model: 'x/y', price: { input: 1, output: 5 } });
    expect(charge.kind === 'usd' && charge.of(1_000_000, 200_000)).toBeCloseTo(2);
  });
});

describe('a short question', () => {
  const tool: ModelTool = { name: 'hand_in', description: '', schema: {} };
  const reply = (parts: readonly ModelPart[], stop: ModelReply['stop'] = 'end'): ModelReply => ({
    parts,
    stop,
    usage: noUsage,
  });
  const text = (said: string): ModelPart => ({ kind: 'text', text: said });
  const call = (name: string, input: unknown): ModelPart => ({ kind: 'tool-call', id: 'c', name, input });

  test.each([
    [null, [text('**Lantern.**\n')], 'end', { kind: 'right' }],
    [null, [text('I can’t')], 'end', { kind: 'other', said: 'I can’t' }],
    [null, [text(' \n')], 'end', { kind: 'nothing' }],
    [null, [], 'end', { kind: 'nothing' }],
    [null, [], 'length', { kind: 'other', said: '(it was cut at its limit of tokens)' }],
    [null, [], 'refused', { kind: 'other', said: '(it declined)' }],
    [tool, [call('hand_in', { summary: 'lantern', edits: [] })], 'tool', { kind: 'right' }],
    [tool, [call('hand_in', { edits: [] })], 'tool', { kind: 'other', said: '{"edits":[]}' }],
    [tool, [text('lantern')], 'end', { kind: 'no-call', said: 'lantern' }],
    [tool, [call('other', {})], 'tool', { kind: 'no-call', said: 'a call of another tool' }],
    [tool, [], 'end', { kind: 'nothing' }],
  ] as const)('%#: it is what was asked for, another thing, no call or nothing', (asked, parts, stop, answer) => {
    expect(answerOf(reply(parts, stop), 'lantern', asked)).toEqual(answer);
  });

  test('asks for a word that follows from the session alone', () => {
    fc.assert(
      fc.property(fc.string(), (session) => {
        const word = wordOf(session);
        expect(word).toMatch(/^[a-z]+$/);
        expect(wordOf(session)).toBe(word);
        expect(JSON.stringify(roundTripRequest(word, null))).toContain(word);
        expect(answerOf(reply([text(`It is ${word.toUpperCase()}!`)]), word, null)).toEqual({ kind: 'right' });
      }),
    );
  });
});
