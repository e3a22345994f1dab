import type { Gateway, GatewayLimits } from '../../ports/gateway.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { Agent } from '../agents/agent.ts';
import type { Preloading } from '../preloads/preloading.ts';
import type { KeepOptions } from './keep.ts';
import type { WorkspaceCopy } from './prepare.ts';
import type { Limits, Relay, Sandbox } from './sandbox.ts';

/** What the local backend is made of. What it must know of task packs is handed in. */
export type LocalOptions = {
  readonly agent: Agent;
  /** The same agent for other work than rollouts, without what they preload; absent = `agent`. */
  readonly agentAlone?: Agent;
  /** Reward from which a rollout is a pass, 0…1. */
  readonly passThreshold: number;
  readonly sessionId: string;
  /** Tasks that will be asked for: `preflight` looks at each. */
  readonly tasks: readonly FolderTask[];
  /** Files that the task puts into its workdir. */
  readonly prepareFiles: (task: FolderTask) => Promise<readonly WorkspaceCopy[]>;
  /** Why these tasks cannot run on this host (paths, missing commands; `seen` finds a command as verifiers do); empty = they can. */
  readonly problems: (tasks: readonly FolderTask[], seen: (command: string) => boolean) => Promise<readonly Finding[]>;
  /** The walls around agents and verifiers. */
  readonly sandbox: Sandbox;
  /** Consent to run agents and verifiers as this user, with nothing but plain folders around them. */
  readonly unsandboxedAllowed: boolean;
  readonly network: 'off' | 'on';
  /** What of this machine agents and verifiers see beside the system, absolute. */
  readonly show: readonly string[];
  /** What they don't see though something shown holds it: the user's home, the session, the sources of skill and pack. */
  readonly hide: readonly string[];
  /** What one rollout may use up; null = nothing is bounded but the time. */
  readonly limits: Limits | null;
  /** The way to the gateway from a sandbox without network; null = none is needed here. */
  readonly relay: Relay | null;
  /** For tasks that give the agent no limit, in seconds. */
  readonly defaultAgentTimeoutSec: number;
  /** Our own environment: only what `cleanEnvironment` names is taken from it. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** What `${NAME}` in a task's environment is resolved from. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Existing folder under which each rollout gets its own: the system's temporary folder. */
  readonly tempRoot: string;
  /** Between agents that call a model and that model; null = no agent here does so by itself. */
  readonly gateway: Gateway | null;
  /** What one rollout may spend there. */
  readonly agentLimits: GatewayLimits;
  /** Tokens that the model takes in all, and writes at most, for agents that ask; null = not known. */
  readonly modelTokens: { readonly context: number | null; readonly output: number | null };
  /** What stands beside skill and task; null = nothing. */
  readonly preloads: Preloading | null;
  /** Where workspaces of failed rollouts are kept; null = nowhere. */
  readonly keep: KeepOptions | null;
  /** Time between TERM and KILL; default 2 s. */
  readonly graceMs?: number;
};
