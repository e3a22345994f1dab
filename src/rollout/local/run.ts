import { unknownUsage } from '../../ports/usage.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { longestTimerMs } from '../../process/run-process.ts';
import { within } from '../../process/wait.ts';
import type { Agent, AgentCommandOptions, AgentEnd, AgentRun } from '../agents/agent.ts';
import { demandStarted, failureOf } from './errors.ts';
import { type LaunchContext, launch } from './launch.ts';

/** How an agent ended, as the backend knows it. */
export type AgentOutcome = { readonly end: AgentEnd; readonly timedOut: boolean };

/** What the backend gives an agent besides the way to start processes. */
export type AgentSeat = Omit<AgentRun, 'run' | 'signal'>;

/** How long an agent may take to hand back after its last command was ended. */
const handBackMs = 3_000;

/**
 * Runs the agent under its deadline. An agent that does not come back after deadline or cancel is given up: it can
 * start nothing any more. Throws only what is never an outcome (see `failureOf`): also, whatever the agent made of it,
 * that the system had no room for one of its commands.
 */
export async function runAgent(agent: Agent, seat: AgentSeat, context: LaunchContext): Promise<AgentOutcome> {
  const deadlineAt = performance.now() + seat.timeoutMs;
  const controller = new AbortController();
  let timedOut = false;
  let over = false;
  const refusals: ProcessEnd[] = [];
  const timer = setTimeout(
    () => {
      timedOut = true;
      controller.abort();
    },
    Math.min(seat.timeoutMs, longestTimerMs),
  );
  const onCancel = () => controller.abort();
  context.cancelled.addEventListener('abort', onCancel, { once: true });
  if (context.cancelled.aborted) controller.abort();

  const run = async (command: readonly [string, ...string[]], options: AgentCommandOptions = {}) => {
    const leftMs = deadlineAt - performance.now();
    if (over || leftMs <= 0) return refused;
    const { timeoutMs, env, cwd, ...rest } = options;
    const ended = await launch(context, {
      ...rest,
      command,
      cwd: cwd ?? seat.workspace,
      env: { ...seat.env, ...env },
      timeoutMs: Math.min(timeoutMs ?? leftMs, leftMs),
    });
    if (ended.systemRefused) refusals.push(ended);
    return ended;
  };

  const aborted = new Promise<void>((resolve) => {
    if (controller.signal.aborted) resolve();
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const working = settle(agent.run({ ...seat, run, signal: controller.signal }));
  try {
    const first = await Promise.race([working, aborted]);
    const end = first ?? (await within(working, context.graceMs + handBackMs)) ?? neverCameBack;
    refusals.forEach(demandStarted);
    return { end, timedOut: timedOut || end.exit === 'timeout' };
  } finally {
    over = true;
    clearTimeout(timer);
    context.cancelled.removeEventListener('abort', onCancel);
    controller.abort();
  }
}

/** An exception becomes a crash of the agent, unless it is never an outcome. */
async function settle(run: Promise<AgentEnd>): Promise<AgentEnd> {
  try {
    return await run;
  } catch (error) {
    if (failureOf(error, '') !== null) throw error;
    return {
      ...neverCameBack,
      exit: 'crashed',
      trouble: { reason: 'agent-crash', detail: error instanceof Error ? error.message : String(error) },
    };
  }
}

const neverCameBack: AgentEnd = {
  exit: 'timeout',
  trouble: null,
  steps: [{ kind: 'note', text: 'The agent did not come back.' }],
  finalText: '',
  usage: unknownUsage,
  read: null,
  didWork: false,
};

const refused: ProcessEnd = {
  cause: 'timeout',
  exitCode: null,
  signal: null,
  detail: 'the time was up before the start',
  systemRefused: false,
  durationMs: 0,
  stdout: '',
  stderr: '',
  droppedBytes: 0,
  abandonedOutput: false,
};
