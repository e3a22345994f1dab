import { delimiter } from 'node:path';

/** Another skill that an agent finds beside the one under test. */
export type PreparedSkill = {
  readonly name: string;
  readonly description: string;
  /** The session's own copy of its folder: shown read-only, never written. */
  readonly dir: string;
};

/** All that rollouts need of what was preloaded. Paths are those of this machine. */
export type Prepared = {
  /** Folders that the processes of agents and verifiers have to see, at their own paths, read-only. */
  readonly show: readonly string[];
  /** Folders that stand first on the PATH of agents and verifiers. */
  readonly path: readonly string[];
  /** Variables of agents and verifiers; the task's own are stronger. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of agents alone: what MCP servers are given. */
  readonly agentEnv: Readonly<Record<string, string>>;
  /** For agents alone: a verifier judges what was done, whatever lay at hand. */
  readonly otherSkills: readonly PreparedSkill[];
  /** Files of the agent's home, by path below it: the user's instructions. */
  readonly homeFiles: Readonly<Record<string, string>>;
  /** What was brought in, by name: stands in each outcome, so that drift shows. */
  readonly versions: Readonly<Record<string, string>>;
  /** Is something in `show` other than it was made? What, for people; null = all is as it was. */
  readonly changed: () => string | null;
};

export const nothingPrepared: Prepared = {
  show: [],
  path: [],
  env: {},
  agentEnv: {},
  otherSkills: [],
  homeFiles: {},
  versions: {},
  changed: () => null,
};

/** The environment of a rollout's processes with what was preloaded: first on PATH, and below the task's own variables. */
export function withPrepared(
  env: Readonly<Record<string, string>>,
  { path, env: forAll, agentEnv }: Pick<Prepared, 'path' | 'env' | 'agentEnv'>,
  phase: 'agent' | 'verifier',
): Readonly<Record<string, string>> {
  const below = phase === 'agent' ? { ...agentEnv, ...forAll } : forAll;
  return { ...below, ...env, PATH: pathBehind(path, env.PATH) };
}

/** A PATH with folders before it. */
export function pathBehind(first: readonly string[], path: string | undefined): string {
  return [...first, ...(path === undefined || path === '' ? [] : [path])].join(delimiter);
}

/** Variables that a rollout sets itself: no preload can name them. */
export const ownVariables: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'LC_ALL',
  'TZ',
  'APP_DIR',
  'LOGS_DIR',
  'TESTS_DIR',
  'SOLUTION_DIR',
  'SKILLOPT_ROLLOUT',
  'PREFIX',
]);
