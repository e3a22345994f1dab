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

/** Variables that every rollout sets itself. */
const ofRollout: readonly string[] = ['HOME', 'TMPDIR', 'APP_DIR', 'LOGS_DIR', 'TESTS_DIR'];

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

/** How such an agent is described, key by key. */
const described = z.strictObject({
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
    .describe('a command that prints its version; null: a digest of the program stands for it'),
});
export type CustomAgent = z.output<typeof described>;

/** An agent that this program does not know: how it is started, and where it looks for skills. */
export const customAgent = described.superRefine((agent, context) => {
  for (const { path, message } of problemsOf(agent)) context.addIssue({ code: 'custom', path: [...path], message });
});

type Problem = { readonly path: readonly (string | number)[]; readonly message: string };

/** What is wrong with a description whose keys are right by themselves. */
function problemsOf(agent: CustomAgent): readonly Problem[] {
  const { command, version, env, files, skills, protocol } = agent;
  const problems: Problem[] = [];
  const wrong = (path: Problem['path'], message: string) => problems.push({ path, message });
  const look = (path: Problem['path'], text: string, known: readonly string[], before = '') => {
    const problem = placeholderProblem(text, known);
    if (problem !== null) wrong(path, `${before}${problem}`);
  };
  for (const [at, text] of command.entries()) look(['command', at], text, agentPlaceholders);
  for (const [at, text] of (version ?? []).entries()) look(['version', at], text, []);
  for (const [name, text] of Object.entries(env)) {
    look(['env', name], text, agentPlaceholders);
    if (!envName.test(name)) wrong(['env'], `${JSON.stringify(name)} is no name of a variable`);
    if (ofRollout.includes(name)) wrong(['env'], `${name} is the rollout’s own and can’t be set`);
  }
  for (const [path, text] of Object.entries(files)) {
    look(['files'], text, agentPlaceholders, `${JSON.stringify(path)}: `);
    if (!staysBelow(path))
      wrong(['files'], `${JSON.stringify(path)} is no path below the home, such as ".my-agent/config.json"`);
  }
  for (const [key, words] of Object.entries({ command, version })) {
    const problem = words === null ? null : programProblem(words[0] ?? '');
    if (problem !== null) wrong([key, 0], problem);
  }
  const used = [...command, ...Object.values(env), ...Object.values(files)].flatMap(placeholdersIn);
  if (skills === null && !used.includes('skill_dir'))
    wrong(
      ['skills'],
      'the skill would not reach this agent: say where it looks for skills, or use {skill_dir} in the command',
    );
  const needing = ofModel.find((name) => used.includes(name));
  if (protocol === null && needing !== undefined)
    wrong(['protocol'], `{${needing}} is filled in for an agent that calls its model here: say which API it speaks`);
  if (protocol !== null && !used.includes('base_url'))
    wrong(['protocol'], 'nothing tells the agent where its model answers: use {base_url} in command, env or files');
  return problems;
}

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
