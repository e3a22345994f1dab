import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Protocol, protocols } from '../../../ports/gateway.ts';
import type { AgentModel } from '../agent.ts';
import type { CliLaunch, CliSeat, McpLaunch } from './cli-kind.ts';
import { geminiCli } from './gemini-cli.ts';
import { cliKinds } from './kinds.ts';
import { opencode } from './opencode.ts';
import { plainlyNamed, roomOf, vendorOf } from './own-provider.ts';
import { pi } from './pi.ts';

const key = 'dummy-key-7091';

const model = (id: string, more: Partial<AgentModel> = {}): AgentModel => ({
  id,
  name: id.slice(id.indexOf('/') + 1),
  baseUrl: 'http://127.0.0.1:8787/t/abc',
  key,
  protocols,
  contextTokens: null,
  maxOutputTokens: null,
  ...more,
});

const seat = (protocol: Protocol | null, more: Partial<CliSeat> = {}): CliSeat => ({
  workspace: '/workspace',
  home: '/home/agent',
  temp: '/tmp',
  logDir: '/logs/agent',
  skillName: 'widget',
  model: protocol === null ? null : model('openai-compatible/qwen3:8b'),
  protocol,
  modelName: null,
  modelId: null,
  maxTurns: null,
  maxUsd: null,
  timeoutMs: 60_000,
  mcp: {},
  ...more,
});

const everyWay = cliKinds.flatMap((kind) => kind.speaks.map((protocol) => [kind.name, protocol, kind] as const));

const text = (launch: CliLaunch) => JSON.stringify(launch);
const fileOf = (launch: CliLaunch, path: string) => JSON.parse(launch.homeFiles[path] ?? 'null');
const configOf = (launch: CliLaunch) => JSON.parse(launch.env.OPENCODE_CONFIG_CONTENT ?? 'null');

describe('every agent', () => {
  test.each(everyWay)(
    '%s by %s: model, place and key are told; the key stands in no argument and no file',
    (...row) => {
      const [, protocol, kind] = row;
      const launch = kind.launch(seat(protocol));
      expect(text(launch)).toContain('http://127.0.0.1:8787/t/abc');
      expect(text(launch)).toContain('qwen3:8b');
      expect(Object.values(launch.env)).toContain(key);
      expect(JSON.stringify([launch.args, launch.homeFiles])).not.toContain(key);
    },
  );

  test.each(cliKinds.map((kind) => [kind.name, kind] as const))(
    '%s by its own login: neither place nor key',
    (_, kind) => {
      const launch = kind.launch(seat(null, { modelName: 'sonnet-9', modelId: 'anthropic/sonnet-9' }));
      expect(text(launch)).not.toContain('127.0.0.1');
      expect(text(launch)).not.toContain('KEY');
      expect(text(launch)).toContain('sonnet-9');
      expect(text(kind.launch(seat(null)))).not.toContain('undefined');
    },
  );

  test('any seat gives a launch whose files are whole', () => {
    const launches: fc.Arbitrary<McpLaunch> = fc.oneof(
      fc.record({
        kind: fc.constant('stdio' as const),
        command: fc.array(fc.string(), { minLength: 1 }),
        env: fc.array(fc.string({ minLength: 1 })),
      }),
      fc.webUrl().map((url) => ({ kind: 'http' as const, url })),
    );
    const ways = fc.constantFrom(...everyWay);
    const names = fc.string({ minLength: 1 });
    const tokens = fc.option(fc.integer({ min: 1, max: 2_000_000 }));
    fc.assert(
      fc.property(ways, names, tokens, tokens, fc.dictionary(names, launches), (way, name, takes, writes, mcp) => {
        const [, protocol, kind] = way;
        const asked = model(`openai/${name}`, { contextTokens: takes, maxOutputTokens: writes });
        const launch = kind.launch(seat(protocol, { model: asked, mcp, maxTurns: 3, maxUsd: 1 }));
        const files = Object.entries(launch.homeFiles);
        for (const [path, content] of files) {
          expect(path.startsWith('/')).toBe(false);
          if (path.endsWith('.json')) expect(() => JSON.parse(content)).not.toThrow();
        }
        expect([...launch.args, ...Object.values(launch.env)].every((word) => typeof word === 'string')).toBe(true);
        expect(files.some(([, content]) => content.includes(key))).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});

describe('what an agent knows of a model', () => {
  test.each<[string, Protocol, string | null]>([
    ['anthropic/claude-opus-4-8', 'messages', 'anthropic'],
    ['anthropic/claude-opus-4-8', 'chat', null],
    ['anthropic/glm-5', 'messages', null],
    ['openai/gpt-5', 'responses', 'openai'],
    ['openai/o3', 'responses', 'openai'],
    ['openai/gpt-5', 'chat', null],
    ['google/gemini-2.5-pro', 'gemini', 'google'],
    ['openai-compatible/gpt-oss', 'responses', null],
    ['constructor/x', 'chat', null],
  ])('%s by %s', (id, protocol, vendor) => {
    expect(vendorOf(model(id), protocol)).toBe(vendor);
  });

  test('an unknown one is given room for its answer within what it takes', () => {
    expect(roomOf(model('a/b'))).toEqual({ contextTokens: 128_000, answerTokens: 16_384 });
    expect(roomOf(model('a/b', { contextTokens: 8_192 }))).toEqual({ contextTokens: 8_192, answerTokens: 2_048 });
    const told = model('a/b', { contextTokens: 8_192, maxOutputTokens: 4_000 });
    expect(roomOf(told)).toEqual({ contextTokens: 8_192, answerTokens: 4_000 });
  });

  test('servers keep names of their own, whatever these hold', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.nat()), (entries) => {
        const named = plainlyNamed(entries);
        expect(named.map(([, value]) => value)).toEqual(Object.values(entries));
        expect(new Set(named.map(([name]) => name)).size).toBe(named.length);
        for (const [name] of named) expect(name).toMatch(/^[A-Za-z0-9-]+$/);
      }),
    );
  });
});

const servers: CliSeat['mcp'] = {
  my_files: { kind: 'stdio', command: ['npx', '-y', 'files-mcp'], env: ['FILES_TOKEN'] },
  docs: { kind: 'http', url: 'https://docs.example.com/mcp' },
};

describe('pi', () => {
  const providers = (launch: CliLaunch) => fileOf(launch, '.pi/agent/models.json').providers;

  test.each<[Protocol, string, string]>([
    ['messages', 'anthropic-messages', ''],
    ['responses', 'openai-responses', '/v1'],
    ['gemini', 'google-generative-ai', '/v1beta'],
    ['chat', 'openai-completions', '/v1'],
  ])('%s is %s', (protocol, api, behind) => {
    const launch = pi.launch(seat(protocol));
    expect(launch.args.join(' ')).toContain('--provider skillopt --model qwen3:8b');
    const baseUrl = `http://127.0.0.1:8787/t/abc${behind}`;
    expect(providers(launch).skillopt).toMatchObject({ api, baseUrl, apiKey: '$SKILLOPT_KEY' });
    expect(providers(launch).skillopt.models).toEqual([{ id: 'qwen3:8b', contextWindow: 128_000, maxTokens: 16_384 }]);
  });

  test('a vendor’s own model is pi’s own entry, elsewhere', () => {
    const asked = model('anthropic/claude-opus-4-8');
    const launch = pi.launch(seat('messages', { model: asked }));
    expect(launch.args.join(' ')).toContain('--provider anthropic --model claude-opus-4-8');
    expect(providers(launch)).toEqual({ anthropic: { baseUrl: asked.baseUrl, apiKey: '$SKILLOPT_KEY' } });
    const told = pi.launch(seat('messages', { model: { ...asked, maxOutputTokens: 9_000 } }));
    expect(providers(told).anthropic.modelOverrides).toEqual({ 'claude-opus-4-8': { maxTokens: 9_000 } });
  });

  test('a server that nobody knows is sent what all of them take', () => {
    const compat = (id: string) => providers(pi.launch(seat('chat', { model: model(id) }))).skillopt.compat;
    expect(compat('openai-compatible/m')).toMatchObject({ maxTokensField: 'max_tokens', supportsStore: false });
    expect(compat('openai/gpt-5')).toMatchObject({ maxTokensField: 'max_completion_tokens' });
  });

  test('the gateway waits, and pi does not; by its own login it does as ever', () => {
    const settings = (launch: CliLaunch) => fileOf(launch, '.pi/agent/settings.json');
    const waits = { httpIdleTimeoutMs: 'disabled', retry: { maxRetries: 1 } };
    expect(settings(pi.launch(seat('chat')))).toMatchObject({ cacheWarming: 'off', ...waits });
    expect(settings(pi.launch(seat(null)))).not.toHaveProperty('retry');
    expect(settings(pi.launch(seat(null)))).toHaveProperty('cacheWarming', 'off');
  });

  test('its MCP servers', () => {
    const launch = pi.launch(seat('chat', { mcp: servers }));
    expect(launch.args).toContain('builtin:mcp');
    expect(launch.args).not.toContain('--no-mcp');
    expect(fileOf(launch, '.pi/agent/mcp.json').mcpServers).toEqual({
      'my-files': {
        command: 'npx',
        args: ['-y', 'files-mcp'],
        env: { FILES_TOKEN: `\${FILES_TOKEN}` },
        exposure: 'direct',
      },
      docs: { url: 'https://docs.example.com/mcp', exposure: 'direct' },
    });
    expect(pi.launch(seat('chat')).args).toContain('--no-mcp');
  });
});

describe('opencode', () => {
  test.each<[Protocol, string, string]>([
    ['messages', '@ai-sdk/anthropic', '/v1'],
    ['responses', '@ai-sdk/openai', '/v1'],
    ['gemini', '@ai-sdk/google', '/v1beta'],
    ['chat', '@ai-sdk/openai-compatible', '/v1'],
  ])('%s is %s', (protocol, npm, behind) => {
    const launch = opencode.launch(seat(protocol));
    expect(launch.args.slice(-2)).toEqual(['--model', 'skillopt/qwen3:8b']);
    const { small_model: small, provider } = configOf(launch);
    expect(small).toBe('skillopt/qwen3:8b');
    expect(provider.skillopt).toMatchObject({
      npm,
      models: { 'qwen3:8b': { limit: { context: 128_000, output: 16_384 } } },
    });
    const options = { baseURL: `http://127.0.0.1:8787/t/abc${behind}`, apiKey: '{env:SKILLOPT_KEY}' };
    expect(provider.skillopt.options).toMatchObject({ ...options, headerTimeout: false, chunkTimeout: false });
  });

  test('a vendor’s own model is opencode’s own entry, elsewhere', () => {
    const launch = opencode.launch(seat('responses', { model: model('openai/gpt-5') }));
    expect(launch.args.slice(-2)).toEqual(['--model', 'openai/gpt-5']);
    expect(configOf(launch).provider.openai).toMatchObject({ models: { 'gpt-5': {} } });
    expect(configOf(launch).provider.openai).not.toHaveProperty('npm');
  });

  test('the skill is not one among its own, and the package that it would fetch seems to be there', () => {
    const launch = opencode.launch(seat('chat'));
    expect(configOf(launch).permission).toEqual({
      '*': 'allow',
      skill: { '*': 'allow', 'customize-opencode': 'deny' },
    });
    const lock = fileOf(launch, '.config/opencode/package-lock.json');
    expect(lock.packages[''].dependencies).toHaveProperty('@opencode-ai/plugin');
    expect(Object.keys(launch.homeFiles)).toContain('.config/opencode/node_modules/.package-lock.json');
  });

  test('by its own login its plugins are on, and the model is named with its provider', () => {
    const launch = opencode.launch(seat(null, { modelName: 'gpt-5', modelId: 'openai/gpt-5' }));
    expect(launch.env).not.toHaveProperty('OPENCODE_DISABLE_DEFAULT_PLUGINS');
    expect(launch.args.slice(-2)).toEqual(['--model', 'openai/gpt-5']);
    expect(configOf(launch)).not.toHaveProperty('provider');
  });

  test('its MCP servers', () => {
    expect(configOf(opencode.launch(seat('chat', { mcp: servers }))).mcp).toEqual({
      'my-files': {
        type: 'local',
        command: ['npx', '-y', 'files-mcp'],
        environment: { FILES_TOKEN: '{env:FILES_TOKEN}' },
        enabled: true,
      },
      docs: { type: 'remote', url: 'https://docs.example.com/mcp', enabled: true },
    });
  });
});

describe('gemini-cli', () => {
  const settings = (launch: CliLaunch) => fileOf(launch, '.skillopt/gemini-settings.json');

  test('its settings stand above those of a workspace and of the machine', () => {
    const launch = geminiCli.launch(seat('gemini', { maxTurns: 7 }));
    expect(launch.env.GEMINI_CLI_SYSTEM_SETTINGS_PATH).toBe('/home/agent/.skillopt/gemini-settings.json');
    expect(settings(launch)).toMatchObject({
      general: { maxAttempts: 2 },
      model: { maxSessionTurns: 7 },
      skills: { enabled: true, disabled: ['skill-creator', 'antigravity-support'] },
      security: { auth: { selectedType: 'gemini-api-key' } },
    });
    expect(settings(geminiCli.launch(seat('gemini')))).not.toHaveProperty('model');
  });

  test('by its own login it is let in by that', () => {
    const launch = geminiCli.launch(seat(null));
    expect(settings(launch).security.auth.selectedType).toBe('oauth-personal');
    expect(settings(launch).general).not.toHaveProperty('maxAttempts');
  });

  test('its MCP servers', () => {
    expect(settings(geminiCli.launch(seat('gemini', { mcp: servers }))).mcpServers).toEqual({
      'my-files': { command: 'npx', args: ['-y', 'files-mcp'], env: { FILES_TOKEN: `\${FILES_TOKEN}` }, trust: true },
      docs: { httpUrl: 'https://docs.example.com/mcp', trust: true },
    });
  });
});
