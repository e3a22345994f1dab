import type { AgentModel } from '../agent.ts';
import type { CliKind, CliLaunch, CliSeat, McpLaunch } from './cli-kind.ts';
import { readCodex } from './codex-output.ts';
import { codexLogin } from './logins/codex.ts';
import { keyVariable, ownProvider, plainlyNamed } from './own-provider.ts';

/** OpenAI's Codex. It asks its model as a provider of our own: its built-in one tries a websocket first. */
export const codex: CliKind = {
  name: 'codex',
  program: 'codex',
  npmPackage: '@openai/codex',
  tested: '0.171.0',
  node: '16.0.0',
  alsoNeeds: [],
  speaks: ['responses'],
  skillMounts: [{ base: 'workspace', path: '.agents/skills' }],
  versionArgs: ['--version'],
  login: codexLogin,
  launch,
  parse: readCodex,
};

function launch(seat: CliSeat): CliLaunch {
  return {
    args: [
      ...['exec', '--json', '--ephemeral', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      ...['--disable', 'plugins', '--disable', 'apps', '-C', seat.workspace, '-'],
    ],
    env: {
      CODEX_HOME: `${seat.home}/.codex`,
      ...(seat.model === null ? {} : { [keyVariable]: seat.model.key }),
    },
    homeFiles: { '.codex/config.toml': configOf(seat) },
  };
}

/** TOML of its config: its strings, arrays and names in quotes are those of JSON. */
function configOf(seat: CliSeat): string {
  const { model } = seat;
  const named = model?.name ?? seat.modelName;
  const own = model === null ? [] : providerLines(model);
  const lines = [
    ...(named === null ? [] : [`model = ${quoted(named)}`]),
    ...(model === null ? [] : [`model_provider = ${quoted(ownProvider)}`, ...roomLines(model)]),
    'check_for_update_on_startup = false',
    // the provider would search for it, past all walls
    'web_search = "disabled"',
    '',
    '[analytics]',
    'enabled = false',
    '',
    '[skills.bundled]',
    'enabled = false',
    ...own,
    ...plainlyNamed(seat.mcp).flatMap(([name, server]) => serverLines(name, server)),
  ];
  return `${lines.join('\n')}\n`;
}

function roomLines({ contextTokens }: AgentModel): readonly string[] {
  return contextTokens === null ? [] : [`model_context_window = ${contextTokens}`];
}

/** A day: how long an answer may take is the gateway's to say. */
const patientMs = 86_400_000;

function providerLines({ baseUrl }: AgentModel): readonly string[] {
  return [
    '',
    `[model_providers.${ownProvider}]`,
    `name = ${quoted(ownProvider)}`,
    `base_url = ${quoted(`${baseUrl}/v1`)}`,
    `env_key = ${quoted(keyVariable)}`,
    'wire_api = "responses"',
    'request_max_retries = 2',
    'stream_max_retries = 1',
    `stream_idle_timeout_ms = ${patientMs}`,
  ];
}

function serverLines(name: string, server: McpLaunch): readonly string[] {
  const head = ['', `[mcp_servers.${quoted(name)}]`];
  switch (server.kind) {
    case 'stdio': {
      const [command = '', ...args] = server.command;
      return [
        ...head,
        `command = ${quoted(command)}`,
        `args = [${args.map(quoted).join(', ')}]`,
        `env_vars = [${server.env.map(quoted).join(', ')}]`,
      ];
    }
    case 'http':
      return [...head, `url = ${quoted(server.url)}`];
    default:
      return server satisfies never;
  }
}

/** A basic string of TOML: JSON's escapes are among its own; what JSON leaves bare beyond them is escaped. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007f');
}
