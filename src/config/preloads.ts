import { z } from 'zod';

const texts = (about: string) => z.array(z.string().min(1)).readonly().default([]).describe(about);

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of a variable');
const variables = (about: string) => z.array(variable).readonly().default([]).describe(about);

const serverName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'is no name of letters, digits, - and _');

/** A server of the Model Context Protocol that agents are given. */
export const mcpServer = z.union([
  z.strictObject({
    command: z
      .array(z.string().min(1))
      .min(1)
      .describe('program and arguments; the agent starts it, within the walls of its rollout'),
    env: variables('names of variables that the agent is given for it'),
  }),
  z.strictObject({ url: z.url({ protocol: /^https?$/ }).describe('where it answers; needs "sandbox.network": "on"') }),
]);
export type McpServer = z.output<typeof mcpServer>;

/** What stands in a rollout beside the skill and the task. */
export const preloadsConfig = z.strictObject({
  skills: texts('other skills that stand beside the one that is optimized: SKILL.md files or their folders'),
  npm: texts('npm packages, such as "prettier@3.6.2", installed once for the session; their commands are on PATH'),
  pip: texts('Python packages, such as "pandas==2.3.3", installed once for the session into a Python on PATH'),
  apt: texts('refused on local, where no system package is installed; other backends install them'),
  commands: texts('programs that agents and verifiers have to find, checked before anything is spent'),
  env: variables(
    'names of variables that agents, verifiers and setup are given; their values stand nowhere and are redacted',
  ),
  setup: texts('lines of bash that run once, before the first rollout, in the session’s own $PREFIX'),
  mcp: z.record(serverName, mcpServer).default({}).describe('MCP servers by name'),
  machine: z
    .strictObject({
      skills: texts('names of skills that are installed on this machine for the agent'),
      memory: z
        .boolean()
        .default(false)
        .describe('true: the user’s own instructions to the agent (CLAUDE.md, AGENTS.md, GEMINI.md)'),
      mcp: texts('names of MCP servers of the agent’s own configuration on this machine'),
    })
    .default({ skills: [], memory: false, mcp: [] })
    .describe('what is taken over from this machine, each thing named'),
});
export type Preloads = z.output<typeof preloadsConfig>;

export const noPreloads: Preloads = preloadsConfig.parse({});

/** Is anything wanted? */
export function wantsPreloads(preloads: Preloads): boolean {
  return JSON.stringify(preloads) !== JSON.stringify(noPreloads);
}

/** Variables whose values are secrets because the config names them: given to rollouts, shown nowhere. */
export function namedVariables({ env, mcp }: Preloads): readonly string[] {
  const ofServers = Object.values(mcp).flatMap((server) => ('command' in server ? server.env : []));
  return [...new Set([...env, ...ofServers])];
}
