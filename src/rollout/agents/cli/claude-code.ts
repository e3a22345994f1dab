import type { AgentModel } from '../agent.ts';
import { readClaudeCode } from './claude-code-output.ts';
import type { CliKind, CliLaunch, CliSeat, McpLaunch } from './cli-kind.ts';
import { claudeCodeLogin } from './logins/claude-code.ts';
import { jsonText, plainlyNamed, vendorOf } from './own-provider.ts';

/** Anthropic's Claude Code. Its settings and servers stand in its private home; memory and sessions are left off. */
export const claudeCode: CliKind = {
  name: 'claude-code',
  program: 'claude',
  npmPackage: '@anthropic-ai/claude-code',
  tested: '2.1.332',
  node: null,
  alsoNeeds: [],
  speaks: ['messages'],
  ownLimits: ['requests', 'usd'],
  skillMounts: [{ base: 'workspace', path: '.claude/skills' }],
  versionArgs: ['--version'],
  login: claudeCodeLogin,
  launch,
  parse: readClaudeCode,
};

/** Without the tool `Skill` no skill can be opened; the others are what tasks need that ask nobody and go nowhere. */
const tools = ['Bash', 'Read', 'Edit', 'Write', 'Glob', 'Grep', 'Skill'];

const mcpFile = '.claude/mcp-servers.json';

function launch(seat: CliSeat): CliLaunch {
  const { model, maxTurns, maxUsd } = seat;
  const named = model?.name ?? seat.modelName;
  const servers = plainlyNamed(seat.mcp);
  return {
    args: [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'],
      ...['--tools', tools.join(','), '--strict-mcp-config', '--no-session-persistence'],
      ...(servers.length === 0 ? [] : ['--mcp-config', `${seat.home}/${mcpFile}`]),
      ...(maxTurns === null ? [] : ['--max-turns', String(maxTurns)]),
      ...(maxUsd === null ? [] : ['--max-budget-usd', String(maxUsd)]),
    ],
    env: {
      ...quiet,
      // else it leaves folders in the system's own, whatever TMPDIR says
      CLAUDE_CODE_TMPDIR: seat.temp,
      ...(named === null ? {} : everywhere(named)),
      ...(model === null ? {} : reached(model)),
      ...(seat.asRoot === true ? { IS_SANDBOX: '1' } : {}),
    },
    homeFiles: {
      '.claude/settings.json': jsonText(settings),
      ...(servers.length === 0 ? {} : { [mcpFile]: jsonText({ mcpServers: serversOf(servers) }) }),
    },
  };
}

/** What would call its vendor, bring skills of its own beside the one under test, or keep what one rollout learned. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_MAX_RETRIES: '2',
};

/** One more skill of its own comes as a plugin. */
const settings = { enabledPlugins: { 'cc-plugin-plugin-authoring@builtin': false } };

/** The one model for all that it asks, side requests too. */
function everywhere(name: string): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_MODEL: name,
    ANTHROPIC_SMALL_FAST_MODEL: name,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: name,
    ANTHROPIC_DEFAULT_SONNET_MODEL: name,
    ANTHROPIC_DEFAULT_OPUS_MODEL: name,
    CLAUDE_CODE_SUBAGENT_MODEL: name,
  };
}

/** How long it waits where waiting is the gateway's: longer than any rollout, and the most that it takes between bytes. */
const patient = {
  API_TIMEOUT_MS: '86400000',
  API_FORCE_IDLE_TIMEOUT: '0',
  CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS: '1800000',
  CLAUDE_STREAM_IDLE_TIMEOUT_MS: '1800000',
  CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: '1800000',
};

function reached(model: AgentModel): Readonly<Record<string, string>> {
  const { contextTokens, maxOutputTokens } = model;
  return {
    ...patient,
    ANTHROPIC_BASE_URL: model.baseUrl,
    ANTHROPIC_API_KEY: model.key,
    // what only the vendor's own servers take
    ...(vendorOf(model, 'messages') === null ? { CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1' } : {}),
    ...(contextTokens === null ? {} : { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextTokens) }),
    ...(maxOutputTokens === null ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens) }),
  };
}

function serversOf(servers: readonly (readonly [string, McpLaunch])[]): object {
  const entry = (server: McpLaunch): object => {
    switch (server.kind) {
      case 'stdio': {
        const [command, ...args] = server.command;
        const env = Object.fromEntries(server.env.map((name) => [name, `\${${name}}`]));
        return { type: 'stdio', command, args, env };
      }
      case 'http':
        return { type: 'http', url: server.url };
      default:
        return server satisfies never;
    }
  };
  return Object.fromEntries(servers.map(([name, server]) => [name, entry(server)]));
}
