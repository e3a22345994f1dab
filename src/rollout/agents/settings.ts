import type { AgentLimits } from '../../config/agent.ts';
import type { Preloads } from '../../config/preloads.ts';
import type { Protocol } from '../../ports/gateway.ts';
import type { Model } from '../../ports/model.ts';

/** What the agents are made from; each takes what it needs. */
export type AgentSettings = {
  /** What `${NAME}` in a task's environment is resolved from. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Where programs are looked for. */
  readonly path: string;
  /** How coding agents are let in. */
  readonly login: 'key' | 'subscription';
  /** For an agent that calls a model by itself, in this process; null = none is named. */
  readonly model: Model | null;
  /** The model of the config, `provider/model`; null = none. */
  readonly modelId: string | null;
  /** The same as its service names it. */
  readonly modelName: string | null;
  /** The APIs in which the model of the config answers; null = there is none, or it is not known. */
  readonly protocols: readonly Protocol[] | null;
  readonly limits: AgentLimits;
  readonly mcp: Preloads['mcp'];
  /** Names of the variables that rollouts are given beside those of every process; absent = none. */
  readonly given?: readonly string[];
  /** The longest that a rollout's agent may take, in milliseconds; absent = not known. */
  readonly longestMs?: number;
  /** Hears every value of a login that must never be shown, before an agent is started with it. */
  readonly onSecret?: (value: string) => void;
  /** Time that the rehearsal agent waits before it works, so that it can be watched. */
  readonly rehearsalDelayMs: number;
};
