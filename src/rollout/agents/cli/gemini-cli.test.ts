import { expect, test } from 'bun:test';
import { fakeModel, seatFor } from './cli-fixture.ts';
import type { CliSeat } from './cli-kind.ts';
import { geminiCli } from './gemini-cli.ts';

const launch = (more: Partial<CliSeat> = {}) => geminiCli.launch(seatFor({ protocol: 'gemini', ...more }));
const settings = (more: Partial<CliSeat> = {}) => JSON.parse(launch(more).homeFiles['.gemini/settings.json'] ?? 'null');

test('its settings are those of its home, and none of the machine', () => {
  const { env, homeFiles } = launch();
  expect(env).toMatchObject({ GEMINI_API_KEY: fakeModel.key, GOOGLE_GEMINI_BASE_URL: fakeModel.baseUrl });
  for (const name of ['GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH']) {
    expect(env[name]).toStartWith('/home/agent/');
    expect(homeFiles).not.toHaveProperty([(env[name] ?? '').replace('/home/agent/', '')]);
  }
  expect(settings()).toMatchObject({
    general: { maxAttempts: 2 },
    skills: { enabled: true, disabled: ['skill-creator', 'antigravity-support'] },
    security: { auth: { selectedType: 'gemini-api-key' } },
  });
});

test('most turns, where there is such a limit', () => {
  expect(settings()).not.toHaveProperty('model');
  expect(settings({ maxTurns: 7 }).model).toEqual({ maxSessionTurns: 7 });
});

test('nothing is searched or fetched by the provider for it', () => {
  const policy = Bun.TOML.parse(launch().homeFiles['.gemini/policies/skillopt.toml'] ?? '');
  expect(policy).toMatchObject({ rule: [{ toolName: ['google_web_search', 'web_fetch'], decision: 'deny' }] });
});

test('by its own login it is let in by that, and waits for no reset', () => {
  const own = { model: null, protocol: null };
  expect(settings(own).security.auth.selectedType).toBe('oauth-personal');
  expect(settings(own).general.maxAttempts).toBe(1);
  expect(launch({ ...own, modelName: 'gemini-2.5-pro' }).args.slice(-2)).toEqual(['--model', 'gemini-2.5-pro']);
  expect(launch(own).args).not.toContain('--model');
});

test('its MCP servers', () => {
  const mcp: CliSeat['mcp'] = {
    my_files: { kind: 'stdio', command: ['npx', '-y', 'files-mcp'], env: ['FILES_TOKEN'] },
    docs: { kind: 'http', url: 'https://docs.example.com/mcp' },
  };
  const env = { FILES_TOKEN: '$' + '{FILES_TOKEN}' };
  expect(settings({ mcp }).mcpServers).toEqual({
    'my-files': { command: 'npx', args: ['-y', 'files-mcp'], env, trust: true },
    docs: { httpUrl: 'https://docs.example.com/mcp', trust: true },
  });
});
