import type { Finding } from '../../ports/preflight.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { MountedAgent } from './agent-mounts.ts';
import type { Layer } from './layer.ts';

/** Where Harbor runs its trials: an environment type that it knows (`docker`, `daytona`, …), or a class as `module:Class`. */
export type HarborEnvironment = { readonly type: string } | { readonly importPath: string };

/** What does the tasks: an agent that Harbor knows, or a class as `module:Class`, perhaps `called` by a shorter name. */
export type HarborAgent = { readonly name: string } | { readonly importPath: string; readonly called?: string };

/** The model of the agent, as Harbor is told of it. */
export type HarborModel = {
  /** `provider/model`. */
  readonly name: string;
  /** As the agent reaches it; null = the provider's own. */
  readonly baseUrl: string | null;
  /** Name of the variable that holds the key, never its value; null = none is wanted. */
  readonly keyName: string | null;
  /** Harbor's name of the API that answers at `baseUrl`; null = the provider's. */
  readonly apiFormat: string | null;
};

/** A file or folder of this machine that trials see, read-only. */
export type HarborMount = { readonly source: string; readonly target: string };

/** A server of the Model Context Protocol as Harbor hands it to agents; it starts within the trial. */
export type HarborMcpServer =
  | {
      readonly name: string;
      readonly transport: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
    }
  | { readonly name: string; readonly transport: 'streamable-http'; readonly url: string };

/** What the Harbor backend is made of. */
export type HarborOptions = {
  readonly sessionId: string;
  /** Reward from which a rollout is a pass, 0…1. */
  readonly passThreshold: number;
  /** Tasks that will be asked for: `preflight` looks at each. */
  readonly tasks: readonly FolderTask[];
  /** Folder of the session for jobs, skills and what is known of them, absolute; made when it is needed. */
  readonly dir: string;
  /** The `harbor` program: a name on PATH or a path. */
  readonly program: string;
  readonly environment: HarborEnvironment;
  readonly agent: HarborAgent;
  readonly model: HarborModel | null;
  /** Constructor arguments of the environment and of the agent, as Harbor's `kwargs`. */
  readonly environmentKwargs: Readonly<Record<string, unknown>>;
  readonly agentKwargs: Readonly<Record<string, unknown>>;
  /** Variables of agents and verifiers, by name: their values are read by Harbor from its own environment. */
  readonly env: readonly string[];
  /** Variables of the agent alone, by name. */
  readonly agentEnv: readonly string[];
  /** Variables of the environment with their values: nothing secret. */
  readonly environmentEnv: Readonly<Record<string, string>>;
  readonly mounts: readonly HarborMount[];
  /** Folders with classes of the user's own, absolute. */
  readonly pythonPath: readonly string[];
  /** Python files of this program, by name: laid into a folder of the session's that Harbor finds them in. */
  readonly python?: Readonly<Record<string, string>>;
  /** Folders of other skills that stand beside the one under test, absolute. */
  readonly otherSkills: readonly string[];
  /** Seconds for the agent in place of the task's own limit; null = the task's. */
  readonly agentSec: number | null;
  /** For tasks that give the agent no limit. */
  readonly defaultAgentSec: number;
  /** Seconds for the setup of an agent in a trial; null = Harbor's own. */
  readonly setupSec: number | null;
  /** Trials at a time, where a call does not say. */
  readonly concurrency: number;
  /** Our own environment: only what Harbor needs is taken from it. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** The agent's CLI of this machine that trials are shown (`withHostAgent`); absent = Harbor installs its own. */
  readonly mounted?: MountedAgent;
  /** What was found while these options were made: `preflight` tells it, too. */
  readonly found?: readonly Finding[];
  /** What is installed on every task's image when it is built (`withPreloads`); absent = nothing. */
  readonly layer?: Layer;
  /** MCP servers of the agent, in Harbor's form. */
  readonly mcpServers?: readonly HarborMcpServer[];
  /** Variables of the agent alone, with a plain value or with `${NAME}` of another variable; nothing secret. */
  readonly agentVariables?: Readonly<Record<string, string>>;
  /** Versions of what is brought into trials beside the agent, by name. */
  readonly broughtVersions?: Readonly<Record<string, string>>;
  /** How long Harbor may take to end its trials after a TERM; default 60 s. */
  readonly patienceMs?: number;
};

/** What options hold where nothing is wanted beside environment and agent. */
export const nothingMore = {
  tasks: [],
  model: null,
  environmentKwargs: {},
  agentKwargs: {},
  env: [],
  agentEnv: [],
  environmentEnv: {},
  mounts: [],
  pythonPath: [],
  otherSkills: [],
  agentSec: null,
  setupSec: null,
} satisfies Partial<HarborOptions>;

/** An environment as people and versions name it. */
export function environmentName(environment: HarborEnvironment): string {
  return 'type' in environment ? environment.type : environment.importPath;
}

/** An agent as people and versions name it. */
export function harborAgentName(agent: HarborAgent): string {
  return 'name' in agent ? agent.name : (agent.called ?? agent.importPath);
}

/** The agent calls a model: one that is named, or its login's own. */
export function callsModel({ model, agentEnv }: Pick<HarborOptions, 'model' | 'agentEnv'>): boolean {
  return model !== null || agentEnv.length > 0;
}

/** Trials run in containers of this machine's Docker. */
export function isDocker(environment: HarborEnvironment): boolean {
  return 'type' in environment && environment.type === 'docker';
}
