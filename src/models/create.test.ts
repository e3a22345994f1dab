import { afterEach, describe, expect, test } from 'bun:test';
import type { ModelSettings } from '../config/model.ts';
import { SkilloptError } from '../ports/failure.ts';
import { createModel } from './index.ts';
import { deadUrl, key, modelOf, serve, serveRaw, type TestServer, variables } from './server-fixture.ts';
import { providerNames, services } from './services.ts';

function failureOf(settings: ModelSettings) {
  try {
    createModel(settings, { variables, folder: '/' });
  } catch (error) {
    if (error instanceof SkilloptError) return error.failure;
    throw error;
  }
  return null;
}

describe('a model', () => {
  test.each([
    ['antropic/claude-opus-4-8', 'did you mean anthropic/claude-opus-4-8?'],
    ['OpenAI/gpt-5', 'did you mean openai/gpt-5?'],
    ['claude-opus-4-8', 'did you mean anthropic/claude-opus-4-8?'],
    ['gpt-5', 'did you mean openai/gpt-5?'],
  ])('%s is refused with the nearest that is known', (model, fix) => {
    expect(failureOf({ model })).toMatchObject({ code: 'config', fix });
  });

  test('of a provider that is like none is refused with all that are known', () => {
    const failure = failureOf({ model: 'quantum-oracle/x' });
    for (const name of providerNames) expect(failure?.fix).toContain(name);
  });

  test.each([
    [{ model: 'openai-compatible/x' }, 'baseUrl of the model'],
    [{ model: 'openai/x', baseUrl: 'http://h/v1?key=1' }, 'baseUrl of the model'],
    [{ model: 'openai' }, 'model'],
    [{ model: 'openai/' }, 'model'],
    [{ model: 'openai/x', command: ['y'] as [string] }, 'command of the model'],
    [{ model: 'command/' }, 'model command/'],
    [{ model: 'command/cloude' }, 'model command/cloude'],
    [{ model: 'toString/x' }, 'model toString/x'],
    [{ model: 'command/toString' }, 'model command/toString'],
  ])('with settings that lack something is refused: %j', (settings, where) => {
    expect(failureOf(settings)).toMatchObject({ code: 'config', where });
  });

  test('of every service that is known can be made, and has a price list that is there', () => {
    for (const [provider, { baseUrl, priceProvider }] of Object.entries(services)) {
      const model = modelOf({ model: `${provider}/x`, ...(baseUrl === null ? { baseUrl: 'http://h/v1' } : {}) });
      expect(model).toMatchObject({ id: `${provider}/x`, takesTools: true, hasPrice: provider === 'openrouter' });
      expect([provider, priceProvider === null || new URL(baseUrl ?? '').protocol === 'https:']).toEqual([
        provider,
        true,
      ]);
    }
    expect(modelOf({ model: 'openai/gpt-5', tools: false }).takesTools).toBe(false);
    const known = ['anthropic/claude-opus-4-8', 'deepseek/deepseek-v4-pro', 'xai/grok-4', 'moonshot/moonshot-v1-8k'];
    expect(known.map((model) => modelOf({ model }).hasPrice)).toEqual(known.map(() => true));
  });
});

describe('preflight', () => {
  let server: TestServer | null = null;
  afterEach(() => server?.stop());

  const listing = (...ids: string[]) => Response.json({ object: 'list', data: ids.map((id) => ({ id })) });
  const findings = (answer: () => Response, model = 'openai-compatible/qwen3-8b') => {
    server = serve(answer);
    return modelOf({ model, baseUrl: server.url }).preflight();
  };

  test('of a server that has the model is well, and asks for nothing but its list', async () => {
    expect(await findings(() => listing('other', 'qwen3-8b'))).toMatchObject([{ level: 'ok', fix: '' }]);
    expect(server?.requests.map((r) => r.path)).toEqual(['/v1/models']);
  });

  test('of a server that does not list the model names the nearest', async () => {
    const found = await findings(() => listing('gemma', 'qwen3-4b', 'org/qwen3-8b-instruct'));
    expect(found).toMatchObject([{ level: 'warning', what: 'the server does not list the model qwen3-8b' }]);
    expect(found[0]?.fix).toContain('qwen3-4b, org/qwen3-8b-instruct');
  });

  test.each([
    [200, 'not json', 'ok'],
    [404, '', 'ok'],
    [401, '{}', 'error'],
    [503, '{}', 'warning'],
  ] as const)('of a server that answers %d %j is %s', async (status, body, level) => {
    expect(await findings(() => new Response(body, { status }))).toMatchObject([{ level }]);
  });

  test('of a server that is not there is an error with the fix', async () => {
    const baseUrl = await deadUrl();
    const found = await modelOf({ model: 'openai-compatible/x', baseUrl }).preflight();
    expect(found).toMatchObject([
      { level: 'error', what: 'no connection (ECONNREFUSED)', where: `openai-compatible/x at ${baseUrl}` },
    ]);
  });

  test('of Anthropic asks with the key and does not mind names that are not listed', async () => {
    expect(await findings(() => listing('a', 'b'), 'anthropic/alias')).toMatchObject([{ level: 'ok' }]);
    expect(server?.requests[0]?.headers.get('authorization')).toBe(`Bearer ${key}`);
    expect(server?.requests[0]?.path).toBe('/v1/models');
  });

  test('says where a seed is not taken', async () => {
    server = serve(() => listing());
    const model = modelOf({ model: 'anthropic/x', baseUrl: server.url, sendSeed: true });
    expect((await model.preflight()).map((f) => f.level)).toEqual(['warning', 'ok']);
  });

  test('of a server that hangs ends with a warning', async () => {
    const silent = await serveRaw(() => undefined);
    const found = await modelOf({ model: 'openai-compatible/x', baseUrl: silent.url, firstByteSec: 0.05 }).preflight();
    silent.stop();
    expect(found).toMatchObject([{ level: 'warning', what: 'the server did not answer within 0.05 s' }]);
  });
});
