import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { agentName } from '../config/agent.ts';
import { backendKind } from '../config/backend.ts';
import { hostEnvironment } from '../config/environment.ts';
import { modelSettings } from '../config/model.ts';
import { namedVariables, type Preloads, wantsPreloads } from '../config/preloads.ts';
import type { Config } from '../config/schema.ts';
import { relayLaunch } from '../gateway/relay-launch.ts';
import type { Redactor } from '../journal/redact.ts';
import type { Gateway } from '../ports/gateway.ts';
import type { Model } from '../ports/model.ts';
import type { Finding, Preflight } from '../ports/preflight.ts';
import { folderTasks, type Pack } from '../ports/task.ts';
import { createLocalAgent, isOwnProgram, localAgentNames } from '../rollout/agents/index.ts';
import type { AgentSettings } from '../rollout/agents/settings.ts';
import { sweepSession } from '../rollout/local/clean.ts';
import { LocalRollouts } from '../rollout/local/local-rollouts.ts';
import type { LocalOptions } from '../rollout/local/options.ts';
import { chooseSandbox, thisSandboxHost } from '../rollout/local/sandbox/choose.ts';
import { PlainFolders } from '../rollout/local/sandbox/plain-folders.ts';
import { relayPort, relaySocket, type Sandbox } from '../rollout/local/sandbox.ts';
import { preparationId, preparationMark, walledCommands } from '../rollout/local/walled.ts';
import type { Preloading } from '../rollout/preloads/preloading.ts';
import { localProblems } from '../taskpack/check-local.ts';
import { missingCommands } from '../taskpack/commands.ts';
import { dockerfileCopies } from '../taskpack/dockerfile-copies.ts';
import { exampleName } from './bundled.ts';
import { harborMisfits } from './harbor-backend.ts';
import { type Preloaded, type PreloadsFor, preloadsOf } from './preloads.ts';
import { noteSecret } from './secrets.ts';

/** What is common to all backends. */
export type BackendCommon = Pick<LocalOptions, 'passThreshold' | 'sessionId' | 'hostEnv' | 'tempRoot'> & {
  readonly defaultTimeoutSec: number;
  readonly unsandboxedAllowed: boolean;
  /** Skill and pack come with this program. */
  readonly bundled: boolean;
};

/** For what a backend is made. `preloaded` null: it installs nothing, as it performs nothing. */
export type Backed = {
  readonly config: Config;
  readonly pack: Pick<Pack, 'tasks'>;
  readonly preloaded: Preloaded | null;
};

/** The backend `local` of a session or an eval; `base` is the folder that relative paths of the config start from. */
export async function localBackend(
  { config, pack, preloaded }: Backed,
  base: string,
  { defaultTimeoutSec, bundled, ...common }: BackendCommon,
  o: {
    readonly model: Model | null;
    readonly gateway: Gateway | null;
    readonly rehearsalDelayMs: number;
    /** Where workspaces of failed rollouts are kept; null = nowhere. */
    readonly workspaces: string | null;
    readonly redact: Redactor;
  },
): Promise<LocalRollouts> {
  const env = hostEnvironment();
  const path = env.PATH ?? '/usr/bin:/bin';
  const { ownPrograms, ...walls } = await wallsAround(config, base, bundled);
  const preloads = preloaded === null ? null : await localPreloads({ config, pack, ...preloaded }, base, common);
  const named = [...namedVariables(config.preloads), ...Object.keys(preloads?.mcpEnv ?? {})];
  const agentWith = (mcp: Preloads['mcp']) =>
    createLocalAgent(config.agent, {
      ...agentSettings(config, { ...o, mcp }),
      given: [...named, ...folderTasks(pack.tasks).flatMap((t) => Object.keys(t.env.environment))],
      longestMs: longestMs(config, pack.tasks, defaultTimeoutSec),
    });
  return new LocalRollouts({
    ...common,
    ...walls,
    agent: agentWith(preloads?.mcp ?? {}),
    agentAlone: agentWith({}),
    preloads,
    tasks: folderTasks(pack.tasks),
    prepareFiles: async (task) => (await dockerfileCopies(task)).copies,
    problems: async (tasks, seen) => [
      ...(walls.sandbox.ownPaths ? [] : (await Promise.all(tasks.map(localProblems))).flat()),
      // preloads may bring them, and look for them themselves
      ...(preloads === null ? missingCommands(tasks, path, seen) : []),
    ],
    unsandboxedAllowed: common.unsandboxedAllowed || ownPrograms,
    relay: o.gateway === null ? null : relayLaunch(relayPort, relaySocket),
    defaultAgentTimeoutSec: defaultTimeoutSec,
    variables: env,
    gateway: o.gateway,
    keep:
      o.workspaces === null || isOwnProgram(config.agent)
        ? null
        : { dir: o.workspaces, mostBytes: config.sandbox.keepMb * 1_000_000, redact: o.redact },
    agentLimits: config.agentLimits,
    modelTokens: modelTokens(config),
  });
}

/** What stands around rollouts. What preloads bring is nothing of this program's own. */
async function wallsAround(config: Config, base: string, bundled: boolean) {
  const ownPrograms = bundled && isOwnProgram(config.agent) && !wantsPreloads(config.preloads);
  const path = hostEnvironment().PATH ?? '/usr/bin:/bin';
  return {
    ownPrograms,
    sandbox: ownPrograms ? ownFolders : await wallsOf(config.sandbox.kind, path),
    network: config.sandbox.network,
    show: config.sandbox.show.map((given) => hostPath(given, base)),
    hide: hiddenPaths(config, base),
    limits: ownPrograms ? null : config.sandbox,
  };
}

/** Preloads on the backend `local`, looked at and not installed; null = none are wanted. */
async function localPreloads(
  of: PreloadsFor,
  base: string,
  common: Pick<BackendCommon, 'hostEnv' | 'tempRoot'>,
): Promise<Preloading | null> {
  const { config, dir } = of;
  if (!wantsPreloads(config.preloads)) return null;
  const walls = await wallsAround(config, base, false);
  const id = preparationId(dir);
  return preloadsOf(of, createLocalAgent(config.agent, agentSettings(config)), {
    show: walls.show,
    mark: preparationMark(id),
    walled: walledCommands(id, { ...common, ...walls }),
    hasWalls: walls.sandbox.kind !== 'none',
    sweep: () => sweepSession(id, common.tempRoot),
  });
}

/** Nothing that comes with this program has to be held back: plain folders are the same everywhere, and quick. */
const ownFolders = new PlainFolders({
  instead: null,
  bound: { kind: 'none', why: 'nothing needs to be' },
  ownPrograms: true,
});

const walls = new Map<string, Promise<Sandbox>>();

/** The walls of this machine, tried once. */
function wallsOf(kind: Config['sandbox']['kind'], path: string): Promise<Sandbox> {
  const key = `${kind} ${path}`;
  const known = walls.get(key) ?? chooseSandbox({ kind, host: thisSandboxHost(path) });
  walls.set(key, known);
  return known;
}

/** A path of the config: `~` is the user's home. */
function hostPath(given: string, base: string): string {
  return given === '~' || given.startsWith('~/') ? join(homedir(), given.slice(1)) : resolve(base, given);
}

/** What nobody inside sees, whatever is shown: the user's home, the session, the sources of skill and pack. */
function hiddenPaths(config: Config, base: string): readonly string[] {
  const sources = [config.skill, config.pack].filter((given) => exampleName(given) === null);
  const places = sources.map((given) => resolve(base, given));
  const folders = places.map((path) => (basename(path) === 'SKILL.md' ? dirname(path) : path));
  return [homedir(), resolve(base), ...folders];
}

/** The longest time that any task gives its agent. */
function longestMs({ timeouts }: Config, tasks: Pack['tasks'], defaultSec: number): number {
  return 1000 * Math.max(...tasks.map((t) => timeouts.agentSec ?? t.agentTimeoutSec ?? defaultSec), 0);
}

/** What a config says of how much its model takes and writes. */
function modelTokens({ model }: Config): { readonly context: number | null; readonly output: number | null } {
  const settings = model === null ? null : modelSettings(model);
  return { context: settings?.contextTokens ?? null, output: settings?.maxOutputTokens ?? null };
}

/** What an agent of the backend `local` is made from. */
function agentSettings(
  config: Config,
  o: {
    readonly model?: Model | null;
    readonly gateway?: Gateway | null;
    readonly rehearsalDelayMs?: number;
    readonly mcp?: Preloads['mcp'];
  } = {},
): AgentSettings {
  const env = hostEnvironment();
  const name = config.model === null ? null : modelSettings(config.model).model;
  return {
    variables: env,
    path: env.PATH ?? '/usr/bin:/bin',
    login: config.login,
    model: o.model ?? null,
    modelId: name,
    modelName: name === null ? null : name.slice(name.indexOf('/') + 1),
    protocols: o.gateway?.upstream.protocols ?? null,
    limits: config.agentLimits,
    mcp: o.mcp ?? {},
    onSecret: (value) => noteSecret({ name: `login of ${agentName(config.agent)}`, value }),
    rehearsalDelayMs: o.rehearsalDelayMs ?? 0,
  };
}

/**
 * How an agent comes to its model: `gateway`: through it, with a key that is good for nothing else · `itself`: it calls the
 * model from this process · `login`: straight to its vendor, by a login of its own · `direct`: straight to the model, from
 * where Harbor runs it, with its key · `none`: it needs no model.
 */
export type Reach = 'gateway' | 'itself' | 'login' | 'direct' | 'none';

/** Throws `config` when there is no such agent. */
export function reachOf(config: Config): Reach {
  const kind = backendKind(config.backend);
  if (kind === 'chat') return 'itself';
  if (kind === 'harbor') return config.login === 'subscription' ? 'login' : config.model === null ? 'none' : 'direct';
  const { speaks, callsModel } = createLocalAgent(config.agent, agentSettings(config));
  if (callsModel) return 'itself';
  if (speaks === undefined || speaks.length === 0) return 'none';
  return config.login === 'subscription' ? 'login' : 'gateway';
}

/** Agent, model and backend have to fit, and with an agent that takes no skill there is nothing `toDo`. */
export function learner(config: Config, toDo = 'optimize'): Preflight {
  const name = agentName(config.agent);
  const error = (what: string, fix: string, where = 'agent'): readonly Finding[] => [
    { level: 'error', what, where, fix },
  ];
  return {
    async preflight() {
      if (config.backend === 'chat')
        return name === CHAT_AGENT
          ? []
          : error(`on the backend chat the model itself does the tasks, and not ${name}`, 'leave "agent" out');
      if (name === CHAT_AGENT)
        return error(
          'task folders are done by an agent, and none is named',
          backendKind(config.backend) === 'harbor'
            ? 'name one of Harbor’s as "agent": `harbor agent list` has them'
            : `name one as "agent": ${localAgentNames.join(', ')}; or describe one of your own`,
        );
      if (backendKind(config.backend) === 'harbor') return harborMisfits(config, toDo);
      if (!createLocalAgent(config.agent, agentSettings(config)).takesSkill)
        return error(
          `the agent ${name} takes no skill, so there is nothing to ${toDo}`,
          'choose an agent that reads skills',
        );
      const reach = reachOf(config);
      if (reach === 'none' && config.model !== null)
        return error(
          `the agent ${name} uses no model, so "model" would be ignored`,
          'take "model" out, choose an agent that calls one, or set "backend": "chat" and run a prompt pack',
        );
      if ((reach === 'gateway' || reach === 'itself') && config.model === null)
        return error(
          `the agent ${name} calls a model, and none is named`,
          reach === 'gateway'
            ? 'add "model": "provider/model"; with a login of its own set "login": "subscription"'
            : 'add "model": "provider/model"',
          'model',
        );
      if (reach !== 'login' && config.login === 'subscription')
        return error(
          `the agent ${name} has no login of its own, so "login": "subscription" would be ignored`,
          'take "login" out',
          'login',
        );
      return [];
    },
  };
}

/** What `agent` says where a model answers by itself. */
const CHAT_AGENT = 'chat';
