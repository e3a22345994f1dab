import { agentName } from '../config/agent.ts';
import { type Config, MAX_CALLS } from '../config/schema.ts';
import { createAgentOptimizer } from '../optimizer/agent-optimizer.ts';
import { fail } from '../ports/failure.ts';
import type { Finding } from '../ports/preflight.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { LocalRollouts } from '../rollout/local/local-rollouts.ts';
import { agentId } from './roles.ts';

/** The agent that does the tasks as the optimizer. Throws `config` where no agent does them. */
export function agentAsOptimizer(config: Config, rollouts: Rollouts): Proposals {
  if (!(rollouts instanceof LocalRollouts))
    throw fail(
      'config',
      `the agent itself is to propose edits, and on the backend ${config.backend} none works`,
      'optimizer',
      'name a model as "optimizer": "provider/model"',
    );
  const { readers, minibatchSize, agentSec } = config.reflection;
  const tasks = rollouts.agentTasks(agentId(config));
  const optimizer = createAgentOptimizer({
    tasks,
    readers,
    minibatchSize,
    timeoutMs: agentSec * 1_000,
    now: () => performance.now(),
  });
  return {
    ...optimizer,
    preflight: async () => [...(await optimizer.preflight()), ...misfits(config, rollouts.agent.proposes !== false)],
  };
}

/** What of a config does not fit an agent as optimizer. */
function misfits({ agent, reflection }: Config, proposes: boolean): readonly Finding[] {
  const error = (what: string, where: string, fix: string): Finding => ({ level: 'error', what, where, fix });
  return [
    ...(proposes
      ? []
      : [
          error(
            `the agent ${agentName(agent)} does nothing but what it is made for, so it can’t propose edits`,
            'optimizer',
            'name a model as "optimizer": "provider/model", or choose another agent',
          ),
        ]),
    ...(reflection.form === 'auto'
      ? []
      : [
          error(
            `an agent as optimizer reads files by itself, so ${JSON.stringify(reflection.form)} would be ignored`,
            'reflection.form',
            'set it to auto, or name a model as "optimizer"',
          ),
        ]),
    ...(reflection.maxCalls === MAX_CALLS
      ? []
      : [
          error(
            'an agent as optimizer counts its calls by itself, so this would be ignored',
            'reflection.maxCalls',
            'take it out: "reflection.agentSec" bounds a run of the agent, "agentLimits" its requests at the gateway',
          ),
        ]),
  ];
}
