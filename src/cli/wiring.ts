import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { hostEnvironment, namedSecrets } from '../config/environment.ts';
import { modelName } from '../config/model.ts';
import { nearest } from '../config/nearest.ts';
import type { Config } from '../config/schema.ts';
import { makeRedactor } from '../journal/redact.ts';
import { createRehearsalOptimizer, parseRehearsal } from '../optimizer/rehearsal.ts';
import { fail } from '../ports/failure.ts';
import type { Finding, Preflight } from '../ports/preflight.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { folderTasks, type Task } from '../ports/task.ts';
import { renderDocument } from '../report/markdown.ts';
import { createLocalAgent } from '../rollout/agents/index.ts';
import { LocalRollouts } from '../rollout/local/local-rollouts.ts';
import type { ForkParts } from '../session/fork.ts';
import type { Session, SessionParts } from '../session/session.ts';
import { boundedList } from '../taskpack/bounded-list.ts';
import { localProblems } from '../taskpack/check-local.ts';
import { missingCommands } from '../taskpack/commands.ts';
import { copyTree } from '../taskpack/copy.ts';
import { dockerfileCopies } from '../taskpack/dockerfile-copies.ts';
import { readPack } from '../taskpack/read-pack.ts';
import { VERSION } from '../version.ts';
import { exampleName, exampleText } from './bundled.ts';
import { bundleOf, skillSource, sources } from './sources.ts';

/** Seconds for an agent whose task gives no limit. */
const AGENT_TIMEOUT_SEC = 900;

/** The one place where rooms are put together. */
export function sessionParts(base: string, onWarning: (text: string) => void): SessionParts {
  return {
    ...sources(base, namedSecrets(hostEnvironment()), onWarning),
    bundleOf,
    readPack,
    render: renderDocument,
    now: () => new Date().toISOString(),
    program: VERSION,
    newId: () => randomBytes(4).toString('hex'),
  };
}

/** What a fork of the session in `base` needs beside that. */
export function forkParts(base: string, onWarning: (text: string) => void): ForkParts {
  const noTasks = { name: '', dir: '', hash: '', tasks: [] };
  return {
    ...sessionParts(base, onWarning),
    copyFolder: copyTree,
    skillSource: (config, began) => skillSource(base, config, began),
    packStands: (config) => exampleName(config.pack) !== null || existsSync(resolve(base, config.pack)),
    versions: (config) =>
      backendOf({ config, id: '', pack: noTasks }, { allowUnsandboxed: false, rehearsalDelayMs: 0 }).versions(),
  };
}

export const redactor = () => makeRedactor(namedSecrets(hostEnvironment()));

/** Workers that a config asks for; null = twice the cores, at most 8. */
export function workersOf(config: Config): number {
  return config.workers ?? Math.min(8, 2 * availableParallelism());
}

/** The backend of a session. The bundled example needs no consent to run in plain folders. */
export function backendOf(
  session: Pick<Session, 'config' | 'id' | 'pack'>,
  o: { readonly allowUnsandboxed: boolean; readonly rehearsalDelayMs: number },
): Rollouts {
  const { config } = session;
  const env = hostEnvironment();
  return new LocalRollouts({
    agent: createLocalAgent(config.agent, { variables: env, rehearsalDelayMs: o.rehearsalDelayMs }),
    passThreshold: config.gate.passThreshold,
    sessionId: session.id,
    tasks: folderTasks(session.pack.tasks),
    prepareFiles: async (task) => (await dockerfileCopies(task)).copies,
    problems: async (tasks) => [
      ...(await Promise.all(tasks.map(localProblems))).flat(),
      ...missingCommands(tasks, env.PATH ?? '/usr/bin:/bin'),
    ],
    unsandboxedAllowed: o.allowUnsandboxed || config.allowUnsandboxed || isBundled(config),
    defaultAgentTimeoutSec: config.timeouts.agentSec ?? AGENT_TIMEOUT_SEC,
    hostEnv: env,
    variables: env,
    tempRoot: tmpdir(),
  });
}

function isBundled(config: Config): boolean {
  return exampleName(config.skill) !== null && exampleName(config.pack) !== null;
}

const optimizers = ['rehearsal'] as const;

/** The optimizer of a session. */
export function optimizerOf(session: Session, base: string): Proposals {
  const { pack } = session.config;
  const optimizer = modelName(session.config.optimizer);
  if (!optimizers.some((o) => o === optimizer)) {
    const close = nearest(optimizer, optimizers);
    throw fail(
      'config',
      `there is no optimizer ${optimizer}`,
      'optimizer',
      close ? `did you mean ${close}?` : `use one of ${optimizers.join(', ')}`,
    );
  }
  const example = exampleName(pack);
  if (example !== null)
    return createRehearsalOptimizer({
      edits: parseRehearsal(exampleText(example, 'rehearsal.json'), `example:${example}/rehearsal.json`),
    });
  const path = resolve(base, 'rehearsal.json');
  if (!existsSync(path))
    throw fail(
      'config',
      'the rehearsal optimizer has no list of edits',
      path,
      'write a rehearsal.json beside the config (the example shows its form)',
    );
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw fail('config', 'the list of rehearsal edits can’t be read', path, 'make it a file that you may read', {
      cause,
    });
  }
  return createRehearsalOptimizer({ edits: parseRehearsal(text, path) });
}

/** What backend and optimizer find before anything is spent; errors end the command with their fixes. */
export async function preflight(parts: readonly Preflight[]): Promise<readonly Finding[]> {
  const findings = (await Promise.all(parts.map((p) => p.preflight()))).flat();
  const errors = findings.filter((f) => f.level === 'error');
  const [first] = errors;
  if (!first) return findings;
  const rest = errors.length - 1;
  throw fail(
    'preflight',
    rest > 0 ? `${first.what} (and ${rest} more)` : first.what,
    rest > 0 ? boundedList(errors.map((e) => `${e.where}: ${e.what}`)).join('\n') : first.where,
    boundedList([...new Set(errors.map((e) => e.fix))]).join('\n'),
  );
}

/** Steps of the tasks' Dockerfiles that nobody executes here: the host is the image. */
export function taskNotes(tasks: readonly Task[]): Preflight {
  return {
    async preflight() {
      const steps = (
        await Promise.all(
          folderTasks(tasks).map(async (t) =>
            (await dockerfileCopies(t)).notExecuted.map((step) => `${t.id}: ${step}`),
          ),
        )
      ).flat();
      const [first] = steps;
      if (first === undefined) return [];
      return [
        {
          level: 'warning',
          what: `${steps.length} ${steps.length === 1 ? 'step of a Dockerfile is' : 'steps of Dockerfiles are'} not executed here, where the host is the image; the first is ${first}`,
          where: 'backend local',
          fix: 'see that this host has what they would set up',
        },
      ];
    },
  };
}

/** An agent that takes no skill can't be made better by one. */
export function learner(config: Config): Preflight {
  return {
    preflight: async () =>
      createLocalAgent(config.agent, { variables: {}, rehearsalDelayMs: 0 }).takesSkill
        ? []
        : [
            {
              level: 'error',
              what: `the agent ${config.agent} takes no skill, so there is nothing to optimize`,
              where: 'agent',
              fix: 'choose an agent that reads skills',
            },
          ],
  };
}
