import { z } from 'zod';
import { protocols } from '../ports/gateway.ts';

const envName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What may stand between braces in a custom agent's command, its environment and its files. */
export const agentPlaceholders = [
  'instruction_file',
  'workspace',
  'skill_dir',
  'model',
  'base_url',
  'key',
  'home',
] as const;

/** An agent that this program does not know: how it is started, and where it looks for skills. */
export const customAgent = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, 'is a short name of lower-case letters, digits and dashes')
    .describe('what stands for the agent in the log and in reports'),
  command: z
    .array(z.string().min(1))
    .min(1)
    .describe(
      'program and arguments; {instruction_file}, {workspace}, {skill_dir}, {model}, {base_url}, {key} and {home} are filled in. Without {instruction_file} the instruction goes to stdin',
    ),
  skills: z
    .string()
    .regex(
      /^(~\/)?[^/~][^~]*$/,
      'is a folder below the workspace (".agents/skills") or below the home ("~/.my/skills")',
    )
    .nullable()
    .default(null)
    .describe(
      'where it looks for skills: a folder below the workspace, or below the home with ~/ before it; null: the command is told by {skill_dir}',
    ),
  protocol: z
    .enum(protocols)
    .nullable()
    .default(null)
    .describe('the API that it speaks to {base_url}; null: it calls no model through this program'),
  env: z
    .record(z.string().regex(envName, 'is no name of a variable'), z.string())
    .default({})
    .describe('variables of its environment; the placeholders of the command are filled in'),
  files: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe('files written into its home before it starts, by path below the home; placeholders are filled in'),
  version: z
    .array(z.string().min(1))
    .min(1)
    .nullable()
    .default(null)
    .describe('a command that prints its version; null: the program with --version'),
});
export type CustomAgent = z.output<typeof customAgent>;

/** What does the tasks: an agent by its name, or one described here. */
export const agentConfig = z.union([z.string().min(1), customAgent]);
export type AgentConfig = z.output<typeof agentConfig>;

/** An agent as people and logs name it. */
export function agentName(config: AgentConfig): string {
  return typeof config === 'string' ? config : config.name;
}

/** What one rollout of an agent may spend at its model, counted by the gateway; null = no such limit. */
export const agentLimits = z.strictObject({
  requests: z.number().int().positive().nullable().default(null).describe('most requests to the model in one rollout'),
  tokens: z.number().int().positive().nullable().default(null).describe('most tokens, in and out, in one rollout'),
  usd: z.number().positive().nullable().default(null).describe('most US dollars of one rollout'),
});
export type AgentLimits = z.output<typeof agentLimits>;
