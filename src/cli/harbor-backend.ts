import { join, resolve } from 'node:path';
import { agentName } from '../config/agent.ts';
import { hostEnvironment } from '../config/environment.ts';
import { modelSettings } from '../config/model.ts';
import { namedVariables } from '../config/preloads.ts';
import type { Config } from '../config/schema.ts';
import type { Finding } from '../ports/preflight.ts';
import { folderTasks, type Pack } from '../ports/task.ts';
import { HarborRollouts } from '../rollout/harbor/harbor-rollouts.ts';
import type { HarborAgent, HarborModel, HarborOptions } from '../rollout/harbor/options.ts';
import { rehearsalAgent, rehearsalFiles } from '../rollout/harbor/python-files.ts';

/** For what a backend in Harbor is made. */
type Measured = {
  readonly config: Config;
  readonly pack: Pick<Pack, 'tasks'>;
  /** The session's or eval's id. */
  readonly id: string;
  /** Where its jobs lie. */
  readonly dir: string;
};

/** The backend of a session or an eval whose rollouts run in Harbor; `base` is the folder that relative paths start from. */
export function harborBackend(
  { config, pack, id, dir }: Measured,
  base: string,
  o: { readonly passThreshold: number; readonly defaultTimeoutSec: number; readonly workers: number },
): HarborRollouts {
  const { harbor, preloads } = config;
  const options: HarborOptions = {
    sessionId: id,
    passThreshold: o.passThreshold,
    tasks: folderTasks(pack.tasks),
    dir,
    program: harbor.program,
    environment: config.backend.includes(':') ? { importPath: config.backend } : { type: config.backend },
    agent: agentOf(config),
    python: rehearsalFiles,
    model: modelOf(config),
    environmentKwargs: harbor.environmentKwargs,
    agentKwargs: harbor.agentKwargs,
    env: namedVariables(preloads),
    agentEnv: config.login === 'subscription' ? ['CLAUDE_CODE_OAUTH_TOKEN'] : [],
    environmentEnv: {},
    mounts: harbor.mounts.map(({ source, target }) => ({ source: resolve(base, source), target })),
    pythonPath: harbor.pythonPath.map((folder) => resolve(base, folder)),
    otherSkills: [],
    agentSec: config.timeouts.agentSec,
    defaultAgentSec: o.defaultTimeoutSec,
    setupSec: harbor.setupSec,
    concurrency: o.workers,
    hostEnv: hostEnvironment(),
  };
  return new HarborRollouts(options);
}

/** Where the jobs of a session or an eval lie. */
export function harborDir(home: string): string {
  return join(home, 'harbor');
}

function agentOf({ agent }: Config): HarborAgent {
  const name = agentName(agent);
  if (name === REHEARSAL) return rehearsalAgent;
  return name.includes(':') ? { importPath: name } : { name };
}

/** The agent without a model, which this program brings. */
const REHEARSAL = 'rehearsal';

function modelOf({ model }: Config): HarborModel | null {
  if (model === null) return null;
  const { model: name, baseUrl, keyEnv } = modelSettings(model);
  return { name, baseUrl: baseUrl ?? null, keyName: keyEnv ?? null, apiFormat: null };
}

/** What of a config does not fit rollouts in Harbor; with an agent that takes no skill there is nothing `toDo`. */
export function harborMisfits(config: Config, toDo: string): readonly Finding[] {
  const { agent, backend, login, agentLimits } = config;
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
  if (login === 'subscription' && agent !== 'claude-code')
    found.push(
      error(
        `the login of ${agentName(agent)} can’t be taken into the environments of ${backend}`,
        'login',
        'take "login" out and name a model with a key, or set "backend": "local"',
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
