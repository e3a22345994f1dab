import type { Protocol } from '../../../ports/gateway.ts';
import type { AgentModel } from '../agent.ts';
import type { CliKind, CliLaunch, CliSeat, McpLaunch } from './cli-kind.ts';
import { piLogin } from './logins/pi.ts';
import { jsonText, keyVariable, ownProvider, plainlyNamed, roomOf, vendorOf } from './own-provider.ts';
import { readPi } from './pi-output.ts';

/** pi's name for each API, and what its clients want behind the gateway's URL. */
const apis: Readonly<Record<Protocol, { readonly api: string; readonly behind: string }>> = {
  messages: { api: 'anthropic-messages', behind: '' },
  responses: { api: 'openai-responses', behind: '/v1' },
  gemini: { api: 'google-generative-ai', behind: '/v1beta' },
  chat: { api: 'openai-completions', behind: '/v1' },
};

/** pi (pi.dev). Its settings, its model and its servers stand in its private home. */
export const pi: CliKind = {
  name: 'pi',
  program: 'pi',
  npmPackage: '@earendil-works/pi-coding-agent',
  tested: '1.6.0',
  node: '22.19.0',
  alsoNeeds: [],
  speaks: ['messages', 'responses', 'gemini', 'chat'],
  skillMounts: [{ base: 'workspace', path: '.agents/skills' }],
  versionArgs: ['--version'],
  login: piLogin,
  launch,
  parse: readPi,
};

function launch(seat: CliSeat): CliLaunch {
  const { model, protocol } = seat;
  const at = model === null || protocol === null ? null : providerOf(model, protocol);
  const named = model?.name ?? seat.modelId;
  const servers = plainlyNamed(seat.mcp);
  return {
    args: [
      ...['--mode', 'json', '--no-session'],
      ...(at === null ? [] : ['--provider', at.name]),
      ...(named === null ? [] : ['--model', named]),
      // without it the skills of the workspace are not loaded
      '--approve',
      ...['--no-extensions', ...(servers.length === 0 ? ['--no-mcp'] : ['--extension', 'builtin:mcp'])],
      ...['--no-prompt-templates', '--no-themes'],
    ],
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0', ...(model === null ? {} : { [keyVariable]: model.key }) },
    homeFiles: {
      '.pi/agent/settings.json': jsonText(at === null ? quiet : { ...quiet, ...patient }),
      ...(at === null ? {} : { '.pi/agent/models.json': jsonText({ providers: { [at.name]: at.settings } }) }),
      ...(servers.length === 0 ? {} : { '.pi/agent/mcp.json': jsonText({ mcpServers: serversOf(servers) }) }),
    },
  };
}

/** Requests that keep a cache warm would be spent on no task. */
const quiet = { cacheWarming: 'off', enableInstallTelemetry: false, enableAnalytics: false };

/** Waiting is the gateway's: it says how long an answer may take, and what it gave up is asked for once more at most. */
const patient = { httpIdleTimeoutMs: 'disabled', retry: { enabled: true, maxRetries: 1, baseDelayMs: 1_000 } };

function providerOf(model: AgentModel, protocol: Protocol): { readonly name: string; readonly settings: object } {
  const { api, behind } = apis[protocol];
  const reached = { baseUrl: `${model.baseUrl}${behind}`, apiKey: `$${keyVariable}` };
  const vendor = vendorOf(model, protocol);
  if (vendor !== null) {
    const told = {
      ...(model.contextTokens === null ? {} : { contextWindow: model.contextTokens }),
      ...(model.maxOutputTokens === null ? {} : { maxTokens: model.maxOutputTokens }),
    };
    const overrides = Object.keys(told).length === 0 ? {} : { modelOverrides: { [model.name]: told } };
    return { name: vendor, settings: { ...reached, ...overrides } };
  }
  const { contextTokens, answerTokens } = roomOf(model);
  const entry = { id: model.name, contextWindow: contextTokens, maxTokens: answerTokens };
  const compat = protocol === 'chat' ? { compat: plainChat(model) } : {};
  return { name: ownProvider, settings: { ...reached, api, ...compat, models: [entry] } };
}

/** pi guesses by the URL what a server takes beyond the common; the gateway's says nothing of the server behind it. */
function plainChat(model: AgentModel): object {
  const openai = model.id.startsWith('openai/');
  return {
    maxTokensField: openai ? 'max_completion_tokens' : 'max_tokens',
    supportsStore: false,
    supportsDeveloperRole: false,
    supportsReasoningEffort: openai,
  };
}

function serversOf(servers: readonly (readonly [string, McpLaunch])[]): object {
  const entry = (server: McpLaunch): object => {
    switch (server.kind) {
      case 'stdio': {
        const [command, ...args] = server.command;
        return { command, args, env: Object.fromEntries(server.env.map((name) => [name, `\${${name}}`])) };
      }
      case 'http':
        return { url: server.url };
      default:
        return server satisfies never;
    }
  };
  // only servers with direct tools are waited for before the first request
  return Object.fromEntries(servers.map(([name, server]) => [name, { ...entry(server), exposure: 'direct' }]));
}
