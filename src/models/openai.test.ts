import { afterEach, describe, expect, test } from 'bun:test';
import type { ModelSettings } from '../config/model.ts';
import { ModelError, type ModelRequest, type ModelTool } from '../ports/model.ts';
import {
  ask,
  chatAnswer,
  chatUsage,
  chunk,
  done,
  key,
  modelOf,
  never,
  type Seen,
  serve,
  stream,
  type TestServer,
} from './server-fixture.ts';

let server: TestServer | null = null;
afterEach(() => server?.stop());

function ready(answer: (seen: Seen) => Response, more: Partial<ModelSettings> = {}) {
  server = serve(answer);
  return modelOf({ model: 'openai-compatible/qwen', baseUrl: server.url, ...more });
}
const sent = () => server?.requests.at(-1)?.body ?? {};
const complete = (model: ReturnType<typeof modelOf>, request: Partial<ModelRequest> = {}) =>
  model.performCompletion({ ...ask, ...request }, { signal: never });

const tool = (name: string): ModelTool => ({ name, description: `the ${name}`, schema: { type: 'object' } });
const call = (index: number, id: string | null, name: string | null, args: string) =>
  chunk({
    tool_calls: [
      { index, ...(id ? { id, type: 'function' } : {}), function: { ...(name ? { name } : {}), arguments: args } },
    ],
  });

describe('a request', () => {
  test('holds system, texts and bounds as plain strings', async () => {
    const model = ready(() => chatAnswer(), { temperature: 0.3, maxOutputTokens: 700, sendSeed: true });
    await complete(model, { draw: 4 });
    expect(sent()).toEqual({
      model: 'qwen',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hello?' },
      ],
      max_tokens: 700,
      temperature: 0.3,
      seed: 4,
    });
    expect(server?.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server?.requests[0]?.headers.get('authorization')).toBe('Bearer none');
  });

  test('has no seed unless asked for, and no bound unless given', async () => {
    await complete(
      ready(() => chatAnswer()),
      { draw: 4 },
    );
    expect(Object.keys(sent()).sort()).toEqual(['messages', 'model', 'stream', 'stream_options']);
  });

  test('to OpenAI itself bounds what it calls a completion, and names the tool that must be called', async () => {
    server = serve(() => chatAnswer());
    const model = modelOf({ model: 'openai/gpt-5', baseUrl: server.url });
    await complete(model, { maxOutputTokens: 50, tools: [tool('read'), tool('hand_in')], mustCall: 'hand_in' });
    expect(sent()).toMatchObject({
      max_completion_tokens: 50,
      tool_choice: { type: 'function', function: { name: 'hand_in' } },
      tools: [{ function: { name: 'read' } }, { function: { name: 'hand_in' } }],
    });
    expect(sent()).not.toHaveProperty('max_tokens');
    expect(server.requests[0]?.headers.get('authorization')).toBe(`Bearer ${key}`);
  });

  test('to a compatible server gives the tool that must be called alone, for some know no other way', async () => {
    const model = ready(() => chatAnswer());
    await complete(model, { tools: [tool('read'), tool('hand_in')], mustCall: 'hand_in' });
    expect(sent()).toMatchObject({ tool_choice: 'required' });
    expect((sent().tools as { function: { name: string } }[]).map((t) => t.function.name)).toEqual(['hand_in']);
  });

  test('carries calls and results of earlier turns, results first', async () => {
    const model = ready(() => chatAnswer());
    await complete(model, {
      messages: [
        { role: 'user', parts: [{ kind: 'text', text: 'go' }] },
        {
          role: 'assistant',
          parts: [
            { kind: 'text', text: 'I look.' },
            { kind: 'tool-call', id: 'a', name: 'read', input: { n: 1 } },
            { kind: 'tool-call', id: 'b', name: 'read', input: {} },
          ],
        },
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'and now?' },
            { kind: 'tool-result', id: 'a', output: 'one', isError: false },
            { kind: 'tool-result', id: 'b', output: 'no such file', isError: true },
          ],
        },
      ],
      tools: [tool('read')],
    });
    expect((sent().messages as unknown[]).slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'read', arguments: '{"n":1}' } },
          { id: 'b', type: 'function', function: { name: 'read', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: no such file' },
      { role: 'user', content: 'and now?' },
    ]);
  });
});

describe('an answer', () => {
  test('is its text, heard piece by piece, with its usage', async () => {
    const model = ready(() =>
      stream([
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo.' }),
        chunk({}, 'stop'),
        chatUsage({ prompt_tokens: 9, completion_tokens: 3 }),
        done,
      ]),
    );
    const pieces: string[] = [];
    const reply = await model.performCompletion(ask, { signal: never, onText: (p) => pieces.push(p) });
    expect(reply).toEqual({
      parts: [{ kind: 'text', text: 'Hello.' }],
      stop: 'end',
      usage: { inputTokens: 9, outputTokens: 3, costUsd: null, requests: 1 },
    });
    expect(pieces).toEqual(['Hel', 'lo.']);
  });

  test('leaves reasoning out, and a thought within the text in', async () => {
    const model = ready(() =>
      stream([
        chunk({ reasoning_content: 'hm', content: null }),
        chunk({ reasoning: 'hm' }),
        chunk({ content: '<think>so</think>yes' }, 'stop'),
        done,
      ]),
    );
    expect((await complete(model)).parts).toEqual([{ kind: 'text', text: '<think>so</think>yes' }]);
  });

  test('has its calls whole, however they were cut into pieces', async () => {
    const model = ready(() =>
      stream([
        call(0, 'a', 'read', ''),
        call(0, null, null, '{"path":'),
        call(1, 'b', 'list', '{}'),
        call(0, null, null, '"x"}'),
        chunk({}, 'tool_calls'),
        done,
      ]),
    );
    expect(await complete(model)).toMatchObject({
      stop: 'tool',
      parts: [
        { kind: 'tool-call', id: 'a', name: 'read', input: { path: 'x' } },
        { kind: 'tool-call', id: 'b', name: 'list', input: {} },
      ],
    });
  });

  test('has all calls of servers that number none of them, name none or hand over objects', async () => {
    const model = ready(() =>
      stream([
        call(0, 'a', 'read', '{"n":1}'),
        call(0, 'b', 'read', '{"n":2}'),
        chunk({ tool_calls: [{ id: 'c', function: { name: 'read', arguments: { n: 3 } } }] }),
        chunk({ tool_calls: [{ index: 7, function: { name: 'list', arguments: '' } }] }),
        chunk({}, 'stop'),
        done,
      ]),
    );
    const { parts, stop } = await complete(model);
    expect(stop).toBe('tool');
    expect(parts.map((p) => p.kind === 'tool-call' && [p.id, p.name, p.input])).toEqual([
      ['a', 'read', { n: 1 }],
      ['b', 'read', { n: 2 }],
      ['c', 'read', { n: 3 }],
      ['call_4', 'list', {}],
    ]);
  });

  test.each([
    ['cut', '{"path":"x', 'length', 'length'],
    ['broken', '{"path":x}', 'tool_calls', 'end'],
    ['no object', '"path"', 'tool_calls', 'end'],
    ['null', 'null', 'tool_calls', 'end'],
  ])('leaves a call out whose input is %s', async (_what, args, finish, stop) => {
    const model = ready(() =>
      stream([chunk({ content: 'I call.' }), call(0, 'a', 'read', args), chunk({}, finish), done]),
    );
    expect(await complete(model)).toMatchObject({ parts: [{ kind: 'text', text: 'I call.' }], stop });
  });

  test.each([
    ['stop', 'end'],
    ['length', 'length'],
    ['content_filter', 'refused'],
    ['eos', 'end'],
  ])('that ended by %s is told as %s', async (finish, stop) => {
    const model = ready(() => stream([chunk({ content: 'x' }), chunk({}, finish), done]));
    expect((await complete(model)).stop).toBe(stop as 'end');
  });

  test('that the model declined says why', async () => {
    const model = ready(() => stream([chunk({ refusal: 'I can’t.' }), chunk({}, 'stop'), done]));
    expect(await complete(model)).toMatchObject({ stop: 'refused', parts: [{ kind: 'text', text: 'I can’t.' }] });
  });

  test('may come whole from a server that does not stream, with its calls and its usage', async () => {
    const message = {
      role: 'assistant',
      content: 'Here.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'f', arguments: '{"x":2}' } },
      ],
    };
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    const whole = { object: 'chat.completion', choices: [{ index: 0, finish_reason: 'tool_calls', message }], usage };
    const reply = await complete(ready(() => Response.json(whole)));
    expect(reply.parts).toEqual([
      { kind: 'text', text: 'Here.' },
      { kind: 'tool-call', id: 'a', name: 'f', input: { x: 1 } },
      { kind: 'tool-call', id: 'b', name: 'f', input: { x: 2 } },
    ]);
    expect(reply.stop).toBe('tool');
    expect(reply.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  });

  test.each([
    ['{"error":{"message":"no"}}'],
    ['{"choices":'],
    ['[]'],
    ['{"choices":[{"message":{"content":"half"}}]}'],
  ])('that is JSON and no whole completion is no reply: %s', async (text) => {
    const model = ready(() => new Response(text, { headers: { 'content-type': 'application/json' } }));
    const error = await complete(model).then(
      () => null,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(ModelError);
  });

  test('may be empty', async () => {
    expect(await complete(ready(() => chatAnswer('')))).toMatchObject({ parts: [], stop: 'end' });
  });

  test('is whole without a last marker, and when the connection breaks after its end', async () => {
    expect((await complete(ready(() => stream([chunk({ content: 'x' }, 'stop')])))).parts).toHaveLength(1);
    server?.stop();
    expect(await complete(ready(() => stream([chunk({ content: 'x' }, 'stop'), 'data: {"broken'])))).toMatchObject({
      stop: 'end',
    });
  });
});

describe('usage', () => {
  test('is unknown where the server tells none, or counts of nothing', async () => {
    const unknown = { inputTokens: null, outputTokens: null, costUsd: null, requests: 1 };
    expect((await complete(ready(() => chatAnswer('x', null)))).usage).toEqual(unknown);
    server?.stop();
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect((await complete(ready(() => chatAnswer('x', zeros)))).usage).toEqual(unknown);
  });

  test('is asked for once: a server that refuses the question is not asked again', async () => {
    const model = ready((seen) =>
      'stream_options' in seen.body
        ? Response.json({ error: { message: 'what is that?', code: 400 } }, { status: 400 })
        : chatAnswer('x', null),
    );
    expect((await complete(model)).usage.requests).toBe(2);
    expect((await complete(model)).usage.requests).toBe(1);
    expect(server?.requests.map((r) => 'stream_options' in r.body)).toEqual([true, false, false]);
  });

  test('counts reasoning that a service leaves out of the completion, from the total', async () => {
    const model = ready(() => chatAnswer('x', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 }));
    expect((await complete(model)).usage).toMatchObject({ inputTokens: 10, outputTokens: 30 });
  });

  test('has the price of the list, cached tokens at theirs', async () => {
    server = serve(() =>
      chatAnswer('x', {
        prompt_tokens: 1_000_000,
        completion_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 400_000 },
      }),
    );
    const model = modelOf({ model: 'openai/gpt-5', baseUrl: server.url });
    expect(model.hasPrice).toBe(true);
    // 0.6 M at 1.25, 0.4 M at 0.125, 0.1 M at 10
    expect((await complete(model)).usage.costUsd).toBeCloseTo(0.75 + 0.05 + 1, 9);
  });

  test('has the price of the settings before any other', async () => {
    server = serve(() => chatAnswer('x', { prompt_tokens: 500_000, completion_tokens: 10_000 }));
    const model = modelOf({ model: 'openai/gpt-5', baseUrl: server.url, price: { input: 2, output: 100 } });
    expect((await complete(model)).usage.costUsd).toBe(2);
  });

  test('has no price for a model that the list does not know', async () => {
    server = serve(() => chatAnswer());
    const model = modelOf({ model: 'openai/no-such-model-at-all', baseUrl: server.url });
    expect(model.hasPrice).toBe(false);
    expect((await complete(model)).usage.costUsd).toBeNull();
  });

  test('is what the service says that it cost, where it says so', async () => {
    server = serve(() => chatAnswer('x', { prompt_tokens: 10, completion_tokens: 1, cost: 0.125 }));
    const model = modelOf({ model: 'openrouter/some/new-model', baseUrl: server.url });
    expect(model.hasPrice).toBe(true);
    expect((await complete(model)).usage.costUsd).toBe(0.125);
    server.stop();
    // another may count in what it likes
    server = serve(() => chatAnswer('x', { prompt_tokens: 8, completion_tokens: 1, cost: 0.125 }));
    expect((await complete(modelOf({ model: 'openai/gpt-5', baseUrl: server.url }))).usage.costUsd).toBe(0.00002);
  });
});
