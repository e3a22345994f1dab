import { type AgentConfig, type AgentLimits, agentName } from '../../config/agent.ts';
import type { Preloads } from '../../config/preloads.ts';
import { fail } from '../../ports/failure.ts';
import type { Model } from '../../ports/model.ts';
import type { Agent } from './agent.ts';
import { createNopAgent } from './nop.ts';
import { createOracleAgent } from './oracle.ts';
import { createRehearsalAgent } from './rehearsal.ts';

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
  /** The model of the config as its service names it; null = none. */
  readonly modelName: string | null;
  readonly limits: AgentLimits;
  readonly mcp: Preloads['mcp'];
  /** Time that the rehearsal agent waits before it works, so that it can be watched. */
  readonly rehearsalDelayMs: number;
};

/** The agents of the local backend. A new one is a file here and a line below. */
const makers: Readonly<Record<string, (settings: AgentSettings) => Agent>> = {
  rehearsal: (settings) => createRehearsalAgent({ delayMs: settings.rehearsalDelayMs }),
  oracle: (settings) => createOracleAgent(settings),
  nop: () => createNopAgent(),
};

/** Programs that do what a skill, a solution or nobody says, and call no model: of this program's own making. */
const ownPrograms: readonly string[] = ['rehearsal', 'oracle', 'nop'];

/** Is the agent one that comes with this program and runs nothing but what skill and task bring? */
export function isOwnProgram(config: AgentConfig): boolean {
  return typeof config === 'string' && ownPrograms.includes(config);
}

export const localAgentNames: readonly string[] = Object.keys(makers);

/** The agent that a config names or describes. Throws a `config` failure that lists the names when there is none. */
export function createLocalAgent(config: AgentConfig, settings: AgentSettings): Agent {
  const name = agentName(config);
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (make !== undefined) return make(settings);
  const fix = `choose one of ${localAgentNames.join(', ')}`;
  throw fail('config', `the local backend has no agent named "${name}"`, 'agent', fix);
}
