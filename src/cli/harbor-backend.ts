import { resolve } from 'node:path';
import { agentName } from '../config/agent.ts';
import { hostEnvironment } from '../config/environment.ts';
import { modelSettings } from '../config/model.ts';
import { namedVariables, wantsPreloads } from '../config/preloads.ts';
import type { Config } from '../config/schema.ts';
import type { Finding } from '../ports/preflight.ts';
import { folderTasks, type Pack } from '../ports/task.ts';
import { withHostAgent } from '../rollout/harbor/agent-mounts.ts';
import { harborModel } from '../rollout/harbor/harbor-model.ts';
import { HarborRollouts } from '../rollout/harbor/harbor-rollouts.ts';
import type { HarborAgent, HarborOptions } from '../rollout/harbor/options.ts';
import { withPreloads } from '../rollout/harbor/preloads.ts';
import { rehearsalAgent, rehearsalFiles } from '../rollout/harbor/python-files.ts';
import { gatheredFrom, type Preloaded } from './preloads.ts';

/** For what a backend in Harbor is made. */
type Measured = {
  readonly config: Config;
  readonly pack: Pick<Pack, 'tasks'>;
  /** The session's or eval's id. */
  readonly id: string;
  /** Where its jobs lie. */
  readonly dir: string;
  /** Null: nothing is performed, so nothing is brought in. */
  readonly preloaded: Preloaded | null;
};

/** The backend of a session or an eval whose rollouts run in Harbor; `base` is the folder that relative paths start from. */
export async function harborBackend(
  { config, pack, id, dir, preloaded }: Measured,
  base: string,
  o: { readonly passThreshold: number; readonly defaultTimeoutSec: number; readonly workers: number },
): Promise<HarborRollouts> {
  const { harbor, preloads, model } = config;
  const agent = agentOf(config);
  const environment = config.backend.includes(':') ? { importPath: config.backend } : { type: config.backend };
  const hostEnv = hostEnvironment();
  const spoken = harborModel(model === null ? null : modelSettings(model), { agent, environment, login: config.login });
  const options: HarborOptions = {
    sessionId: id,
    passThreshold: o.passThreshold,
    tasks: folderTasks(pack.tasks),
    dir,
    program: harbor.program,
    environment,
    agent,
    python: rehearsalFiles,
    model: spoken.model,
    environmentKwargs: harbor.environmentKwargs,
    agentKwargs: harbor.agentKwargs,
    env: namedVariables(preloads),
    agentEnv: spoken.agentEnv,
    environmentEnv: {},
    mounts: harbor.mounts.map(({ source, target }) => ({ source: resolve(base, source), target })),
    pythonPath: harbor.pythonPath.map((folder) => resolve(base, folder)),
    otherSkills: [],
    agentSec: config.timeouts.agentSec,
    defaultAgentSec: o.defaultTimeoutSec,
    setupSec: harbor.setupSec,
    concurrency: o.workers,
    hostEnv,
  };
  const mounted = harbor.mountAgent ? await withHostAgent(options, hostEnv.PATH ?? '') : { options, findings: [] };
  const brought =
    preloaded === null || !wantsPreloads(preloads)
      ? { options: mounted.options, findings: [] }
      : await withPreloads(mounted.options, { ...preloaded, ...gatheredFrom({ config, ...preloaded }) });
  const found = [...spoken.findings, ...mounted.findings, ...brought.findings];
  return new HarborRollouts({ ...brought.options, found });
}

function agentOf({ agent }: Config): HarborAgent {
  const name = agentName(agent);
  if (name === REHEARSAL) return rehearsalAgent;
  return name.includes(':') ? { importPath: name } : { name };
}

/** The agent without a model, which this program brings. */
const REHEARSAL = 'rehearsal';

/** What of a config does not fit rollouts in Harbor; with an agent that takes no skill there is nothing `toDo`. */
export function harborMisfits(config: Config, toDo: string): readonly Finding[] {
  const { agent, agentLimits } = config;
  const error = (what: string, where: string, fix: string): Finding => ({ level: 'error', what, where, fix });
  const found: Finding[] = [];
  if (typeof agent !== 'string')
    found.push(
      error(
        `the agent ${agent.name} is described for the backend local, and Harbor can’t start it`,
        'agent',
        'name an agent of Harbor (`harbor agent list`), or a class of your own as module:Class with "harbor.pythonPath"',
      ),
    );
  else if (agent === 'oracle' || agent === 'nop')
    found.push(
      error(
        `the agent ${agent} takes no skill, so there is nothing to ${toDo}`,
        'agent',
        'choose an agent that reads skills',
      ),
    );
  const limited = Object.entries(agentLimits).filter(([, value]) => value !== null);
  for (const [name] of limited)
    found.push(
      error(
        'limits of one rollout are held by the gateway, which does not stand between Harbor’s agents and their model',
        `agentLimits.${name}`,
        'take it out: "timeouts.agentSec" bounds a rollout, "limits" the session after each rollout',
      ),
    );
  return found;
}
