import { afterEach, describe, expect, spyOn, test } from 'bun:test';
import type { ModelSettings } from '../config/model.ts';
import type { ModelRequest } from '../ports/model.ts';
import {
  ask,
  errorOf,
  event,
  key,
  messageEnd,
  messageStart,
  messagesAnswer,
  modelOf,
  never,
  type Seen,
  serve,
  stream,
  type TestServer,
  textBlock,
} from './server-fixture.ts';

let server: TestServer | null = null;
afterEach(() => server?.stop());

function ready(answer: (seen: Seen) => Response, more: Partial<ModelSettings> = {}) {
  server = serve(answer);
  return modelOf({ model: 'anthropic/claude-opus-4-8', baseUrl: server.url, ...more });
}
const sent = () => server?.requests.at(-1)?.body ?? {};
const complete = (model: ReturnType<typeof modelOf>, request: Partial<ModelRequest> = {}) =>
  model.performCompletion({ ...ask, ...request }, { signal: never });

const toolBlock = (index: number, id: string, pieces: readonly string[], whole = true) =>
  event('content_block_start', { index, content_block: { type: 'tool_use', id, name: 'read', input: {} } }) +
  pieces
    .map((p) => event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: p } }))
    .join('') +
  (whole ? event('content_block_stop', { index }) : '');

describe('a request', () => {
  test('has a bound in any case, and nothing that was not asked for', async () => {
    await complete(
      ready(() => messagesAnswer()),
      { draw: 3 },
    );
    expect(sent()).toEqual({
      model: 'claude-opus-4-8',
      stream: true,
      max_tokens: 16_000,
      system: 'Be short.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
    });
    expect(server?.requests[0]?.path).toBe('/v1/messages');
    expect(server?.requests[0]?.headers.get('authorization')).toBe(`Bearer ${key}`);
  });

  test('takes the bound of the request before the one of the settings', async () => {
    const model = ready(() => messagesAnswer(), { maxOutputTokens: 500, temperature: 0 });
    await complete(model);
    expect(sent()).toMatchObject({ max_tokens: 500, temperature: 0 });
    await complete(model, { maxOutputTokens: 20 });
    expect(sent()).toMatchObject({ max_tokens: 20 });
  });

  test('with tools names the one that must be called, and lets the next turn read from the cache', async () => {
    await complete(
      ready(() => messagesAnswer()),
      {
        tools: [
          { name: 'read', description: 'reads', schema: { type: 'object', properties: { n: { type: 'integer' } } } },
        ],
        mustCall: 'read',
        messages: [
          { role: 'user', parts: [{ kind: 'text', text: 'go' }] },
          {
            role: 'assistant',
            parts: [
              { kind: 'text', text: '' },
              { kind: 'tool-call', id: 'a', name: 'read', input: { n: 1 } },
            ],
          },
          {
            role: 'user',
            parts: [
              { kind: 'text', text: 'and now?' },
              { kind: 'tool-result', id: 'a', output: 'none', isError: true },
            ],
          },
        ],
      },
    );
    expect(sent()).toMatchObject({
      tool_choice: { type: 'tool', name: 'read' },
      tools: [{ name: 'read', description: 'reads', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: { n: 1 } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'none', is_error: true },
            { type: 'text', text: 'and now?', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
    });
  });

  test('needs no /v1 at the end of its URL and minds none', async () => {
    server = serve(() => messagesAnswer());
    for (const baseUrl of [server.url, `${server.url}/`, server.url.replace('/v1', '')])
      await complete(modelOf({ model: 'anthropic/x', baseUrl }));
    expect(server.requests.map((r) => r.path)).toEqual(['/v1/messages', '/v1/messages', '/v1/messages']);
  });
});

test('a model that is about to be retired, and a stream that is broken, write nothing to the terminal', async () => {
  const said = [spyOn(console, 'warn'), spyOn(console, 'error'), spyOn(console, 'log')];
  server = serve(() => messagesAnswer());
  await complete(modelOf({ model: 'anthropic/claude-opus-4-0', baseUrl: server.url }));
  server.stop();
  for (const model of ['anthropic/x', 'openai/x']) {
    server = serve(() => stream(['event: message_start\ndata: {oops\n\n']));
    await errorOf(complete(modelOf({ model, baseUrl: server.url })));
    server.stop();
  }
  expect(said.map((s) => s.mock.calls)).toEqual([[], [], []]);
  for (const s of said) s.mockRestore();
});

describe('an answer', () => {
  test('is its texts and whole calls, without what the model thought', async () => {
    const model = ready(() =>
      stream([
        messageStart(),
        event('ping'),
        event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
        event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } }),
        event('content_block_stop', { index: 0 }),
        textBlock('I look', 1),
        toolBlock(2, 'a', ['{"n"', ':1}']),
        toolBlock(3, 'b', []),
        messageEnd('tool_use', { output_tokens: 30 }),
      ]),
    );
    const pieces: string[] = [];
    const reply = await model.performCompletion(ask, { signal: never, onText: (p) => pieces.push(p) });
    expect(reply).toMatchObject({
      stop: 'tool',
      parts: [
        { kind: 'text', text: 'I look' },
        { kind: 'tool-call', id: 'a', name: 'read', input: { n: 1 } },
        { kind: 'tool-call', id: 'b', name: 'read', input: {} },
      ],
      usage: { inputTokens: 10, outputTokens: 30, requests: 1 },
    });
    expect(pieces).toEqual(['I look']);
  });

  test('that was cut leaves the cut call out', async () => {
    const model = ready(() => stream([messageStart(), toolBlock(0, 'a', ['{"n":'], false), messageEnd('max_tokens')]));
    expect(await complete(model)).toMatchObject({ stop: 'length', parts: [] });
  });

  test('leaves a call with broken input out', async () => {
    const model = ready(() => stream([messageStart(), toolBlock(0, 'a', ['{n:1}']), messageEnd('tool_use')]));
    expect(await complete(model)).toMatchObject({ stop: 'end', parts: [] });
  });

  test.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refused'],
  ])('that ended by %s is told as %s', async (reason, stop) => {
    const model = ready(() => stream([messageStart(), textBlock('x'), messageEnd(reason)]));
    expect((await complete(model)).stop).toBe(stop as 'end');
  });
});

describe('usage', () => {
  test('counts what the cache had a part in, each at its price', async () => {
    const model = ready(() =>
      stream([
        messageStart({
          input_tokens: 100_000,
          output_tokens: 1,
          cache_read_input_tokens: 400_000,
          cache_creation_input_tokens: 200_000,
          cache_creation: { ephemeral_5m_input_tokens: 100_000, ephemeral_1h_input_tokens: 100_000 },
        }),
        textBlock('x'),
        messageEnd('end_turn', { output_tokens: 10_000 }),
      ]),
    );
    const { usage } = await complete(model);
    expect(usage).toMatchObject({ inputTokens: 700_000, outputTokens: 10_000, requests: 1 });
    // 5 a million, reading 0.5, keeping 6.25 and for an hour 10, writing 25
    expect(usage.costUsd).toBeCloseTo(0.5 + 0.2 + 0.625 + 1 + 0.25, 9);
  });

  test('of an answer that broke off tells what is known: never the placeholder of its start', async () => {
    const model = ready(() => stream([messageStart(), textBlock('half')]));
    expect(await errorOf(complete(model))).toMatchObject({
      kind: 'cut-off',
      usage: { inputTokens: 10, outputTokens: null, costUsd: null, requests: 1 },
    });
  });

  test('is unknown when the server tells none', async () => {
    const model = ready(() => stream([messageStart({}), textBlock('x'), messageEnd('end_turn', {})]));
    expect((await complete(model)).usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      costUsd: null,
      requests: 1,
    });
  });
});

describe('an error in the stream', () => {
  test.each([
    ['overloaded_error', 'overloaded'],
    ['rate_limit_error', 'rate-limit'],
    ['api_error', 'server'],
    ['invalid_request_error', 'bad-request'],
    ['billing_error', 'quota'],
  ])('of type %s is told as %s', async (type, kind) => {
    const model = ready(() => stream([messageStart(), event('error', { error: { type, message: 'no' } })]));
    const error = await errorOf(complete(model));
    expect(error.kind).toBe(kind as 'quota');
    expect(error.usage.costUsd).toBeNull();
  });

  test('of broken JSON is a bad reply', async () => {
    const model = ready(() => stream([messageStart(), 'event: content_block_delta\ndata: {oops\n\n', messageEnd()]));
    expect((await errorOf(complete(model))).kind).toBe('bad-reply');
  });
});
