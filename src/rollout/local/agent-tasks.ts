import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentTask, AgentTaskEnd, AgentTasks } from '../../ports/agent-task.ts';
import { type Failure, fail } from '../../ports/failure.ts';
import type { UnscoredReason } from '../../ports/outcome.ts';
import type { FolderTask } from '../../ports/task.ts';
import { noUsage, type Usage } from '../../ports/usage.ts';
import type { AgentEnd } from '../agents/agent.ts';
import { cutText, placesNamed } from '../trajectory.ts';
import { HAND_IN_FOLDER, layOut, MATERIAL_FOLDER, readHandedIn } from './agent-task-files.ts';
import { reapRollout, removeFolder } from './clean.ts';
import { cleanEnvironment, markName } from './environment.ts';
import { diskFull, failureOf, failureToStart, isDiskFull } from './errors.ts';
import { type Folders, placesOf } from './folders.ts';
import type { LaunchContext } from './launch.ts';
import { modelSeat, told, witnessed } from './model-seat.ts';
import type { LocalOptions } from './options.ts';
import { makeFolders } from './prepare.ts';
import { runAgent } from './run.ts';

/** The parts of the local backend by which an agent is run, whatever its work is. */
export type AgentTasksOptions = Pick<
  LocalOptions,
  | 'agent'
  | 'sessionId'
  | 'unsandboxedAllowed'
  | 'hostEnv'
  | 'tempRoot'
  | 'gateway'
  | 'agentLimits'
  | 'modelTokens'
  | 'graceMs'
> & {
  /** Agent and model as people name them. */
  readonly id: string;
};

const defaultGraceMs = 2_000;
/** Characters of the agent's last words that are handed on. */
const longestFinalText = 4_000;

/**
 * The agent of the local backend as something that can be given work: it runs as in a rollout, in fresh folders under the
 * same mark, without a task's files, a skill or a verifier. Agent and walls are looked at by the backend's own `preflight`.
 */
export function createAgentTasks(options: AgentTasksOptions): AgentTasks {
  return {
    id: options.id,
    preflight: async () => [],
    async performAgentTask(task, { signal }) {
      if (signal.aborted) return { kind: 'cancelled', usage: noUsage };
      if (!options.unsandboxedAllowed) return { kind: 'failed', failure: noConsent(), usage: noUsage };
      let folders: Folders;
      const sinceMs = Date.now();
      try {
        folders = await makeFolders(realpathSync(options.tempRoot), options.sessionId, task.key);
      } catch (error) {
        return { kind: 'failed', failure: failureToStart(error, options.tempRoot), usage: noUsage };
      }
      const context: LaunchContext = {
        mark: {
          name: markName,
          match: 'exact',
          value: `${options.sessionId}/${task.key}`,
          places: [{ folder: folders.root, sinceMs }],
        },
        cancelled: signal,
        graceMs: options.graceMs ?? defaultGraceMs,
      };
      const end = await performed(options, task, folders, context);
      const left = await cleaned(context, folders);
      if (end.kind !== 'ended' || left === null) return end;
      return { ...end, problem: joined(end.problem, left) };
    },
  };
}

/** The run between its folders' making and their removal. Never rejects. */
async function performed(
  options: AgentTasksOptions,
  task: AgentTask,
  folders: Folders,
  context: LaunchContext,
): Promise<AgentTaskEnd> {
  let usage: Usage = noUsage;
  try {
    await layOut(task, folders.workspace);
    const ran = await run(options, task, folders, context);
    usage = ran.usage;
    // what is read is what the agent left: nothing of it runs any more
    const leftovers = await reapRollout(context.mark);
    if (context.cancelled.aborted) return { kind: 'cancelled', usage };
    const handedIn = readHandedIn(folders.workspace, task.handInName);
    if (handedIn.kind !== 'text' && ran.failure !== null) return { kind: 'failed', failure: ran.failure, usage };
    if (handedIn.kind !== 'text' && (await isDiskFull(folders.root)))
      return { kind: 'failed', failure: diskFull(options.tempRoot).failure, usage };
    const named = placesNamed(placesOf(folders));
    const notes = [
      ...ran.notes,
      ...(handedIn.kind === 'text' && ran.failure !== null ? [`${ran.failure.what}.`] : []),
      ...(leftovers.length === 0 ? [] : [`What it had left running was ended: ${leftovers.join(', ')}.`]),
    ].map(named);
    const finalText = cutText(named(ran.end.finalText), longestFinalText).text;
    const problem = notes.length === 0 ? null : notes.join(' ');
    return { kind: 'ended', exit: ran.exit, handedIn, finalText, usage, problem };
  } catch (error) {
    if (context.cancelled.aborted) return { kind: 'cancelled', usage };
    const what = `the agent could not be given its work: ${error instanceof Error ? error.message : String(error)}`;
    const known = failureOf(error, options.tempRoot) ?? fail('optimizer', what, 'agent', 'see what stands there');
    return { kind: 'failed', failure: known.failure, usage };
  }
}

type Ran = {
  readonly end: AgentEnd;
  readonly exit: AgentEnd['exit'];
  readonly usage: Usage;
  /** Why there may be no hand-in, where it was the machinery; null = it was not. */
  readonly failure: Failure | null;
  /** What was noticed on the way, in sentences. */
  readonly notes: readonly string[];
};

async function run(
  options: AgentTasksOptions,
  task: AgentTask,
  folders: Folders,
  context: LaunchContext,
): Promise<Ran> {
  const { agent } = options;
  const at = modelSeat(options, {
    rollout: task.key,
    skill: null,
    folders,
    signal: context.cancelled,
    origin: null,
  });
  const instruction = task.instruction({
    material: join(folders.workspace, MATERIAL_FOLDER),
    handIn: join(folders.workspace, HAND_IN_FOLDER, task.handInName),
  });
  const ran = await runAgent(
    agent,
    {
      workspace: folders.workspace,
      home: folders.home,
      host: { workspace: folders.workspace, home: folders.home, logDir: folders.agentLogs },
      model: at?.model ?? null,
      skillDir: null,
      instruction,
      logDir: folders.agentLogs,
      env: cleanEnvironment(options.hostEnv, {}, folders),
      task: asTask(task, instruction),
      timeoutMs: task.timeoutMs,
    },
    context,
    at?.lease ?? null,
  ).finally(() => at?.lease.close());
  const seen = at === null ? told(ran.end) : witnessed(ran.end, at, false);
  const exit = (end: AgentEnd) => (ran.timedOut ? 'timeout' : end.exit);
  if (seen.kind === 'failed')
    return { end: ran.end, exit: exit(ran.end), usage: seen.usage, failure: seen.failure, notes: [] };
  const { end } = seen;
  const noted = end.steps.slice(ran.end.steps.length).flatMap((step) => (step.kind === 'note' ? [step.text] : []));
  return { end, exit: exit(end), usage: end.usage, failure: failureIn(end, agent.name), notes: noted };
}

/** What an agent's trouble amounts to where it handed nothing in; null = it had none. */
function failureIn({ trouble, exit }: AgentEnd, agent: string): Failure | null {
  if (trouble === null && exit !== 'crashed' && exit !== 'not-started') return null;
  const reason: UnscoredReason = trouble?.reason ?? (exit === 'crashed' ? 'agent-crash' : 'agent-setup');
  const what = trouble?.detail ?? (exit === 'crashed' ? 'it crashed' : 'it could not be started');
  const passes = reason === 'provider-rate-limit' || reason === 'provider-error' || reason === 'agent-crash';
  const fix = passes
    ? 'try it again later, or name a model as "optimizer"'
    : 'mend that, or name a model as "optimizer"';
  return fail('optimizer', `the agent that proposes edits failed: ${what}`, `agent ${agent}`, fix, {
    retryable: passes,
  }).failure;
}

/** The work in the form that agents know. */
function asTask({ key, timeoutMs }: AgentTask, instruction: string): FolderTask {
  return {
    kind: 'folder',
    id: key,
    dir: '',
    hash: '',
    instruction,
    instructionHash: '',
    agentTimeoutSec: timeoutMs / 1000,
    shouldTrigger: null,
    verifierTimeoutSec: 0,
    workdir: '/app',
    commands: [],
    env: { environment: {}, verifier: {}, solution: {} },
    hasSolution: false,
  };
}

function noConsent(): Failure {
  const what = 'the agent that proposes edits would run without a sandbox, as you';
  return fail('preflight', what, 'backend local', 'allow it with --allow-unsandboxed').failure;
}

/** Ends and removes all that is left; what could not be, for people, null = nothing. The next start tries it again. */
async function cleaned(context: LaunchContext, folders: Folders): Promise<string | null> {
  let running: string | null = null;
  try {
    await reapRollout(context.mark);
  } catch (error) {
    running = `What it left running could not be looked for: ${(error as Error).message}.`;
  }
  const left = await removeFolder(folders.root);
  return joined(
    running,
    left === null ? null : `Its folder could not be removed: ${left}. The next start tries again.`,
  );
}

function joined(...parts: readonly (string | null)[]): string | null {
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? null : said.join(' ');
}
