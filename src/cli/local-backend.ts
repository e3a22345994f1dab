import { agentName } from '../config/agent.ts';
import { hostEnvironment } from '../config/environment.ts';
import { modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import type { Gateway } from '../ports/gateway.ts';
import type { Model } from '../ports/model.ts';
import type { Finding, Preflight } from '../ports/preflight.ts';
import { folderTasks, type Pack } from '../ports/task.ts';
import { type AgentSettings, createLocalAgent } from '../rollout/agents/index.ts';
import { LocalRollouts } from '../rollout/local/local-rollouts.ts';
import type { LocalOptions } from '../rollout/local/options.ts';
import { localProblems } from '../taskpack/check-local.ts';
import { missingCommands } from '../taskpack/commands.ts';
import { dockerfileCopies } from '../taskpack/dockerfile-copies.ts';

/** What is common to all backends. */
export type BackendCommon = Pick<
  LocalOptions,
  'passThreshold' | 'sessionId' | 'unsandboxedAllowed' | 'hostEnv' | 'tempRoot'
> & { readonly defaultTimeoutSec: number };

/** The backend `local` of a session or an eval. */
export function localBackend(
  { config, pack }: { readonly config: Config; readonly pack: Pick<Pack, 'tasks'> },
  { defaultTimeoutSec, ...common }: BackendCommon,
  o: { readonly model: Model | null; readonly gateway: Gateway | null; readonly rehearsalDelayMs: number },
): LocalRollouts {
  const env = hostEnvironment();
  return new LocalRollouts({
    ...common,
    agent: createLocalAgent(config.agent, agentSettings(config, o)),
    tasks: folderTasks(pack.tasks),
    prepareFiles: async (task) => (await dockerfileCopies(task)).copies,
    problems: async (tasks) => [
      ...(await Promise.all(tasks.map(localProblems))).flat(),
      ...missingCommands(tasks, env.PATH ?? '/usr/bin:/bin'),
    ],
    defaultAgentTimeoutSec: defaultTimeoutSec,
    variables: env,
    gateway: o.gateway,
    keep: null,
    agentLimits: config.agentLimits,
    modelTokens: modelTokens(config),
  });
}

/** What a config says of how much its model takes and writes. */
function modelTokens({ model }: Config): { readonly context: number | null; readonly output: number | null } {
  const settings = model === null ? null : modelSettings(model);
  return { context: settings?.contextTokens ?? null, output: settings?.maxOutputTokens ?? null };
}

/** What an agent of the backend `local` is made from. */
function agentSettings(
  config: Config,
  o: { readonly model?: Model | null; readonly rehearsalDelayMs?: number } = {},
): AgentSettings {
  const env = hostEnvironment();
  const name = config.model === null ? null : modelSettings(config.model).model;
  return {
    variables: env,
    path: env.PATH ?? '/usr/bin:/bin',
    login: config.login,
    model: o.model ?? null,
    modelName: name === null ? null : name.slice(name.indexOf('/') + 1),
    limits: config.agentLimits,
    mcp: config.preloads.mcp,
    rehearsalDelayMs: o.rehearsalDelayMs ?? 0,
  };
}

/** Agent and backend have to fit, and with an agent that takes no skill there is nothing `toDo`. */
export function learner(config: Config, toDo = 'optimize'): Preflight {
  const error = (what: string, fix: string): readonly Finding[] => [{ level: 'error', what, where: 'agent', fix }];
  return {
    async preflight() {
      if (config.backend === 'chat')
        return config.agent === CHAT_AGENT
          ? []
          : error(
              `on the backend chat the model itself does the tasks, and not ${agentName(config.agent)}`,
              'leave "agent" out',
            );
      if (config.model !== null)
        return error(
          `the agent ${agentName(config.agent)} uses no model, so "model" would be ignored`,
          'take "model" out, or set "backend": "chat" and run a prompt pack',
        );
      return createLocalAgent(config.agent, agentSettings(config)).takesSkill
        ? []
        : error(
            `the agent ${agentName(config.agent)} takes no skill, so there is nothing to ${toDo}`,
            'choose an agent that reads skills',
          );
    },
  };
}

/** What `agent` says where a model answers by itself. */
const CHAT_AGENT = 'chat';
