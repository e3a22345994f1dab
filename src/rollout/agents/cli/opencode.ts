import type { Protocol } from '../../../ports/gateway.ts';
import type { AgentModel } from '../agent.ts';
import type { CliKind, CliLaunch, CliSeat, McpLaunch } from './cli-kind.ts';
import { opencodeLogin } from './logins/opencode.ts';
import { readOpencode } from './opencode-output.ts';
import { jsonText, keyVariable, ownProvider, plainlyNamed, roomOf, vendorOf } from './own-provider.ts';

/** The clients for each API, all of them within the binary, and what they want behind the gateway's URL. */
const clients: Readonly<Record<Protocol, { readonly npm: string; readonly behind: string }>> = {
  messages: { npm: '@ai-sdk/anthropic', behind: '/v1' },
  responses: { npm: '@ai-sdk/openai', behind: '/v1' },
  gemini: { npm: '@ai-sdk/google', behind: '/v1beta' },
  chat: { npm: '@ai-sdk/openai-compatible', behind: '/v1' },
};

/**
 * opencode (opencode.ai). Its config comes by a variable: that one stands above an `opencode.json` of the workspace, a file
 * named by `OPENCODE_CONFIG` below it. Its failures before the first event stand in its log alone, so that is printed.
 */
export const opencode: CliKind = {
  name: 'opencode',
  program: 'opencode',
  npmPackage: 'opencode-ai',
  tested: '1.18.33',
  node: null,
  alsoNeeds: [{ program: 'rg', why: 'without it opencode shows its model the skill and can’t open it' }],
  speaks: ['messages', 'responses', 'gemini', 'chat'],
  skillMounts: [{ base: 'workspace', path: '.agents/skills' }],
  versionArgs: ['--version'],
  login: opencodeLogin,
  launch,
  parse: readOpencode,
};

function launch(seat: CliSeat): CliLaunch {
  const { model, protocol } = seat;
  const at = model === null || protocol === null ? null : providerOf(model, protocol);
  const named = at === null ? seat.modelId : `${at.name}/${model?.name}`;
  const servers = plainlyNamed(seat.mcp);
  const config = {
    autoupdate: false,
    share: 'disabled',
    // undoing is nobody's wish here, and it copies the workspace at every step
    snapshot: false,
    permission: { '*': 'allow', skill: { '*': 'allow', 'customize-opencode': 'deny' } },
    ...(at === null ? {} : { small_model: named, provider: { [at.name]: at.settings } }),
    ...(servers.length === 0 ? {} : { mcp: serversOf(servers) }),
  };
  return {
    // biome-ignore format: a command line
    args: ['run', '--format', 'json', '--thinking', '--pure', '--auto', '--print-logs', '--log-level', 'ERROR',
      // without a title a request asks for one
      '--title', 'task',
      ...(named === null ? [] : ['--model', named])],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      // its plugins let it in by a login
      ...(model === null ? {} : { OPENCODE_DISABLE_DEFAULT_PLUGINS: '1', [keyVariable]: model.key }),
    },
    homeFiles: installed,
  };
}

/** Every start would fetch this package from npm, unless the config folder seems to have it. Nothing of it is used. */
const installed = {
  '.config/opencode/package-lock.json': jsonText({
    packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } },
  }),
  '.config/opencode/node_modules/.package-lock.json': jsonText({ packages: {} }),
};

function providerOf(model: AgentModel, protocol: Protocol): { readonly name: string; readonly settings: object } {
  const { npm, behind } = clients[protocol];
  const options = {
    baseURL: `${model.baseUrl}${behind}`,
    apiKey: `{env:${keyVariable}}`,
    // how long an answer may take is the gateway's to say
    ...{ timeout: false, headerTimeout: false, chunkTimeout: false },
  };
  const { contextTokens, answerTokens } = roomOf(model);
  const limit = { limit: { context: contextTokens, output: answerTokens } };
  const vendor = vendorOf(model, protocol);
  if (vendor === null)
    return { name: ownProvider, settings: { npm, name: ownProvider, options, models: { [model.name]: limit } } };
  const told = model.contextTokens !== null || model.maxOutputTokens !== null;
  return { name: vendor, settings: { options, models: { [model.name]: told ? limit : {} } } };
}

function serversOf(servers: readonly (readonly [string, McpLaunch])[]): object {
  const entry = (server: McpLaunch): object => {
    switch (server.kind) {
      case 'stdio': {
        const environment = Object.fromEntries(server.env.map((name) => [name, `{env:${name}}`]));
        return { type: 'local', command: server.command, environment };
      }
      case 'http':
        return { type: 'remote', url: server.url };
      default:
        return server satisfies never;
    }
  };
  return Object.fromEntries(servers.map(([name, server]) => [name, { ...entry(server), enabled: true }]));
}
