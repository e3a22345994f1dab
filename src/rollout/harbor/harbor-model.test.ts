import { describe, expect, test } from 'bun:test';
import type { ModelSettings } from '../../config/model.ts';
import { harborModel, NO_KEY } from './harbor-model.ts';

const docker = { type: 'docker' } as const;
const of = (agent: string, settings: ModelSettings | null, more: Partial<Parameters<typeof harborModel>[1]> = {}) =>
  harborModel(settings, { agent: { name: agent }, environment: docker, login: 'key', ...more });

describe('a model as Harbor is told of it', () => {
  const rows: readonly (readonly [string, ModelSettings, readonly (string | null)[]])[] = [
    ['claude-code', { model: 'anthropic/a' }, ['anthropic/a', null, 'ANTHROPIC_API_KEY', null]],
    ['claude-code', { model: 'anthropic/a', keyEnv: 'MINE' }, ['anthropic/a', null, 'MINE', null]],
    [
      'claude-code',
      { model: 'anthropic/a', baseUrl: 'https://proxy.example/v1/' },
      ['anthropic/a', 'https://proxy.example', 'ANTHROPIC_API_KEY', 'anthropic_messages'],
    ],
    [
      'claude-code',
      { model: 'openai-compatible/q', baseUrl: 'https://proxy.example/v1', protocols: ['messages'], keyEnv: 'MINE' },
      ['openai/q', 'https://proxy.example', 'MINE', 'anthropic_messages'],
    ],
    ['claude-code', { model: 'openrouter/v/m' }, ['openrouter/v/m', null, 'OPENROUTER_API_KEY', null]],
    ['codex', { model: 'openai/gpt-5' }, ['openai/gpt-5', null, 'OPENAI_API_KEY', null]],
    [
      'codex',
      { model: 'openai/gpt-5', baseUrl: 'https://proxy.example/v1' },
      ['openai/gpt-5', 'https://proxy.example/v1', 'OPENAI_API_KEY', 'openai_responses'],
    ],
    ['pi', { model: 'google/g' }, ['google/g', null, 'GEMINI_API_KEY', null]],
    [
      'pi',
      { model: 'openai-compatible/q', baseUrl: 'https://x.example/v1' },
      ['openai/q', 'https://x.example/v1', NO_KEY, 'openai_chat_completions'],
    ],
    [
      'pi',
      { model: 'anthropic/a', baseUrl: 'https://x.example/v1' },
      ['anthropic/a', 'https://x.example', 'ANTHROPIC_API_KEY', 'anthropic_messages'],
    ],
    [
      'pi',
      { model: 'together/o/m' },
      ['openai/o/m', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY', 'openai_chat_completions'],
    ],
    [
      'opencode',
      { model: 'anthropic/a', baseUrl: 'https://x.example' },
      ['anthropic/a', 'https://x.example/v1', 'ANTHROPIC_API_KEY', 'anthropic_messages'],
    ],
    [
      'opencode',
      { model: 'google/g', baseUrl: 'https://x.example' },
      ['gemini/g', 'https://x.example/v1beta', 'GEMINI_API_KEY', null],
    ],
    [
      'opencode',
      { model: 'openai-compatible/q', baseUrl: 'https://x.example/v1' },
      ['openai-compatible/q', 'https://x.example/v1', NO_KEY, 'openai_chat_completions'],
    ],
    ['opencode', { model: 'groq/g' }, ['groq/g', null, 'GROQ_API_KEY', null]],
    [
      'gemini-cli',
      { model: 'google/g', baseUrl: 'https://x.example/v1beta/openai' },
      ['gemini/g', 'https://x.example', 'GEMINI_API_KEY', 'google_generate_content'],
    ],
    ['terminus-2', { model: 'ollama/l' }, ['openai/l', 'http://localhost:11434/v1', NO_KEY, 'openai_chat_completions']],
    ['goose', { model: 'openai/gpt-5' }, ['openai/gpt-5', null, 'OPENAI_API_KEY', null]],
    [
      'goose',
      { model: 'openai/gpt-5', baseUrl: 'https://x.example/v1' },
      ['openai/gpt-5', 'https://x.example/v1', 'OPENAI_API_KEY', null],
    ],
  ];
  test.each(rows)('%s %j', (agent, settings, [name, baseUrl, keyName, apiFormat]) => {
    expect(of(agent, settings)).toEqual({
      model: { name: String(name), baseUrl: baseUrl ?? null, keyName: keyName ?? null, apiFormat: apiFormat ?? null },
      agentEnv: [],
      findings: [],
    });
  });

  test('no model is none', () => {
    expect(of('pi', null)).toEqual({ model: null, agentEnv: [], findings: [] });
  });

  test.each([
    ['claude-code', { model: 'openai/gpt-5' }, /claude-code speaks Anthropic Messages, and openai\/gpt-5 answers in/],
    ['codex', { model: 'groq/x' }, /codex speaks OpenAI Responses/],
    ['gemini-cli', { model: 'anthropic/a' }, /gemini-cli speaks Gemini/],
    ['pi', { model: 'command/claude' }, /a command is no model/],
    ['pi', { model: 'nobody/x' }, /names no provider/],
    ['pi', { model: 'openai-compatible/x' }, /has no URL/],
  ] as const)('%s and %j do not fit', (agent, settings, what) => {
    const { model, findings } = of(agent, settings);
    expect(model).toBeNull();
    expect(findings).toMatchObject([{ level: 'error', what: expect.stringMatching(what) }]);
    expect(findings[0]?.fix).not.toBe('');
  });

  test('what only the gateway sets is said to be ignored', () => {
    const { model, findings } = of('pi', { model: 'openai/gpt-5', temperature: 0, sendSeed: true });
    expect(model).not.toBeNull();
    expect(findings).toMatchObject([{ level: 'warning', what: expect.stringMatching(/^temperature, sendSeed /) }]);
  });
});

describe('an address of this machine', () => {
  test.each(['http://127.0.0.1:8000/v1', 'http://localhost:8000/v1', 'http://[::1]:8000/v1'])(
    '%s is the host’s for a container, with a word about where it listens',
    (baseUrl) => {
      const { model, findings } = of('pi', { model: 'openai-compatible/q', baseUrl });
      expect(model?.baseUrl).toBe('http://host.docker.internal:8000/v1');
      expect(findings).toMatchObject([{ level: 'warning', fix: expect.stringMatching(/172\.17\.0\.1/) }]);
    },
  );

  const settings = { model: 'openai-compatible/q', baseUrl: 'http://127.0.0.1:8000/v1' };
  test('is itself where the requests come from this machine', () => {
    const local = { environment: { importPath: 'mine:Env' } } as const;
    expect(of('pi', settings, local)).toMatchObject({ model: { baseUrl: settings.baseUrl }, findings: [] });
    expect(of('terminus-2', settings)).toMatchObject({ model: { baseUrl: settings.baseUrl }, findings: [] });
  });

  test('is nowhere for a cloud', () => {
    const { model, findings } = of('pi', settings, { environment: { type: 'daytona' } });
    expect(model).toBeNull();
    expect(findings).toMatchObject([{ level: 'error', what: expect.stringMatching(/trials on daytona don’t reach/) }]);
  });
});

describe('a login', () => {
  const login = { login: 'subscription' } as const;
  test('of Claude goes in by the name of its token', () => {
    const model = { name: 'anthropic/a', baseUrl: null, keyName: null, apiFormat: null };
    const agentEnv = ['CLAUDE_CODE_OAUTH_TOKEN'];
    expect(of('claude-code', { model: 'anthropic/a' }, login)).toEqual({ model, agentEnv, findings: [] });
    expect(of('claude-code', null, login)).toEqual({ model: null, agentEnv, findings: [] });
  });

  test.each([
    ['codex', null],
    ['claude-code', { model: 'anthropic/a', baseUrl: 'https://x.example' }],
    ['claude-code', { model: 'openai/gpt-5' }],
  ] as const)('of %s with %j is refused', (agent, settings) => {
    const { agentEnv, findings } = of(agent, settings, login);
    expect(agentEnv).toEqual([]);
    expect(findings).toMatchObject([{ level: 'error', fix: expect.stringMatching(/"login": "key"/) }]);
  });
});
