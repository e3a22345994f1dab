import { z } from 'zod';

const texts = (about: string) => z.array(z.string().min(1)).readonly().default([]).describe(about);

/** A server of the Model Context Protocol that agents are given. */
export const mcpServer = z.union([
  z.strictObject({
    command: z.array(z.string().min(1)).min(1).describe('program and arguments, started inside the sandbox'),
    env: z.array(z.string().min(1)).readonly().default([]).describe('names of variables that it is given'),
  }),
  z.strictObject({ url: z.url({ protocol: /^https?$/ }).describe('where it answers; needs "sandbox.network": "on"') }),
]);
export type McpServer = z.output<typeof mcpServer>;

/** What stands in a rollout beside the skill and the task. */
export const preloadsConfig = z.strictObject({
  skills: texts('other skills that stand beside the one that is optimized: SKILL.md files or their folders'),
  npm: texts('npm packages, such as "prettier@3.6.2", installed once for the session; their commands are on PATH'),
  pip: texts('Python packages, such as "pandas==2.3.3", installed once for the session'),
  apt: texts('refused on local, where no system package is installed; other backends install them'),
  commands: texts('programs that have to be on PATH, checked before anything is spent'),
  env: texts('names of variables that agents and verifiers are given; never their values'),
  setup: texts('commands that run once in the session’s own prefix before the first rollout ($PREFIX)'),
  mcp: z.record(z.string().min(1), mcpServer).default({}).describe('MCP servers by name'),
  machine: z
    .strictObject({
      skills: texts('names of skills installed on this machine for the agent, as on my machine'),
      memory: z
        .boolean()
        .default(false)
        .describe('true: the agent’s own instructions of the user (CLAUDE.md, AGENTS.md)'),
      mcp: texts('names of MCP servers of the agent’s own configuration on this machine'),
    })
    .default({ skills: [], memory: false, mcp: [] })
    .describe('what is taken over from this machine, each thing named'),
});
export type Preloads = z.output<typeof preloadsConfig>;

export const noPreloads: Preloads = preloadsConfig.parse({});
