import { join } from 'node:path';
import type { AgentTask, AgentTaskEnd, AgentTasks } from '../../ports/agent-task.ts';
import { type Failure, fail } from '../../ports/failure.ts';
import type { UnscoredReason } from '../../ports/outcome.ts';
import type { FolderTask } from '../../ports/task.ts';
import { noUsage, type Usage } from '../../ports/usage.ts';
import { type AgentEnd, noNeeds } from '../agents/agent.ts';
import { cutText, placesNamed } from '../trajectory.ts';
import { HAND_IN_FOLDER, layOut, MATERIAL_FOLDER, readHandedIn } from './agent-task-files.ts';
import { diskFull, failureOf, failureToStart, isDiskFull } from './errors.ts';
import { placesOf } from './folders.ts';
import { modelSeat, told, witnessed } from './model-seat.ts';
import type { LocalOptions } from './options.ts';
import { noConsent } from './preflight.ts';
import { clear, type Raised, raise } from './raised.ts';
import { type AgentOutcome, runAgent } from './run.ts';
import { makePlaceholders } from './stand.ts';
import type { WallOptions } from './walls.ts';

/** The parts of the local backend by which an agent is run, whatever its work is. */
export type AgentTasksOptions = WallOptions &
  Pick<LocalOptions, 'agent' | 'sessionId' | 'unsandboxedAllowed' | 'agentLimits' | 'modelTokens' | 'graceMs'> & {
    /** Agent and model as people name them. */
    readonly id: string;
  };

/** Where the agent works, as tasks have it that say nothing else. */
const workdir = '/app';
/** Characters of the agent's last words that are handed on. */
const longestFinalText = 4_000;

/**
 * The agent of the local backend as something that can be given work: it runs as in a rollout, in fresh folders within the
 * same walls, without a task's files, a skill or a verifier. The backend's own `preflight` looks at agent and walls.
 */
export function createAgentTasks(options: AgentTasksOptions): AgentTasks {
  return {
    id: options.id,
    preflight: async () => [],
    async performAgentTask(task, { signal }) {
      if (signal.aborted) return { kind: 'cancelled', usage: noUsage };
      const unasked = options.unsandboxedAllowed ? null : noConsent(options.sandbox);
      if (unasked !== null) {
        const { failure } = fail('preflight', unasked.what, 'backend local', unasked.fix);
        return { kind: 'failed', failure, usage: noUsage };
      }
      let raised: Raised;
      try {
        raised = await raise(options, { key: task.key, workdir, signal });
      } catch (error) {
        return { kind: 'failed', failure: failureToStart(error, options.tempRoot), usage: noUsage };
      }
      const end = await performed(options, task, raised);
      const left = await clear(raised);
      if (end.kind !== 'ended' || left === null) return end;
      return { ...end, problem: end.problem === null ? left : `${end.problem} ${left}` };
    },
  };
}

/** What stands between the making of its folders and their removal. Never rejects. */
async function performed(options: AgentTasksOptions, task: AgentTask, raised: Raised): Promise<AgentTaskEnd> {
  const { walls, context } = raised;
  const { folders } = walls;
  let usage: Usage = noUsage;
  const counted = (by: Usage) => {
    usage = by;
  };
  try {
    await layOut(task, folders.workspace);
    const ran = await run(options, task, raised, counted);
    usage = ran.usage;
    // what is read is what the agent left: nothing of it runs any more
    const leftovers = await walls.reap(context.mark);
    if (context.cancelled.aborted) return { kind: 'cancelled', usage };
    const handedIn = readHandedIn(folders, task.handInName);
    const gotNothing = handedIn.kind !== 'text';
    if (gotNothing && ran.isOverLimit) return { kind: 'limit', usage };
    if (gotNothing && ran.failure !== null) return { kind: 'failed', failure: ran.failure, usage };
    if (gotNothing && (await isDiskFull(folders.root)))
      return { kind: 'failed', failure: diskFull(options.tempRoot).failure, usage };
    const named = placesNamed(placesOf(folders));
    const notes = [
      ...ran.notes,
      ...(ran.failure === null ? [] : [`${ran.failure.what}.`]),
      ...(leftovers.length === 0 ? [] : [`What it had left running was ended: ${leftovers.join(', ')}.`]),
    ].map(named);
    const finalText = cutText(named(ran.finalText), longestFinalText).text;
    const problem = notes.length === 0 ? null : notes.join(' ');
    return { kind: 'ended', exit: ran.exit, handedIn, finalText, usage, problem };
  } catch (error) {
    if (context.cancelled.aborted) return { kind: 'cancelled', usage };
    const what = `the agent could not be given its work: ${error instanceof Error ? error.message : String(error)}`;
    const known = failureOf(error, options.tempRoot) ?? fail('optimizer', what, 'agent', 'see what stands there');
    return { kind: 'failed', failure: known.failure, usage };
  }
}

type Ran = Pick<AgentEnd, 'exit' | 'finalText' | 'usage'> & {
  /** Why there may be no hand-in, where it was the machinery; null = it was not. */
  readonly failure: Failure | null;
  /** A limit of the session let it get no further. */
  readonly isOverLimit: boolean;
  /** What was noticed on the way, in sentences. */
  readonly notes: readonly string[];
};

/** `counted` is told what the gateway saw spent, whatever becomes of the run. */
async function run(
  options: AgentTasksOptions,
  task: AgentTask,
  { walls, context }: Raised,
  counted: (usage: Usage) => void,
): Promise<Ran> {
  const { agent, sandbox } = options;
  const { folders, places } = walls;
  const needs = (await agent.needs?.()) ?? noNeeds;
  const material = { from: join(folders.workspace, MATERIAL_FOLDER), to: join(places.workspace, MATERIAL_FOLDER) };
  const view = walls.agentView({ readOnly: [material], needs, callsModel: agent.speaks !== undefined });
  makePlaceholders(folders.root, sandbox.placeholders(view));
  const at = modelSeat(options, {
    rollout: task.key,
    skill: null,
    folders,
    signal: context.cancelled,
    timeoutMs: task.timeoutMs,
    origin: sandbox.gatewayOrigin(view),
  });
  const instruction = task.instruction({
    material: material.to,
    handIn: join(places.workspace, HAND_IN_FOLDER, task.handInName),
  });
  const watch = await walls.watch();
  const ran = await runAgent(
    agent,
    {
      ...walls.seat(),
      model: at?.model ?? null,
      skillDir: null,
      instruction,
      env: walls.environment(view, {}, needs.path),
      task: asTask(task, instruction),
      timeoutMs: task.timeoutMs,
    },
    walls.enter(context, view, watch),
    at?.lease ?? null,
    watch?.over ?? null,
  ).finally(async () => {
    watch?.stop();
    await at?.lease.close();
    if (at !== null) counted(at.lease.report().usage);
  });
  const reached = (await watch?.end()) ?? [];
  const seen = at === null ? told(ran.end) : witnessed(ran.end, at, false);
  const stop = at?.lease.report().stop ?? null;
  const isOverLimit = stop !== null && stop.kind === 'limit' && stop.of === 'session';
  const exit = (end: AgentEnd) => (ran.timedOut ? 'timeout' : end.exit);
  if (seen.kind === 'failed') {
    const { failure, usage } = seen;
    return { exit: exit(ran.end), finalText: ran.end.finalText, usage, failure, isOverLimit, notes: reached };
  }
  const { end } = seen;
  const notes = [...reached, ...addedNotes(ran, end)];
  return {
    exit: exit(end),
    finalText: end.finalText,
    usage: end.usage,
    failure: failureIn(end, agent.name),
    isOverLimit,
    notes,
  };
}

/** What the gateway had to say of an agent's end. */
function addedNotes({ end: { steps } }: AgentOutcome, end: AgentEnd): readonly string[] {
  return end.steps.slice(steps.length).flatMap((step) => (step.kind === 'note' ? [step.text] : []));
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
    workdir,
    commands: [],
    env: { environment: {}, verifier: {}, solution: {} },
    hasSolution: false,
  };
}
