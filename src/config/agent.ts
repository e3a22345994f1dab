import { z } from 'zod';
import { protocols } from '../ports/gateway.ts';
import { placeholderProblem, placeholdersIn } from './placeholders.ts';

const envName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What may stand between braces in a custom agent's command, its environment and its files. */
export const agentPlaceholders = [
  'instruction_file',
  'workspace',
  'skill_dir',
  'home',
  'model',
  'base_url',
  'key',
] as const;
export type AgentPlaceholder = (typeof agentPlaceholders)[number];

/** Those that the gateway gives: without an API that the agent speaks there are none. */
const ofModel: readonly AgentPlaceholder[] = ['model', 'base_url', 'key'];

/** Whether a path stays below the folder that it is relative to. */
function staysBelow(path: string): boolean {
  const parts = path.split('/');
  return !path.startsWith('/') && !path.startsWith('~') && !parts.some((part) => part === '..' || part === '');
}

const placeForSkills = z.string().refine((path) => staysBelow(path.replace(/^~\//, '').replace(/\/$/, '')), {
  error: 'is no folder below the workspace (".agents/skills") or below the home ("~/.my/skills")',
});

/** An agent that this program does not know: how it is started, and where it looks for skills. */
export const customAgent = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,39}$/, 'is no short name of lower-case letters, digits and dashes')
      .describe('what stands for the agent in the log and in reports'),
    command: z
      .array(z.string())
      .min(1)
      .describe(
        'program and arguments; {instruction_file}, {workspace}, {skill_dir}, {home}, {model}, {base_url} and {key} are filled in. Without {instruction_file} the instruction goes to stdin',
      ),
    skills: placeForSkills
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
      .record(z.string(), z.string())
      .default({})
      .describe('variables of its environment; the placeholders of the command are filled in'),
    files: z
      .record(z.string(), z.string())
      .default({})
      .describe('files written into its home before it starts, by path below the home; placeholders are filled in'),
    version: z
      .array(z.string())
      .min(1)
      .nullable()
      .default(null)
      .describe('a command that prints its version; null: the program with --version, or what its bytes are'),
  })
  .superRefine((agent, context) => {
    const wrong = (path: readonly (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message });
    const texts: readonly (readonly [path: readonly (string | number)[], text: string])[] = [
      ...agent.command.map((text, at) => [['command', at], text] as const),
      ...Object.entries(agent.env).map(([name, text]) => [['env', name], text] as const),
      ...Object.entries(agent.files).map(([name, text]) => [['files', name], text] as const),
    ];
    const used = new Set(texts.flatMap(([, text]) => placeholdersIn(text)));
    for (const [path, text] of texts) {
      const problem = placeholderProblem(text, agentPlaceholders);
      if (problem !== null) wrong(path, problem);
    }
    for (const name of Object.keys(agent.env).filter((key) => !envName.test(key)))
      wrong(['env'], `${JSON.stringify(name)} is no name of a variable`);
    for (const path of Object.keys(agent.files).filter((key) => !staysBelow(key)))
      wrong(['files'], `${JSON.stringify(path)} is no path below the home, such as ".my-agent/config.json"`);
    for (const [at, text] of (agent.version ?? []).entries()) {
      const problem = placeholderProblem(text, []);
      if (problem !== null) wrong(['version', at], problem);
    }
    for (const [key, command] of [['command', agent.command] as const, ['version', agent.version ?? ['']] as const]) {
      const problem = key === 'version' && agent.version === null ? null : programProblem(command[0] ?? '');
      if (problem !== null) wrong([key, 0], problem);
    }
    if (agent.skills === null && !used.has('skill_dir'))
      wrong(
        ['skills'],
        'the skill would not reach this agent: say where it looks for skills, or use {skill_dir} in the command',
      );
    const needing = ofModel.find((name) => used.has(name));
    if (agent.protocol === null && needing !== undefined)
      wrong(['protocol'], `{${needing}} is filled in for an agent that calls its model here: say which API it speaks`);
    if (agent.protocol !== null && !used.has('base_url'))
      wrong(['protocol'], 'nothing tells the agent where its model answers: use {base_url} in command, env or files');
  });
export type CustomAgent = z.output<typeof customAgent>;

/** Why this can't be the program of a command; null = it can. */
function programProblem(program: string): string | null {
  if (program.trim() === '') return 'is empty: name a program';
  if (placeholdersIn(program).length > 0) return 'is the program, which has no placeholder';
  if (program.includes('/') && !program.startsWith('/'))
    return 'is a path that depends on the folder: write it from /, or put its folder on PATH and write its name alone';
  return null;
}

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
