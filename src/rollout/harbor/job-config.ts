import type { Job } from './jobs.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { ENTRY_VARIABLE } from './trial.ts';

/** The part of Harbor's JobConfig that this program writes. Paths are absolute. */
export type JobConfig = {
  readonly job_name: string;
  readonly jobs_dir: string;
  readonly quiet: true;
  readonly n_attempts: 1;
  readonly n_concurrent_trials: number;
  readonly retry: { readonly max_retries: 0 };
  readonly environment: Readonly<Record<string, unknown>>;
  readonly verifier?: Readonly<Record<string, unknown>>;
  readonly agents: readonly Readonly<Record<string, unknown>>[];
  readonly tasks: readonly { readonly path: string }[];
};

/**
 * What Harbor is to run. Agents are always named (left out, Harbor takes `oracle`, which solves everything), attempts and
 * tries are this program's own, and secrets stand as `${NAME}`. `skillDir` gives the folder that an entry's skill lies
 * in, `overlay` the compose file that every container of ours is started with.
 */
export function jobConfig(
  job: Job,
  o: HarborOptions,
  place: {
    readonly name: string;
    readonly jobsDir: string;
    readonly concurrency: number;
    readonly overlay: string | null;
    readonly skillDir: (entry: Job['entries'][number]) => string | null;
  },
): JobConfig {
  const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
  const seconds = o.agentSec ?? (job.untimed ? o.defaultAgentSec : null);
  const agent = {
    ...('name' in o.agent ? { name: o.agent.name } : { import_path: o.agent.importPath }),
    ...(o.model === null ? {} : { model_name: o.model.name }),
    ...(o.model === null || o.model.baseUrl === null ? {} : { base_url: o.model.baseUrl }),
    ...(o.model === null || o.model.keyName === null ? {} : { model_api_key_name: o.model.keyName }),
    ...(o.model === null || o.model.apiFormat === null ? {} : { model_api_format: o.model.apiFormat }),
    ...(seconds === null ? {} : { override_timeout_sec: seconds }),
    ...(o.setupSec === null ? {} : { override_setup_timeout_sec: o.setupSec }),
    ...(Object.keys(o.agentKwargs).length === 0 ? {} : { kwargs: o.agentKwargs }),
    ...(o.mcpServers === undefined || o.mcpServers.length === 0 ? {} : { mcp_servers: o.mcpServers }),
  };
  return {
    job_name: place.name,
    jobs_dir: place.jobsDir,
    quiet: true,
    n_attempts: 1,
    n_concurrent_trials: place.concurrency,
    retry: { max_retries: 0 },
    environment: {
      ...('type' in o.environment ? { type: o.environment.type } : { import_path: o.environment.importPath }),
      ...(place.overlay === null ? {} : { extra_docker_compose: [place.overlay] }),
      ...kwargsOf(o),
      ...(o.mounts.length === 0
        ? {}
        : { mounts: o.mounts.map(({ source, target }) => ({ type: 'bind', source, target, read_only: true })) }),
      ...(Object.keys(o.environmentEnv).length === 0 ? {} : { env: o.environmentEnv }),
    },
    ...(o.env.length === 0 ? {} : { verifier: { env: named(o.env) } }),
    agents: job.entries.map((entry) => {
      const skill = place.skillDir(entry);
      const skills = [...(skill === null ? [] : [skill]), ...o.otherSkills];
      return {
        ...agent,
        ...(skills.length === 0 ? {} : { skills }),
        env: { ...quick(o), ...o.agentVariables, ...named([...o.env, ...o.agentEnv]), [ENTRY_VARIABLE]: entry.id },
      };
    }),
    tasks: job.tasks.map(({ dir }) => ({ path: dir })),
  };
}

/** Logs that grow while the agent works, and outlive a kill: Harbor brings them only at the end unless it is told to. */
function kwargsOf(o: HarborOptions): { readonly kwargs?: Readonly<Record<string, unknown>> } {
  const kwargs = { ...(isDocker(o.environment) ? { auto_mounting: true } : {}), ...o.environmentKwargs };
  return Object.keys(kwargs).length === 0 ? {} : { kwargs };
}

/** Claude Code tries a request again for minutes, and its time limit then hides what the provider said. */
function quick({ agent }: HarborOptions): Readonly<Record<string, string>> {
  return 'name' in agent && agent.name === 'claude-code' ? { CLAUDE_CODE_MAX_RETRIES: '2' } : {};
}

/**
 * The compose file laid over every trial on Docker. `init`: without it the container ignores the TERM and each trial waits
 * ten seconds for its end. The host's name: agents reach a server of this machine by it. Labels: by them leftovers are
 * found. JSON is YAML.
 */
export function overlayText(session: string, job: string): string {
  return `${JSON.stringify(
    {
      services: {
        main: {
          init: true,
          stop_grace_period: '1s',
          extra_hosts: ['host.docker.internal:host-gateway'],
          labels: { [SESSION_LABEL]: session, [JOB_LABEL]: job },
        },
      },
    },
    null,
    2,
  )}\n`;
}

export const SESSION_LABEL = 'skillopt.session';
export const JOB_LABEL = 'skillopt.job';
