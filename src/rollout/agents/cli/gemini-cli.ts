import type { CliKind, CliLaunch, CliSeat, McpLaunch } from './cli-kind.ts';
import { readGemini } from './gemini-output.ts';
import { geminiLogin } from './logins/gemini-cli.ts';
import { jsonText, plainlyNamed } from './own-provider.ts';

/**
 * gemini-cli. Its settings stand in its private home; those of the machine are left out. It lets a workspace change them
 * by a `.gemini/settings.json`: settings above that one it takes from files of root alone.
 */
export const geminiCli: CliKind = {
  name: 'gemini-cli',
  program: 'gemini',
  npmPackage: '@google/gemini-cli',
  tested: '0.61.0',
  node: '20.0.0',
  alsoNeeds: [],
  speaks: ['gemini'],
  ownLimits: ['requests'],
  skillMounts: [{ base: 'workspace', path: '.agents/skills' }],
  versionArgs: ['--version'],
  login: geminiLogin,
  launch,
  parse: readGemini,
};

/** The provider would search and fetch for it, past all walls. */
const policy = `[[rule]]
toolName = ["google_web_search", "web_fetch"]
decision = "deny"
priority = 999
`;

function launch(seat: CliSeat): CliLaunch {
  const { model } = seat;
  const named = model?.name ?? seat.modelName;
  const servers = plainlyNamed(seat.mcp);
  const settings = {
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      // waiting is the gateway's: what it gave up is asked for once more at most. By a login it would wait for the reset of
      // a quota without a word, for hours
      maxAttempts: model === null ? 1 : 2,
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    // its own skills are none of the task's
    skills: { enabled: true, disabled: ['skill-creator', 'antigravity-support'] },
    ...(seat.maxTurns === null ? {} : { model: { maxSessionTurns: seat.maxTurns } }),
    security: { auth: { selectedType: model === null ? 'oauth-personal' : 'gemini-api-key' } },
    ...(servers.length === 0 ? {} : { mcpServers: serversOf(servers) }),
  };
  return {
    args: ['--output-format', 'stream-json', '--yolo', '--skip-trust', ...(named === null ? [] : ['--model', named])],
    env: {
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${seat.home}/.gemini/no-system-settings.json`,
      GEMINI_CLI_SYSTEM_DEFAULTS_PATH: `${seat.home}/.gemini/no-system-defaults.json`,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
      ...(model === null ? {} : { GEMINI_API_KEY: model.key, GOOGLE_GEMINI_BASE_URL: model.baseUrl }),
    },
    homeFiles: { '.gemini/settings.json': jsonText(settings), '.gemini/policies/skillopt.toml': policy },
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
        return { httpUrl: server.url };
      default:
        return server satisfies never;
    }
  };
  return Object.fromEntries(servers.map(([name, server]) => [name, { ...entry(server), trust: true }]));
}
