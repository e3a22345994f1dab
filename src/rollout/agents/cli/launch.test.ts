import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { claudeCode } from './claude-code.ts';
import { fakeModel, seatFor } from './cli-fixture.ts';
import type { CliSeat } from './cli-kind.ts';
import { codex } from './codex.ts';

const mcp: CliSeat['mcp'] = {
  'my bell': { kind: 'stdio', command: ['bell', '--loud', 'a "b" \\c\n'], env: ['BELL_TOKEN'] },
  far: { kind: 'http', url: 'http://far.example/mcp' },
};

/** The value behind a switch. */
const after = (args: readonly string[], name: string) => args[args.indexOf(name) + 1];

describe('claude-code', () => {
  const launch = (more: Partial<CliSeat> = {}) => claudeCode.launch(seatFor(more));

  test('is reached at the gateway alone, with one model for all that it asks', () => {
    const { env, args } = launch();
    expect(env).toMatchObject({ ANTHROPIC_BASE_URL: fakeModel.baseUrl, ANTHROPIC_API_KEY: fakeModel.key });
    const models = Object.entries(env).filter(([name]) => /MODEL$/.test(name));
    expect(models.map(([name]) => name)).toContain('CLAUDE_CODE_SUBAGENT_MODEL');
    expect(new Set(models.map(([, value]) => value))).toEqual(new Set(['some-model']));
    expect(after(args, '--tools')?.split(',')).toContain('Skill');
    expect(args).toContain('--strict-mcp-config');
    expect(env.CLAUDE_CODE_TMPDIR).toBe('/tmp');
    expect(args.join(' ')).not.toContain(fakeModel.key);
  });

  test('by a login: no base URL, no key, the model by name if there is one', () => {
    const { env } = launch({ model: null, protocol: null });
    expect(Object.keys(env).filter((name) => /^ANTHROPIC|TIMEOUT/.test(name))).toEqual([]);
    const named = launch({ model: null, protocol: null, modelName: 'claude-opus-5' }).env;
    expect(named).toMatchObject({ ANTHROPIC_MODEL: 'claude-opus-5' });
    expect(named).not.toHaveProperty('ANTHROPIC_BASE_URL');
  });

  test('its limits, and the root of a machine, are told by switches', () => {
    const plain = launch();
    expect(plain.args).not.toContain('--max-turns');
    expect(plain.env).not.toHaveProperty('IS_SANDBOX');
    const { args, env } = launch({ maxTurns: 12, maxUsd: 0.5, asRoot: true });
    expect([after(args, '--max-turns'), after(args, '--max-budget-usd'), env.IS_SANDBOX]).toEqual(['12', '0.5', '1']);
  });

  test('what is the vendor’s alone is asked of the vendor’s models alone', () => {
    const own = { ...fakeModel, id: 'anthropic/claude-opus-5', name: 'claude-opus-5' };
    expect(launch().env).toHaveProperty('CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS', '1');
    expect(launch({ model: own }).env).not.toHaveProperty('CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS');
  });

  test('the room of the model, where it is known', () => {
    expect(launch({ model: { ...fakeModel, contextTokens: 32_000, maxOutputTokens: 2_000 } }).env).toMatchObject({
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: '32000',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: '2000',
    });
  });

  test('MCP servers stand in a file of their own, with names of variables and no values', () => {
    expect(launch().args).not.toContain('--mcp-config');
    const { args, homeFiles } = launch({ mcp });
    const file = after(args, '--mcp-config')?.replace('/home/agent/', '') ?? '';
    expect(JSON.parse(homeFiles[file] ?? '')).toEqual({
      mcpServers: {
        'my-bell': {
          type: 'stdio',
          command: 'bell',
          args: ['--loud', 'a "b" \\c\n'],
          env: { BELL_TOKEN: '$' + '{BELL_TOKEN}' },
        },
        far: { type: 'http', url: 'http://far.example/mcp' },
      },
    });
  });
});

describe('codex', () => {
  const configOf = (more: Partial<CliSeat> = {}) => {
    const { homeFiles } = codex.launch(seatFor({ protocol: 'responses', ...more }));
    return Bun.TOML.parse(homeFiles['.codex/config.toml'] ?? '') as Record<string, unknown>;
  };

  test('is reached at the gateway as a provider of our own', () => {
    expect(configOf()).toMatchObject({
      model: 'some-model',
      model_provider: 'skillopt',
      web_search: 'disabled',
      analytics: { enabled: false },
      skills: { bundled: { enabled: false } },
      model_providers: {
        skillopt: { base_url: `${fakeModel.baseUrl}/v1`, env_key: 'SKILLOPT_KEY', wire_api: 'responses' },
      },
    });
    const { env, args } = codex.launch(seatFor());
    expect(env).toEqual({ CODEX_HOME: '/home/agent/.codex', SKILLOPT_KEY: fakeModel.key });
    expect([args[0], after(args, '-C'), args.at(-1)]).toEqual(['exec', '/workspace', '-']);
    expect(args.join(' ')).not.toContain(fakeModel.key);
  });

  test('by a login: its own provider, no key, the model by name if there is one', () => {
    const config = configOf({ model: null });
    expect(Object.keys(config).sort()).toEqual(['analytics', 'check_for_update_on_startup', 'skills', 'web_search']);
    expect(codex.launch(seatFor({ model: null })).env).toEqual({ CODEX_HOME: '/home/agent/.codex' });
    expect(configOf({ model: null, modelName: 'gpt-6' })).toMatchObject({ model: 'gpt-6' });
  });

  test('the room of the model, where it is known', () => {
    expect(configOf()).not.toHaveProperty('model_context_window');
    expect(configOf({ model: { ...fakeModel, contextTokens: 64_000 } })).toMatchObject({
      model_context_window: 64_000,
    });
  });

  test('MCP servers, with names of variables and no values', () => {
    expect(configOf({ mcp }).mcp_servers).toEqual({
      'my-bell': { command: 'bell', args: ['--loud', 'a "b" \\c\n'], env_vars: ['BELL_TOKEN'] },
      far: { url: 'http://far.example/mcp' },
    });
  });

  test('any name and any word come back as they are', () => {
    const word = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 1 }), fc.array(word), (name, command, env) => {
        const model = { ...fakeModel, name };
        const config = configOf({ model, mcp: { one: { kind: 'stdio', command, env } } });
        expect(config.model).toBe(name);
        const [program, ...args] = command;
        expect(config.mcp_servers).toEqual({ one: { command: program, args, env_vars: env } });
      }),
      { numRuns: 100 },
    );
  });
});
