import { expect, test } from 'bun:test';
import type { Protocol } from '../../../ports/gateway.ts';
import { fakeModel, seatFor } from './cli-fixture.ts';
import type { CliSeat } from './cli-kind.ts';
import { pi } from './pi.ts';

const launch = (more: Partial<CliSeat> = {}) => pi.launch(seatFor({ protocol: 'chat', ...more }));
const file = (name: string, more: Partial<CliSeat> = {}) =>
  JSON.parse(launch(more).homeFiles[`.pi/agent/${name}`] ?? 'null');
const providers = (more: Partial<CliSeat> = {}) => file('models.json', more).providers;

test.each<[Protocol, string, string]>([
  ['messages', 'anthropic-messages', ''],
  ['responses', 'openai-responses', '/v1'],
  ['gemini', 'google-generative-ai', '/v1beta'],
  ['chat', 'openai-completions', '/v1'],
])('%s is %s', (protocol, api, behind) => {
  expect(launch({ protocol }).args.join(' ')).toContain('--provider skillopt --model some-model');
  const { skillopt } = providers({ protocol });
  expect(skillopt).toMatchObject({ api, baseUrl: `${fakeModel.baseUrl}${behind}`, apiKey: '$SKILLOPT_KEY' });
  expect(skillopt.models).toEqual([{ id: 'some-model', contextWindow: 128_000, maxTokens: 16_384 }]);
});

test('a vendor’s own model is pi’s own entry, in another place', () => {
  const model = { ...fakeModel, id: 'anthropic/claude-opus-4-8', name: 'claude-opus-4-8' };
  const seat = { protocol: 'messages', model } as const;
  expect(launch(seat).args.join(' ')).toContain('--provider anthropic --model claude-opus-4-8');
  expect(providers(seat)).toEqual({ anthropic: { baseUrl: model.baseUrl, apiKey: '$SKILLOPT_KEY' } });
  const told = providers({ ...seat, model: { ...model, maxOutputTokens: 9_000 } });
  expect(told.anthropic.modelOverrides).toEqual({ 'claude-opus-4-8': { maxTokens: 9_000 } });
});

test('a server that nobody knows is sent what all of them take', () => {
  expect(providers().skillopt.compat).toMatchObject({ maxTokensField: 'max_tokens', supportsStore: false });
  const { compat } = providers({ model: { ...fakeModel, id: 'openai/gpt-5' } }).skillopt;
  expect(compat).toMatchObject({ maxTokensField: 'max_completion_tokens' });
});

test('the gateway waits, and pi does not; by its own login it waits as ever', () => {
  const waits = { httpIdleTimeoutMs: 'disabled', retry: { maxRetries: 1 } };
  expect(file('settings.json')).toMatchObject({ cacheWarming: 'off', ...waits });
  const own = file('settings.json', { model: null, protocol: null });
  expect(own).toHaveProperty('cacheWarming', 'off');
  expect(own).not.toHaveProperty('retry');
});

test('the skills of the workspace are loaded, and what else lies there is not', () => {
  const { args } = launch();
  expect(args).toContain('--approve');
  for (const off of ['--no-extensions', '--no-mcp', '--no-prompt-templates', '--no-themes'])
    expect(args).toContain(off);
});

test('its MCP servers, whose tools are there with the first request', () => {
  const mcp: CliSeat['mcp'] = {
    my_files: { kind: 'stdio', command: ['npx', '-y', 'files-mcp'], env: ['FILES_TOKEN'] },
    docs: { kind: 'http', url: 'https://docs.example.com/mcp' },
  };
  expect(launch({ mcp }).args).toContain('builtin:mcp');
  expect(launch({ mcp }).args).not.toContain('--no-mcp');
  const env = { FILES_TOKEN: '$' + '{FILES_TOKEN}' };
  expect(file('mcp.json', { mcp }).mcpServers).toEqual({
    'my-files': { command: 'npx', args: ['-y', 'files-mcp'], env, exposure: 'direct' },
    docs: { url: 'https://docs.example.com/mcp', exposure: 'direct' },
  });
});
