import { type AgentConfig, type AgentLimits, agentName } from '../../config/agent.ts';
import type { Preloads } from '../../config/preloads.ts';
import { fail } from '../../ports/failure.ts';
import type { Protocol } from '../../ports/gateway.ts';
import type { Model } from '../../ports/model.ts';
import type { Agent } from './agent.ts';
import { createBuiltinAgent } from './builtin/agent.ts';
import { createCliAgent } from './cli/cli-agent.ts';
import { cliKinds } from './cli/kinds.ts';
import { createCustomAgent } from './custom/agent.ts';
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

type Maker = (settings: AgentSettings) => Agent;

/** The agents of the local backend. A new one is a file here and a line below; of coding agents, in `cli/kinds.ts`. */
const makers: Readonly<Record<string, Maker>> = {
  ...Object.fromEntries(cliKinds.map((kind): [string, Maker] => [kind.name, (s) => createCliAgent(kind, s)])),
  builtin: (settings) => createBuiltinAgent(settings),
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
  if (typeof config !== 'string') {
    if (make === undefined) return createCustomAgent(config, settings);
    throw fail('config', `${name} is an agent of this program`, 'agent.name', 'give yours another name');
  }
  if (make !== undefined) return make(settings);
  const fix = `choose one of ${localAgentNames.join(', ')}; or describe one of your own`;
  throw fail('config', `the local backend has no agent named "${name}"`, 'agent', fix);
}
