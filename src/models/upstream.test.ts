import { afterEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ModelSettings } from '../config/model.ts';
import { SkilloptError } from '../ports/failure.ts';
import { type Protocol, unknownCounts } from '../ports/gateway.ts';
import { upstreamOf } from './index.ts';
import { key, modelOf, serve, type TestServer, variables } from './server-fixture.ts';
import { services } from './services.ts';
import { toldCounts } from './told-counts.ts';

const around = {
  variables: { ...variables, GEMINI_API_KEY: key, OPENAI_ORG_ID: 'org-1', OPENAI_PROJECT_ID: 'proj-1' },
  folder: '/',
};
const upstream = (settings: ModelSettings) => upstreamOf(settings, around);
const at = (model: string, baseUrl?: string, protocols?: readonly Protocol[]) =>
  upstream({
    model,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(protocols === undefined ? {} : { protocols: [...protocols] }),
  });

const paths: Readonly<Record<Protocol, string>> = {
  messages: '/v1/messages?beta=true',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  gemini: '/v1beta/models/m:streamGenerateContent?alt=sse',
};

describe('an upstream', () => {
  test('speaks what its service is known for, unless the settings say', () => {
    const speaks = (name: string) => at(name, name === 'openai-compatible/x' ? 'http://h/v1' : undefined).protocols;
    expect(speaks('anthropic/x')).toEqual(['messages']);
    expect(speaks('openai/x')).toEqual(['chat', 'responses']);
    expect(speaks('google/x')).toEqual(['gemini', 'chat']);
    for (const name of Object.keys(services).filter((n) => !['anthropic', 'openai', 'google'].includes(n)))
      expect([name, speaks(`${name}/x`)]).toEqual([name, ['chat']]);
    expect(at('ollama/x', undefined, ['chat', 'messages']).protocols).toEqual(['chat', 'messages']);
  });

  test.each<[string, string | undefined, Protocol, string]>([
    ['anthropic/m', undefined, 'messages', 'https://api.anthropic.com/v1/messages?beta=true'],
    ['anthropic/m', 'http://h/v1/', 'messages', 'http://h/v1/messages?beta=true'],
    ['anthropic/m', 'http://h/proxy', 'messages', 'http://h/proxy/v1/messages?beta=true'],
    ['anthropic/m', undefined, 'chat', 'https://api.anthropic.com/v1/chat/completions'],
    ['openai/m', undefined, 'chat', 'https://api.openai.com/v1/chat/completions'],
    ['openai/m', undefined, 'responses', 'https://api.openai.com/v1/responses'],
    ['deepseek/m', undefined, 'chat', 'https://api.deepseek.com/chat/completions'],
    ['google/m', undefined, 'gemini', `https://generativelanguage.googleapis.com${paths.gemini}`],
    ['google/m', 'http://h/x/v1beta/openai', 'gemini', `http://h/x${paths.gemini}`],
    ['google/m', 'http://h/x', 'gemini', `http://h/x${paths.gemini}`],
    ['google/m', undefined, 'chat', 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions'],
    ['ollama/m', undefined, 'messages', 'http://localhost:11434/v1/messages?beta=true'],
    ['ollama/m', undefined, 'responses', 'http://localhost:11434/v1/responses'],
    ['openrouter/m', undefined, 'messages', 'https://openrouter.ai/api/v1/messages?beta=true'],
    ['openai-compatible/m', 'http://h:1/v1', 'gemini', `http://h:1${paths.gemini}`],
  ])('%s at %s answers %s at %s', (model, baseUrl, protocol, url) => {
    expect(at(model, baseUrl).url(protocol, paths[protocol])).toBe(url);
  });

  test('takes the key as its API has it', () => {
    const authorization = `Bearer ${key}`;
    expect(at('anthropic/m').headers('messages')).toEqual({ 'x-api-key': key });
    expect(at('openai/m').headers('responses')).toEqual({
      authorization,
      'openai-organization': 'org-1',
      'openai-project': 'proj-1',
    });
    expect(at('openrouter/m').headers('chat')).toEqual({ authorization });
    expect(at('openrouter/m').headers('messages')).toEqual({ authorization, 'x-api-key': key });
    expect(at('google/m').headers('gemini')).toEqual({ 'x-goog-api-key': key });
  });

  test('sends no key that is not there or can’t be sent, and preflight tells it', async () => {
    for (const [value, words] of [
      [undefined, 'is not set'],
      ['sk with blanks', 'holds characters that no key has'],
    ] as const) {
      const found = upstreamOf(
        { model: 'anthropic/m' },
        { variables: { ANTHROPIC_API_KEY: value ?? '' }, folder: '/' },
      );
      expect(found.headers('messages')).toEqual({});
      const [finding] = await found.preflight();
      expect(finding).toMatchObject({ level: 'error' });
      expect(finding?.what).toContain(words);
      expect(JSON.stringify(finding)).not.toContain('blanks');
    }
  });

  test('is none where a program stands in its place', () => {
    const failure = (settings: ModelSettings) => {
      try {
        upstream(settings);
      } catch (error) {
        if (error instanceof SkilloptError) return error.failure;
      }
      return null;
    };
    expect(failure({ model: 'command/claude' })).toMatchObject({ code: 'config', where: 'model command/claude' });
    expect(failure({ model: 'command/claude' })?.fix).toContain('anthropic/');
    expect(failure({ model: 'antropic/x' })?.fix).toBe('did you mean anthropic/x?');
  });

  test('names its place without secrets, and has the price of the model', () => {
    const known = at('anthropic/claude-opus-4-8');
    expect(known).toMatchObject({
      id: 'anthropic/claude-opus-4-8',
      model: 'claude-opus-4-8',
      where: 'anthropic/claude-opus-4-8 at https://api.anthropic.com',
      hasPrice: true,
      maxOutputTokens: null,
    });
    const priced = upstream({ model: 'openai/own', price: { input: 1, output: 2 } });
    expect(priced.costUsd({ ...unknownCounts, inputTokens: 1_000_000, outputTokens: 500_000 })).toBe(2);
    expect(priced.costUsd({ ...unknownCounts, inputTokens: 1 })).toBeNull();
    expect(at('openai/none').hasPrice).toBe(false);
  });
});

describe('its troubles', () => {
  let server: TestServer | null = null;
  afterEach(() => server?.stop());

  test.each([
    [401, { error: { message: `wrong key ${key}` } }],
    [429, { error: { message: `slow down, ${key}` } }],
    [429, { error: { code: 'insufficient_quota', message: 'x' } }],
    [404, { error: { message: 'no model' } }],
    [400, { error: { code: 'context_length_exceeded' } }],
    [500, 'plain words'],
    [529, {}],
  ])('are told as the client tells them: %d %j', async (status, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    server = serve(() => new Response(text, { status, headers: { 'retry-after': '7' } }));
    const settings = { model: 'openai/m', baseUrl: server.url };
    const error = await modelOf(settings)
      .performCompletion(
        {
          system: '',
          messages: [{ role: 'user', parts: [{ kind: 'text', text: 'x' }] }],
          tools: [],
          mustCall: null,
          maxOutputTokens: null,
          draw: null,
        },
        { signal: new AbortController().signal },
      )
      .catch((e: unknown) => e);
    const { refusal, again, spent } = upstream(settings).refusal(status, new Headers({ 'retry-after': '7' }), text);
    expect(error).toMatchObject(refusal);
    expect([refusal.retryAfterMs, spent]).toEqual([7_000, 'nothing']);
    expect(again !== null).toBe(['rate-limit', 'server', 'overloaded'].includes(refusal.kind));
    expect(JSON.stringify(refusal)).not.toContain(key);
  });

  test('what breaks an answer is told with what may have been spent', () => {
    const { broken, refusal } = at('anthropic/m');
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const untrusted = Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' });
    expect(broken({ kind: 'network', error: refused, begun: false })).toMatchObject({
      refusal: { kind: 'refused-connection' },
      again: 'no connection',
      spent: 'unreached',
    });
    expect(broken({ kind: 'network', error: untrusted, begun: false })).toMatchObject({ again: null });
    expect(broken({ kind: 'network', error: new Error('x'), begun: true })).toMatchObject({
      refusal: { kind: 'cut-off', failure: { what: 'the answer broke off' } },
      again: 'the answer broke off',
      spent: 'unknown',
    });
    expect(broken({ kind: 'silent', before: 'first-byte' })).toMatchObject({ refusal: { kind: 'silent' } });
    expect(broken({ kind: 'ended-early' })).toMatchObject({ refusal: { kind: 'cut-off' }, spent: 'unknown' });
    expect(broken({ kind: 'bad-reply', contentType: 'text/html' })).toMatchObject({
      refusal: { kind: 'bad-reply', failure: { code: 'config' } },
      again: null,
    });
    const elsewhere = broken({
      kind: 'redirect',
      status: 308,
      from: 'https://api.anthropic.com/v1/messages',
      to: '/other/v1/messages?token=secret',
    });
    expect(elsewhere).toMatchObject({ refusal: { kind: 'bad-request' }, again: null, spent: 'nothing' });
    expect(elsewhere.refusal.failure.what).toContain('https://api.anthropic.com/other,');
    expect(elsewhere.refusal.failure.what).not.toContain('secret');
    expect(refusal(null, new Headers(), '{"error":{"type":"overloaded_error"}}')).toMatchObject({
      refusal: { kind: 'overloaded' },
      spent: 'unknown',
    });
  });
});

describe('counts', () => {
  test.each<[Protocol, object, object]>([
    [
      'messages',
      {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        cache_creation: { ephemeral_1h_input_tokens: 15 },
      },
      { inputTokens: 130, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 20, cacheWriteHourTokens: 15 },
    ],
    [
      'chat',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 25,
        prompt_tokens_details: { cached_tokens: 4 },
        cost: 0.5,
      },
      { inputTokens: 10, outputTokens: 15, cacheReadTokens: 4, toldUsd: 0.5 },
    ],
    ['chat', { prompt_tokens: 0, completion_tokens: 0 }, { inputTokens: null, outputTokens: null }],
    [
      'responses',
      { input_tokens: 10, output_tokens: 5, total_tokens: 15, input_tokens_details: { cached_tokens: 4 } },
      { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 },
    ],
    [
      'gemini',
      { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7, cachedContentTokenCount: 3 },
      { inputTokens: 10, outputTokens: 12, cacheReadTokens: 3 },
    ],
    [
      'gemini',
      { promptTokenCount: 10, toolUsePromptTokenCount: 2, totalTokenCount: 20 },
      { inputTokens: 12, outputTokens: 8 },
    ],
    ['gemini', { promptTokenCount: 10 }, { inputTokens: 10, outputTokens: 0 }],
    ['gemini', {}, { inputTokens: null, outputTokens: null }],
  ])('of %s are read: %j', (protocol, told, counts) => {
    expect(toldCounts(protocol, told, unknownCounts)).toEqual({ ...unknownCounts, ...counts });
  });

  test('of an answer that has only begun leave out what it wrote', () => {
    const begun = toldCounts('messages', { input_tokens: 10, output_tokens: 1 }, null);
    expect(begun).toMatchObject({ inputTokens: 10, outputTokens: null });
    expect(toldCounts('messages', { output_tokens: 4 }, begun)).toMatchObject({ inputTokens: 10, outputTokens: 4 });
  });

  test('of anything are counts or unknown', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Protocol>('messages', 'chat', 'responses', 'gemini'),
        fc.oneof(
          fc.anything(),
          fc.dictionary(
            fc.constantFrom('input_tokens', 'prompt_tokens', 'promptTokenCount', 'output_tokens', 'total_tokens'),
            fc.anything(),
          ),
        ),
        (protocol, told) => {
          const { inputTokens, outputTokens, toldUsd, ...cache } = toldCounts(protocol, told, null);
          for (const value of [inputTokens, outputTokens, toldUsd])
            expect(value === null || (Number.isFinite(value) && value >= 0)).toBe(true);
          for (const value of Object.values(cache)) expect(value).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
