import type { Failure } from '../../ports/failure.ts';
import type { Protocol } from '../../ports/gateway.ts';
import type { ExitCause, Reading, UnscoredReason } from '../../ports/outcome.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { TrajectoryStep } from '../../ports/trajectory.ts';
import type { Usage } from '../../ports/usage.ts';
import type { ProcessEnd } from '../../process/process-end.ts';

/** A place where an agent looks for skills: the skill's folder is linked at `<base>/<path>/<skill name>` while it works. */
export type SkillMount = { readonly base: 'workspace' | 'home'; readonly path: string };

/** What a command of the agent is given beyond the defaults. */
export type AgentCommandOptions = {
  /** Default: the workspace. */
  readonly cwd?: string;
  /** Added to (and stronger than) `AgentRun.env`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Fed to stdin, which is then closed. Default: no stdin. */
  readonly stdin?: string;
  /** Files that take the output whole; without them it is captured up to `maxOutputBytes` (default 1 MB) a stream. */
  readonly stdoutFile?: string;
  readonly stderrFile?: string;
  readonly maxOutputBytes?: number;
  /** Captures stderr into `stdout`, in order of arrival. */
  readonly mergeStderr?: boolean;
  /** A limit for this command alone; the agent's own deadline bounds it anyway. */
  readonly timeoutMs?: number;
};

/** The model of a rollout as an agent's processes reach it: through the gateway, with a key that is good for nothing else. */
export type AgentModel = {
  /** `provider/model`. */
  readonly id: string;
  /** The model as the service names it. */
  readonly name: string;
  /** Base URL without `/v1` and without a slash at its end; Chat Completions and Responses want `/v1` behind it. */
  readonly baseUrl: string;
  readonly key: string;
  /** The APIs that answer there. */
  readonly protocols: readonly Protocol[];
  /** Tokens that the model takes in all, and writes at most; null = not known. */
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
};

/** Folders of a rollout as this program sees them. Without a sandbox they are those that the agent sees. */
export type HostFolders = {
  readonly workspace: string;
  readonly home: string;
  readonly logDir: string;
  /** What stands behind `TMPDIR`. */
  readonly temp: string;
};

/** All that an agent may know of one rollout. Paths are as its processes see them, unless it says otherwise. */
export type AgentRun = {
  /** Where it works; the current folder of its commands. */
  readonly workspace: string;
  /** Private home, empty at the start. */
  readonly home: string;
  /** Where this program writes what the agent is to find, and reads what it left; nothing there is followed or run. */
  readonly host: HostFolders;
  /** Null: the agent calls no model through the gateway (programs, its own login, one that calls it by itself). */
  readonly model: AgentModel | null;
  /** Folder that holds SKILL.md and its bundled files, read-only. Null: the no-skill arm, or `takesSkill` is false. */
  readonly skillDir: string | null;
  /** Folders of other skills that stand beside it in every arm, for agents that go by `skillDir`. Absent = none. */
  readonly otherSkills?: readonly string[];
  readonly instruction: string;
  /** The agent's own logs (`<LOGS_DIR>/agent`). */
  readonly logDir: string;
  /** The whole environment of its commands. */
  readonly env: Readonly<Record<string, string>>;
  readonly task: FolderTask;
  /** What it has in all, from the start of `run`. */
  readonly timeoutMs: number;
  /** Aborted at the deadline and when the rollout is cancelled; `run` must then end soon (its commands are ended for it). */
  readonly signal: AbortSignal;
  /** Number of the draw, for models that take one (see `ModelRequest.draw`); absent = none. */
  readonly draw?: number;
  /** The agent's own call of a model waits so many milliseconds for the provider's sake: the deadline moves by them. */
  readonly waits?: (ms: number) => void;
  /**
   * The only way to start a process: in the workspace, marked, in a group of its own, under the deadline. Never
   * rejects. Where the system has no room for the process (`systemRefused`), the backend gives the rollout up, whatever
   * the agent makes of it.
   */
  readonly run: (command: readonly [string, ...string[]], options?: AgentCommandOptions) => Promise<ProcessEnd>;
};

/** What an agent hands back. */
export type AgentEnd = {
  /** As the agent saw it; the backend knows by its own clock when the deadline ended it. */
  readonly exit: ExitCause;
  /** Set when the machinery failed (setup, crash, provider): the rollout is then unscored with this reason. */
  readonly trouble: { readonly reason: UnscoredReason; readonly detail: string } | null;
  /** Whole texts; the backend cuts long ones. */
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  readonly usage: Usage;
  /** Did it read the skill? Null = this agent can't tell, or there was none. */
  readonly read: Reading;
  /** Was it offered the skill, by its own account? Absent or null = it can't tell. */
  readonly visible?: Reading;
  /** What is never an outcome, told by the agent alone (a login that is refused or used up); absent = nothing. */
  readonly failure?: Failure | undefined;
  /** True once it is known to have acted: output tokens > 0 where they are reported, else at least one action. */
  readonly didWork: boolean;
};

/** A file or folder of this machine that an agent's processes have to see, at its own path, read-only. */
export type HostPath = string;

/** What an agent needs around it beyond the task. */
export type AgentNeeds = {
  /** Its own program, its interpreter, and what they load. */
  readonly show: readonly HostPath[];
  /** Folders that stand first on the PATH of its processes. */
  readonly path: readonly string[];
  /** It talks to its vendor by itself: without a network it can't work. */
  readonly network: boolean;
};

export const noNeeds: AgentNeeds = { show: [], path: [], network: false };

/**
 * An agent on the local backend: one file, one line in `index.ts`. `run` throws a `SkilloptError` with code `auth`,
 * `quota` or `environment-down` for what is never an outcome; any other exception counts as a crash of the agent.
 */
export interface Agent {
  readonly name: string;
  /** False: programs that do a task without reading anything (oracle, nop). */
  readonly takesSkill: boolean;
  /** False: it does nothing but what it is made for, so that it can't propose edits. Absent = it does what it is told. */
  readonly proposes?: false;
  /** Where it looks for skills by itself. Empty when it goes by `AgentRun.skillDir` alone. */
  readonly skillMounts: readonly SkillMount[];
  /** It lists the skills of `AgentRun.otherSkills` by itself; an agent with `skillMounts` need not. */
  readonly takesOtherSkills?: true;
  /** It hands the servers of `AgentSettings.mcp` to what it starts. */
  readonly takesMcp?: true;
  /** It calls its model through the gateway by this API; absent = it does not. Of several the first that the model speaks. */
  readonly speaks?: readonly Protocol[];
  /** It calls the model of the config by itself, from this process (`AgentSettings.model`), and not through the gateway. */
  readonly callsModel?: boolean;
  /** Absent = nothing but the system. */
  needs?(): Promise<AgentNeeds>;
  /** Version of what runs, as it stands in each outcome. */
  version(): Promise<string>;
  preflight(): Promise<readonly Finding[]>;
  run(run: AgentRun): Promise<AgentEnd>;
}
