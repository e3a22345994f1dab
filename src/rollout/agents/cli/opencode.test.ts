import { expect, test } from 'bun:test';
import type { Protocol } from '../../../ports/gateway.ts';
import { fakeModel, seatFor } from './cli-fixture.ts';
import type { CliSeat } from './cli-kind.ts';
import { opencode } from './opencode.ts';

const launch = (more: Partial<CliSeat> = {}) => opencode.launch(seatFor({ protocol: 'chat', ...more }));
const config = (more: Partial<CliSeat> = {}) => JSON.parse(launch(more).env.OPENCODE_CONFIG_CONTENT ?? 'null');

test.each<[Protocol, string, string]>([
  ['messages', '@ai-sdk/anthropic', '/v1'],
  ['responses', '@ai-sdk/openai', '/v1'],
  ['gemini', '@ai-sdk/google', '/v1beta'],
  ['chat', '@ai-sdk/openai-compatible', '/v1'],
])('%s is %s', (protocol, npm, behind) => {
  expect(launch({ protocol }).args.slice(-2)).toEqual(['--model', 'skillopt/some-model']);
  const { small_model: small, provider } = config({ protocol });
  expect(small).toBe('skillopt/some-model');
  expect(provider.skillopt).toMatchObject({
    npm,
    options: { baseURL: `${fakeModel.baseUrl}${behind}`, apiKey: '{env:SKILLOPT_KEY}' },
    models: { 'some-model': { limit: { context: 128_000, output: 16_384 } } },
  });
});

test('a vendor’s own model is opencode’s own entry, in another place', () => {
  const model = { ...fakeModel, id: 'openai/gpt-5', name: 'gpt-5' };
  const seat = { protocol: 'responses', model } as const;
  expect(launch(seat).args.slice(-2)).toEqual(['--model', 'openai/gpt-5']);
  const { openai } = config(seat).provider;
  expect(openai).toMatchObject({ options: { baseURL: `${fakeModel.baseUrl}/v1` }, models: { 'gpt-5': {} } });
  expect(openai).not.toHaveProperty('npm');
  const told = config({ ...seat, model: { ...model, contextTokens: 50_000 } }).provider.openai;
  expect(told.models['gpt-5']).toEqual({ limit: { context: 50_000, output: 12_500 } });
});

test('how long an answer may take is the gateway’s to say', () => {
  const { options } = config().provider.skillopt;
  expect(options).toMatchObject({ timeout: false, headerTimeout: false, chunkTimeout: false });
});

test('no skill of its own stands beside the others, and what it would fetch from npm seems to be there', () => {
  expect(config().permission).toEqual({ '*': 'allow', skill: { '*': 'allow', 'customize-opencode': 'deny' } });
  const { homeFiles } = launch();
  const lock = JSON.parse(homeFiles['.config/opencode/package-lock.json'] ?? '');
  expect(lock.packages[''].dependencies).toHaveProperty('@opencode-ai/plugin');
  expect(homeFiles).toHaveProperty(['.config/opencode/node_modules/.package-lock.json']);
});

test('by its own login its plugins are on, and the model is named with its provider', () => {
  const own = { model: null, protocol: null };
  expect(launch().env).toHaveProperty('OPENCODE_DISABLE_DEFAULT_PLUGINS', '1');
  expect(launch(own).env).not.toHaveProperty('OPENCODE_DISABLE_DEFAULT_PLUGINS');
  expect(launch(own).args).not.toContain('--model');
  const named = launch({ ...own, modelName: 'gpt-5', modelId: 'openai/gpt-5' });
  expect(named.args.slice(-2)).toEqual(['--model', 'openai/gpt-5']);
  expect(config(own)).not.toHaveProperty('provider');
});

test('its MCP servers', () => {
  const mcp: CliSeat['mcp'] = {
    my_files: { kind: 'stdio', command: ['npx', '-y', 'files-mcp'], env: ['FILES_TOKEN'] },
    docs: { kind: 'http', url: 'https://docs.example.com/mcp' },
  };
  const environment = { FILES_TOKEN: '{env:FILES_TOKEN}' };
  expect(config({ mcp }).mcp).toEqual({
    'my-files': { type: 'local', command: ['npx', '-y', 'files-mcp'], environment, enabled: true },
    docs: { type: 'remote', url: 'https://docs.example.com/mcp', enabled: true },
  });
});
