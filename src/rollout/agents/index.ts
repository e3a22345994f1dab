import { type AgentConfig, agentName } from '../../config/agent.ts';
import { fail } from '../../ports/failure.ts';
import type { Agent } from './agent.ts';
import { createBuiltinAgent } from './builtin/agent.ts';
import { createCliAgent } from './cli/cli-agent.ts';
import { cliKinds } from './cli/kinds.ts';
import { createCustomAgent } from './custom/agent.ts';
import { createNopAgent } from './nop.ts';
import { createOracleAgent } from './oracle.ts';
import { createRehearsalAgent } from './rehearsal.ts';
import type { AgentSettings } from './settings.ts';

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
