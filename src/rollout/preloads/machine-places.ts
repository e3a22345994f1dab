import { join } from 'node:path';
import type { McpForm } from './machine-mcp.ts';

/** Where an agent's own things lie on this machine, and where they belong in the home of a rollout. */
export type MachinePlaces = {
  /** Folders of skills, each in a folder of its own; the first that has one of a name counts. */
  readonly skills: readonly string[];
  /** The user's instructions: the first of these that exists, and its place below the home of a rollout. */
  readonly memory: { readonly from: readonly string[]; readonly to: string };
  /** Files that name MCP servers, read in this order; a later one is stronger. */
  readonly mcp: { readonly files: readonly string[]; readonly form: McpForm };
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Measured at the versions that `agents/cli` names; a folder that the user has moved by a variable is followed. */
const places: Readonly<Record<string, (home: string, env: Variables) => MachinePlaces>> = {
  'claude-code': (home, env) => {
    const own = env.CLAUDE_CONFIG_DIR || join(home, '.claude');
    return {
      skills: [join(own, 'skills')],
      memory: { from: [join(own, 'CLAUDE.md')], to: '.claude/CLAUDE.md' },
      mcp: {
        files: [env.CLAUDE_CONFIG_DIR ? join(env.CLAUDE_CONFIG_DIR, '.claude.json') : join(home, '.claude.json')],
        form: 'mcpServers',
      },
    };
  },
  codex: (home, env) => {
    const own = env.CODEX_HOME || join(home, '.codex');
    return {
      skills: [join(home, '.agents/skills'), join(own, 'skills')],
      memory: { from: ['AGENTS.override.md', 'AGENTS.md'].map((name) => join(own, name)), to: '.codex/AGENTS.md' },
      mcp: { files: [join(own, 'config.toml')], form: 'toml' },
    };
  },
  pi: (home, env) => {
    const own = env.PI_CODING_AGENT_DIR || join(home, '.pi/agent');
    return {
      skills: [join(own, 'skills'), join(home, '.agents/skills')],
      memory: {
        from: ['AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD', 'CLAUDE.md', 'CLAUDE.MD'].map((name) => join(own, name)),
        to: '.pi/agent/AGENTS.md',
      },
      mcp: { files: [join(own, 'mcp.json')], form: 'mcpServers' },
    };
  },
  opencode: (home, env) => {
    const own = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode');
    return {
      skills: [join(own, 'skills'), join(own, 'skill'), join(home, '.agents/skills'), join(home, '.claude/skills')],
      memory: { from: [join(own, 'AGENTS.md'), join(home, '.claude/CLAUDE.md')], to: '.config/opencode/AGENTS.md' },
      mcp: {
        files: ['config.json', 'opencode.json', 'opencode.jsonc'].map((name) => join(own, name)),
        form: 'opencode',
      },
    };
  },
  'gemini-cli': (home) => ({
    skills: [join(home, '.gemini/skills'), join(home, '.agents/skills')],
    memory: { from: [join(home, '.gemini/GEMINI.md')], to: '.gemini/GEMINI.md' },
    mcp: { files: [join(home, '.gemini/settings.json')], form: 'gemini' },
  }),
};

/** Where the agent's own things lie; null = this program does not know. */
export function machinePlaces(agent: string, home: string, env: Variables): MachinePlaces | null {
  return Object.hasOwn(places, agent) ? (places[agent]?.(home, env) ?? null) : null;
}

/** Agents whose own things can be taken over. */
export const knownOnMachine: readonly string[] = Object.keys(places);
