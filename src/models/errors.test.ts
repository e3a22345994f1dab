import { afterEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { noUsage } from '../ports/usage.ts';
import { kindOf, refusalOf, retryAfterMs } from './refusal.ts';
import { ask, errorOf, key, modelOf, never, serve, type TestServer } from './server-fixture.ts';

let server: TestServer | null = null;
afterEach(() => server?.stop());

const names = { openai: 'openai/gpt-5', anthropic: 'anthropic/claude-opus-4-8' } as const;
type Protocol = keyof typeof names;
const protocols = Object.keys(names) as Protocol[];

function refusing(protocol: Protocol, status: number, body: unknown, headers: Record<string, string> = {}) {
  server = serve(() => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }));
  return errorOf(modelOf({ model: names[protocol], baseUrl: server.url }).performCompletion(ask, { signal: never }));
}

const bodies: Readonly<Record<Protocol, (error: object) => object>> = {
  openai: (error) => ({ error }),
  anthropic: (error) => ({ type: 'error', error }),
};

describe.each(protocols)('%s', (protocol) => {
  test.each([
    [400, 'bad-request', 'config', false],
    [401, 'auth', 'auth', false],
    [402, 'quota', 'quota', false],
    [403, 'auth', 'auth', false],
    [404, 'model-not-found', 'config', false],
    [413, 'context-too-long', 'config', false],
    [429, 'rate-limit', 'environment-down', true],
    [500, 'server', 'environment-down', true],
    [503, 'overloaded', 'environment-down', true],
    [529, 'overloaded', 'environment-down', true],
  ] as const)('status %d is %s', async (status, kind, code, retryable) => {
    const error = await refusing(
      protocol,
      status,
      bodies[protocol]({ message: 'these words say quota, overloaded, 401' }),
    );
    expect(error).toMatchObject({ kind, failure: { code, retryable } });
    expect(error.usage).toEqual({ ...noUsage, requests: 1 });
    expect(error.failure.where).toBe(`${names[protocol]} at ${server?.url}`);
    expect(error.failure.fix).not.toBe('');
    expect(server?.requests).toHaveLength(1);
  });

  test('a wait that the provider asks for is handed on', async () => {
    const error = await refusing(protocol, 429, {}, { 'retry-after': '7' });
    expect(error.retryAfterMs).toBe(7_000);
  });

  test.each([301, 302, 303, 307, 308])('a key and a prompt do not follow a redirect (%d)', async (status) => {
    const elsewhere = serve(() => new Response('{}'));
    const path = protocol === 'openai' ? '/chat/completions' : '/v1/messages';
    const location = `${elsewhere.url.replace('127.0.0.1', 'localhost')}${path}?token=secret`;
    const error = await refusing(protocol, status, '', { location });
    elsewhere.stop();
    expect(elsewhere.requests).toEqual([]);
    expect(error).toMatchObject({ kind: 'bad-request', failure: { code: 'config', retryable: false } });
    expect(error.failure.what).toContain(`(${status}): it leads to http://localhost:`);
    expect(error.failure.what).not.toContain('secret');
    expect(error.failure.fix).toContain('baseUrl');
  });

  test('a redirect to nowhere is told', async () => {
    expect((await refusing(protocol, 302, '')).failure.what).toBe('the server sends elsewhere (302)');
  });

  test('a page or nothing in place of an error is no obstacle', async () => {
    expect((await refusing(protocol, 502, '<html>Bad gateway</html>')).failure.what).toBe('the server failed (502)');
    server?.stop();
    expect((await refusing(protocol, 500, '')).kind).toBe('server');
  });
});

describe('the code of a provider comes before its status', () => {
  test.each([
    [429, { code: 'insufficient_quota', message: 'slow down' }, 'quota'],
    [429, { code: 'rate_limit_exceeded', message: 'you exceeded your current quota' }, 'rate-limit'],
    [400, { code: 'context_length_exceeded' }, 'context-too-long'],
    [400, { type: 'exceed_context_size_error', code: 400 }, 'context-too-long'],
    [400, { type: 'invalid_request_error', message: 'prompt is too long' }, 'bad-request'],
    [403, { code: 'model_not_found' }, 'model-not-found'],
    [429, { type: 'rate_limit_error', details: { error_code: 'enforced_spend_limit_reached' } }, 'quota'],
    [400, { type: 'billing_error' }, 'quota'],
  ])('%d with %j is %s', (status, error, kind) => {
    expect(kindOf(refusalOf(status, { error }, null))).toBe(kind as 'quota');
  });

  test('and the words of a message never count', () => {
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), fc.string(), fc.string(), (status, one, other) => {
        const kind = (message: string) => kindOf(refusalOf(status, { error: { message } }, null));
        expect(kind(`quota ${one}`)).toBe(kind(other));
      }),
    );
  });
});

describe('error bodies of servers that only resemble the protocol', () => {
  test.each([
    [{ error: 'model "x" not found' }, 'model "x" not found'],
    [{ object: 'error', message: 'too long', type: 'BadRequest', code: 400 }, 'too long'],
    [{ detail: 'Not Found' }, 'Not Found'],
    [[{ error: { message: 'in a list' } }], 'in a list'],
    [[], ''],
    ['plain words', 'plain words'],
    [null, ''],
    [7, ''],
  ])('%j is read', (body, message) => {
    expect(refusalOf(400, body, null).message).toBe(message);
  });
});

describe('what Google says', () => {
  const told = (status: number, details: readonly object[]) =>
    refusalOf(status, { error: { code: status, message: 'words', status: 'X', details } }, null);

  test('of a wrong key, with status 400', () => {
    expect(kindOf(told(400, [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }]))).toBe('auth');
    expect(kindOf(told(400, [{ reason: 'OTHER' }]))).toBe('bad-request');
  });

  test.each([
    ['34s', 34_000],
    ['1.5s', 1_500],
    ['99999999s', 3_600_000],
    ['34', null],
    ['-1s', null],
    [7, null],
  ])('of a wait, in the body: %j', (retryDelay, ms) => {
    expect(told(429, [{ reason: 'RATE_LIMIT_EXCEEDED' }, { retryDelay }]).retryAfterMs).toBe(ms);
  });

  test('comes after the header', () => {
    expect(refusalOf(429, { error: { details: [{ retryDelay: '3s' }] } }, 100).retryAfterMs).toBe(100);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': '99999999' }, 3_600_000],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('%j is %p ms', (headers, ms) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>), now)).toBe(ms);
  });
});

describe('secrets', () => {
  test.each(protocols.flatMap((p) => [400, 401, 403, 404, 429, 500].map((s) => [p, s] as const)))(
    '%s: a server that says the key back with %d does not get it into a message',
    async (protocol, status) => {
      const error = await refusing(protocol, status, bodies[protocol]({ message: `wrong: ${key}, ${key}` }));
      const all = JSON.stringify([error.failure, error.message, String(error), error.stack, Bun.inspect(error)]);
      expect(all).not.toContain(key);
      expect(error.failure.what).not.toBe('');
    },
  );

  test('of a refused key nothing is quoted, for providers show a part of it', async () => {
    const error = await refusing('openai', 401, { error: { message: 'Incorrect API key: sk-test-****cdef' } });
    expect(error.failure).toMatchObject({
      what: 'the key was refused (401)',
      fix: 'check the key in OPENAI_API_KEY, and that it may use this model',
    });
  });

  test('a password in the URL is not shown', async () => {
    server = serve(() =>
      Response.json({ error: { message: 'for user:pa%40ss-word and pa@ss-word' } }, { status: 400 }),
    );
    const baseUrl = `${server.url.replace('http://', 'http://user:pa%40ss-word@')}`;
    const model = modelOf({ model: 'openai-compatible/x', baseUrl });
    const error = await errorOf(model.performCompletion(ask, { signal: never }));
    const all = JSON.stringify([error.failure, Bun.inspect(error), await model.preflight()]);
    expect(all).not.toMatch(/pa@ss-word|pa%40ss-word/);
  });

  test('a long or many-lined message of a server is one bounded line', async () => {
    const error = await refusing('openai', 400, { error: { message: `a\n\n\u001b[31mb ${'x'.repeat(2_000)}` } });
    expect(error.failure.what).toStartWith('the request was refused (400): a [31mb xxx');
    expect(error.failure.what.length).toBeLessThan(400);
  });

  test('a missing key is told by its variable, and nothing is sent', async () => {
    server = serve(() => new Response());
    const model = modelOf({ model: 'openai/gpt-5', baseUrl: server.url, keyEnv: 'MY_KEY' });
    const error = await errorOf(model.performCompletion(ask, { signal: never }));
    expect(error).toMatchObject({ kind: 'auth', usage: noUsage });
    expect(error.failure.what).toContain('MY_KEY');
    expect(await model.preflight()).toMatchObject([{ level: 'error', what: error.failure.what }]);
    expect(server.requests).toEqual([]);
  });

  test('a key that no header can hold is refused without being shown', async () => {
    server = serve(() => new Response());
    const broken = 'sk-broken\nkey-“x”';
    const model = modelOf({ model: 'openai/gpt-5', baseUrl: server.url }, { OPENAI_API_KEY: broken });
    const error = await errorOf(model.performCompletion(ask, { signal: never }));
    expect(error.failure.code).toBe('auth');
    expect(JSON.stringify([error.failure, Bun.inspect(error)])).not.toContain('sk-broken');
    expect(server.requests).toEqual([]);
  });

  test('headers that the environment adds for OpenAI go to nobody else', async () => {
    server = serve(() => Response.json({}, { status: 400 }));
    const headers = 'X-Proxy-Token: for-openai-alone\nX-Other: 1';
    process.env.OPENAI_CUSTOM_HEADERS = headers;
    try {
      for (const model of ['groq/x', 'openai/x'])
        await errorOf(
          modelOf({ model, baseUrl: server.url, keyEnv: null }, { OPENAI_CUSTOM_HEADERS: headers }).performCompletion(
            ask,
            {
              signal: never,
            },
          ),
        );
    } finally {
      delete process.env.OPENAI_CUSTOM_HEADERS;
    }
    expect([...new Set(server.requests.map((r) => r.headers.get('x-proxy-token')))]).toEqual([
      null,
      'for-openai-alone',
    ]);
  });

  test('a key with blanks around it is sent without them', async () => {
    server = serve(() => Response.json({}, { status: 400 }));
    const model = modelOf({ model: 'openai/gpt-5', baseUrl: server.url }, { OPENAI_API_KEY: ` ${key}\n` });
    await errorOf(model.performCompletion(ask, { signal: never }));
    expect(server.requests[0]?.headers.get('authorization')).toBe(`Bearer ${key}`);
  });
});
