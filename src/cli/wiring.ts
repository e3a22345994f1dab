import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { backendKind } from '../config/backend.ts';
import { hostEnvironment } from '../config/environment.ts';
import { modelName } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import type { LoggedEvent } from '../events/events.ts';
import { createReflectingOptimizer } from '../optimizer/reflecting.ts';
import { fail } from '../ports/failure.ts';
import type { Gateway } from '../ports/gateway.ts';
import type { Model, ModelWait } from '../ports/model.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { ChatRollouts } from '../rollout/chat/chat-rollouts.ts';
import type { Evaluation } from '../session/evaluation.ts';
import type { ForkParts } from '../session/fork.ts';
import { sessionPaths } from '../session/paths.ts';
import type { Session } from '../session/session.ts';
import type { SessionParts } from '../session/session-parts.ts';
import { copyTree } from '../taskpack/copy.ts';
import { readAnyPack } from '../taskpack/read-any-pack.ts';
import { VERSION } from '../version.ts';
import { agentAsOptimizer } from './agent-as-optimizer.ts';
import { exampleName } from './bundled.ts';
import { refuseSecrets } from './config-secrets.ts';
import { type Bounded, roomOf, spentInEval, spentInSession } from './gateway.ts';
import { harborBackend } from './harbor-backend.ts';
import { localBackend, reachOf } from './local-backend.ts';
import { type ModelMaker, modelMaker } from './models.ts';
import { namedOptimizer, rehearsalOf } from './named-optimizer.ts';
import { type Preloaded, standingVersions } from './preloads.ts';
import { renderSession } from './render-session.ts';
import type { Roles } from './roles.ts';
import { noteNamed, redactor } from './secrets.ts';
import { bundleOf, skillSource, sources } from './sources.ts';

/** Seconds for an agent whose task gives no limit. */
const AGENT_TIMEOUT_SEC = 900;

/** The one place where rooms are put together. */
export function sessionParts(base: string, onWarning: (text: string) => void): SessionParts {
  return {
    ...sources(base, onWarning),
    bundleOf,
    readPack: readAnyPack,
    refuseSecrets: (config, placeOf) => {
      noteNamed(config.preloads);
      return refuseSecrets(config, placeOf, redactor());
    },
    render: renderSession,
    now: () => new Date().toISOString(),
    program: VERSION,
    newId: () => randomBytes(4).toString('hex'),
  };
}

/** What a fork of the session in `base` needs beside that. */
export function forkParts(base: string, onWarning: (text: string) => void): ForkParts {
  return {
    ...sessionParts(base, onWarning),
    copyFolder: copyTree,
    skillSource: (config, began) => skillSource(base, config, began),
    packStands: (config) => exampleName(config.pack) !== null || existsSync(resolve(base, config.pack)),
    versions: (config) => versionsOf(config, base),
  };
}

export { redactor } from './secrets.ts';

/** Workers that a config asks for; null = twice the cores, at most 8. */
export function workersOf(config: Config): number {
  return config.workers ?? Math.min(8, 2 * availableParallelism());
}

/** Backend and optimizer of a session, and the models that they use. */
export type Wired = {
  readonly rollouts: Rollouts;
  readonly proposals: Proposals;
  readonly models: readonly Model[];
  readonly roles: Roles<Model>;
  /** Between agents and their model; to be closed at the end. Null = no agent here goes through one. */
  readonly gateway: Gateway | null;
  /** Whether the target can be asked for a word before anything begins: its endpoint speaks an API that this program does. */
  readonly asksTarget: boolean;
  /** The same optimizer, shown a digest in one call, for a model that calls no tools; null = it is no model. */
  readonly oneShot: (() => Proposals) | null;
};

/** What of a session its backend and its optimizer are made of. */
export type Wirable = Pick<Session, 'config' | 'id' | 'pack' | 'paths' | 'skill' | 'isNew' | 'onEvent' | 'state'>;

/** Puts a session's backend and optimizer together. The bundled examples need no consent to run in plain folders. */
export async function wired(session: Wirable, base: string, o: BackendOptions): Promise<Wired> {
  const make = modelMaker(base, o.onWait);
  const { optimizer, reflection } = session.config;
  const { limits } = session.config;
  const bounded: Bounded = {
    limits,
    spent: () => spentInSession(session.state),
    onCounted: (listener) => session.onEvent((event) => tellCounted(event, listener)),
  };
  const { id, config, pack, paths, skill, isNew } = session;
  const preloaded = { measured: [skill.name], from: paths.dir, dir: paths.preloads, lender: null, isNew };
  const { target, ...backend } = await wiredBackend(
    { id, config, pack, paths, skill, preloaded },
    base,
    bounded,
    make,
    o,
  );
  const named = namedOptimizer(optimizer);
  if (named !== 'model')
    return {
      ...backend,
      proposals: named === 'agent' ? agentAsOptimizer(session.config, backend.rollouts) : rehearsalOf(session, base),
      models: target === null ? [] : [target],
      roles: { target, optimizer: null },
      oneShot: null,
    };
  const reader = await make.model(optimizer);
  const proposalsIn = (form: typeof reflection.form) =>
    createReflectingOptimizer({ ...reflection, form, model: reader, now: () => performance.now() });
  return {
    ...backend,
    proposals: proposalsIn(reflection.form),
    models: target === null ? [reader] : [target, reader],
    roles: { target, optimizer: reader },
    oneShot: () => proposalsIn('one-shot'),
  };
}

/** The backend of an eval, and the model that it asks. */
export async function wiredEval(
  evaluation: Pick<
    Evaluation,
    'config' | 'id' | 'pack' | 'bundledFiles' | 'created' | 'paths' | 'isNew' | 'state' | 'onEvent'
  >,
  base: string,
  o: BackendOptions & { readonly bundled: boolean; readonly lender: string | null },
): Promise<WiredBackend> {
  const { config, id, pack, bundledFiles: files, created, paths, isNew } = evaluation;
  const name = created.arms[0]?.name ?? '';
  const measured = created.arms.flatMap((arm) => (arm.text === null ? [] : [arm.name]));
  const preloaded = { measured, from: base, dir: paths.preloads, lender: o.lender, isNew };
  const bounded: Bounded = {
    limits: config.limits,
    spent: () => spentInEval(evaluation.state),
    onCounted: (listener) => evaluation.onEvent((event) => tellCounted(event, listener)),
  };
  return wiredBackend(
    { config, id, pack, paths, skill: { name, files }, preloaded },
    base,
    bounded,
    modelMaker(base, o.onWait),
    o,
  );
}

function tellCounted(event: LoggedEvent, listener: (key: string) => void): void {
  if (event.type === 'rollout.finished' || event.type === 'rollout.cancelled') listener(event.key);
  if (event.type === 'model.called' && event.key !== undefined) listener(event.key);
}

type WiredBackend = Pick<Wired, 'rollouts' | 'gateway' | 'asksTarget'> & { readonly target: Model | null };

async function wiredBackend(
  measured: Measured,
  base: string,
  bounded: Bounded,
  make: ModelMaker,
  o: BackendOptions,
): Promise<WiredBackend> {
  const { config, id } = measured;
  const reach = config.model === null ? 'none' : reachOf(config);
  const calls = reach === 'itself' || reach === 'gateway' ? config.model : null;
  const target = calls === null ? null : await make.model(calls);
  const gateway =
    calls === null || reach !== 'gateway' ? null : await make.gateway(calls, { sessionId: id, room: roomOf(bounded) });
  const spoken = calls !== null && modelName(calls).startsWith('anthropic/') ? 'messages' : 'chat';
  const asksTarget = gateway === null || gateway.upstream.protocols.includes(spoken);
  return { target, gateway, asksTarget, rollouts: await backendOf(measured, base, { model: target, gateway }, o) };
}

/** What rollouts are made for: a session or an eval. */
type Measured = Pick<Session, 'config' | 'id' | 'pack'> & {
  readonly paths?: { readonly workspaces: string; readonly harbor: string };
  readonly skill?: Pick<Session['skill'], 'name' | 'files'>;
  readonly preloaded: Preloaded | null;
};

type BackendOptions = {
  readonly allowUnsandboxed: boolean;
  /** All that would run comes with this program; absent = as the config says. */
  readonly bundled?: boolean;
  readonly rehearsalDelayMs: number;
  /** A provider makes a call of this model wait. */
  readonly onWait?: (wait: ModelWait, model: string) => void;
};

/** The backend of a session; `model` is the one that a chat asks. */
async function backendOf(
  session: Measured,
  base: string,
  { model, gateway }: { readonly model: Model | null; readonly gateway: Gateway | null },
  o: BackendOptions,
): Promise<Rollouts> {
  const { config } = session;
  const bundled = o.bundled ?? isBundled(config);
  const common = {
    passThreshold: config.gate.passThreshold,
    sessionId: session.id,
    unsandboxedAllowed: o.allowUnsandboxed || config.allowUnsandboxed,
    hostEnv: hostEnvironment(),
    tempRoot: tmpdir(),
    defaultTimeoutSec: config.timeouts.agentSec ?? AGENT_TIMEOUT_SEC,
  };
  const kind = backendKind(config.backend);
  switch (kind) {
    case 'chat':
      if (model === null)
        throw fail(
          'config',
          'the backend chat asks a model, and none is named',
          'model',
          'add "model": "provider/model"',
        );
      return new ChatRollouts({
        ...common,
        unsandboxedAllowed: common.unsandboxedAllowed || bundled,
        model,
        tasks: session.pack.tasks,
        measures: config.optimize,
        ...(session.skill === undefined ? {} : { skillName: session.skill.name }),
        bundledFiles: session.skill?.files ?? [],
      });
    case 'local':
      return localBackend(
        session,
        base,
        { ...common, bundled },
        {
          model,
          gateway,
          rehearsalDelayMs: o.rehearsalDelayMs,
          workspaces: session.paths?.workspaces ?? null,
          redact: redactor(),
        },
      );
    case 'harbor':
      return harborBackend(
        {
          config,
          pack: session.pack,
          id: session.id,
          dir: session.paths?.harbor ?? '/nowhere',
          preloaded: session.preloaded,
        },
        base,
        { ...common, workers: workersOf(config) },
      );
    default:
      return kind satisfies never;
  }
}

/** Versions of what would take part in rollouts now. */
async function versionsOf(config: Config, base: string): Promise<Readonly<Record<string, string>>> {
  const model = config.backend === 'chat' && config.model !== null ? await modelMaker(base).model(config.model) : null;
  const session = { config, id: '', pack: { name: '', dir: '', hash: '', tasks: [] }, preloaded: null };
  const alone = { allowUnsandboxed: false, rehearsalDelayMs: 0 };
  const backend = await backendOf(session, base, { model, gateway: null }, alone);
  return { ...(await backend.versions()), ...standingVersions(sessionPaths(base).preloads, config) };
}

function isBundled(config: Config): boolean {
  return exampleName(config.skill) !== null && exampleName(config.pack) !== null;
}
