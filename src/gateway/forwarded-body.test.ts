import { describe, expect, test } from 'bun:test';
import type { Protocol } from '../ports/gateway.ts';
import { type BodyChanges, forwardedBody } from './forwarded-body.ts';

const changes: BodyChanges = { model: 'real', mostTokens: null, withUsage: true, chatBound: 'max_completion_tokens' };
const forwarded = (protocol: Protocol, body: object, more: Partial<BodyChanges> = {}) => {
  const text = JSON.stringify(body);
  const made = forwardedBody(protocol, { text, value: JSON.parse(text) }, { ...changes, ...more });
  return { ...made, value: JSON.parse(made.text) };
};

describe('a request goes on', () => {
  test('with the upstream’s model, and nothing else changed', () => {
    const text = '{"model" : "own",\n "messages":[{"role":"user","content":"\\u00e9"}], "x":1.0}';
    const { text: made } = forwardedBody('messages', { text, value: JSON.parse(text) }, changes);
    expect(made).toBe(text.replace('"own"', '"real"'));
    expect(forwarded('responses', { input: 'x' }).value).toEqual({ input: 'x', model: 'real' });
  });

  test('of Gemini without one, but where it names it', () => {
    expect(forwarded('gemini', { contents: [] }).value).toEqual({ contents: [] });
    const count = forwarded('gemini', { generateContentRequest: { model: 'models/own', contents: [] } });
    expect(count.value).toEqual({ generateContentRequest: { model: 'models/real', contents: [] } });
  });

  test.each<[Protocol, object, Partial<BodyChanges>, object | undefined]>([
    ['chat', { stream: true }, {}, { include_usage: true }],
    ['chat', { stream: true, stream_options: { x: 1 } }, {}, { x: 1, include_usage: true }],
    ['chat', { stream: true, stream_options: { include_usage: false } }, {}, { include_usage: true }],
    ['chat', { stream: true, stream_options: null }, {}, { include_usage: true }],
    ['chat', { stream: true }, { withUsage: false }, undefined],
    ['chat', { stream: false }, {}, undefined],
    ['responses', { stream: true }, {}, undefined],
    ['messages', { stream: true }, {}, undefined],
  ])('of %s %j with %j, asking for the usage by %j', (protocol, body, more, options) => {
    const made = forwarded(protocol, body, more);
    expect(made.value.stream_options).toEqual(options as never);
    expect(made.asksUsage).toBe(options !== undefined);
  });

  test('with the agent’s own wish for the usage as it is', () => {
    const own = forwarded('chat', { stream: true, stream_options: { include_usage: true } });
    expect([own.asksUsage, own.value.stream_options]).toEqual([false, { include_usage: true }]);
  });

  test.each<[Protocol, object, number, object]>([
    ['messages', { max_tokens: 32_000 }, 100, { max_tokens: 100 }],
    ['messages', { max_tokens: 50 }, 100, { max_tokens: 50 }],
    ['messages', { max_tokens: 32_000, thinking: { budget_tokens: 9_000 } }, 100, { max_tokens: 9_001 }],
    ['chat', { max_tokens: 500 }, 100, { max_tokens: 100 }],
    ['chat', { max_tokens: 500, max_completion_tokens: 90 }, 100, { max_tokens: 100, max_completion_tokens: 90 }],
    ['chat', {}, 100, { max_completion_tokens: 100 }],
    ['responses', { max_output_tokens: null }, 100, { max_output_tokens: 100 }],
    ['responses', { max_output_tokens: 500 }, 3, { max_output_tokens: 16 }],
    ['gemini', { generationConfig: { topK: 1 } }, 100, { generationConfig: { topK: 1, maxOutputTokens: 100 } }],
    ['gemini', {}, 100, { generationConfig: { maxOutputTokens: 100 } }],
    ['gemini', { generation_config: { max_output_tokens: 7 } }, 3, { generation_config: { max_output_tokens: 3 } }],
  ])('of %s %j, with at most %d tokens of an answer', (protocol, body, mostTokens, expected) => {
    expect(forwarded(protocol, body, { mostTokens }).value).toMatchObject(expected);
  });
});
