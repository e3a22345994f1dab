import type { GatewayLease } from '../../ports/gateway.ts';
import { unknownUsage } from '../../ports/usage.ts';
import { notStarted, type ProcessEnd } from '../../process/process-end.ts';
import { longestTimerMs } from '../../process/run-process.ts';
import { within } from '../../process/wait.ts';
import type { Agent, AgentCommandOptions, AgentEnd, AgentRun } from '../agents/agent.ts';
import { demandStarted, failureOf } from './errors.ts';
import { type LaunchContext, launch } from './launch.ts';

/** How an agent ended, as the backend knows it. */
export type AgentOutcome = {
  readonly end: AgentEnd;
  readonly timedOut: boolean;
  /** A limit beside time and spend ended it: a sentence for people; null = none did. */
  readonly overLimit: string | null;
};

/** What the backend gives an agent besides the way to start processes. */
export type AgentSeat = Omit<AgentRun, 'run' | 'signal' | 'waits'>;

/** How long an agent may take to hand back after its last command was ended. */
const handBackMs = 3_000;

/**
 * Runs the agent under its deadline, which stands still while gateway or agent wait for the provider's sake. It ends early
 * where the gateway says that the rollout gets no further. An agent that does not come back after deadline or cancel is given up: it can
 * start nothing any more. Throws only what is never an outcome (see `failureOf`): also, whatever the agent made of it,
 * that the system had no room for one of its commands.
 */
export async function runAgent(
  agent: Pick<Agent, 'run'>,
  seat: AgentSeat,
  context: LaunchContext,
  lease: Pick<GatewayLease, 'stopped' | 'onWait'> | null = null,
  /** Aborted when it uses up more than it may, with a sentence for people as its reason. */
  overLimit: AbortSignal | null = null,
): Promise<AgentOutcome> {
  const controller = new AbortController();
  const deadline = new Deadline(seat.timeoutMs, () => controller.abort());
  let over = false;
  const refusals: ProcessEnd[] = [];
  const stop = () => controller.abort();
  const stops = [context.cancelled, lease?.stopped, overLimit].filter((signal) => signal != null);
  for (const signal of stops) {
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  }
  lease?.onWait((ms) => deadline.extend(ms));

  const run = async (command: readonly [string, ...string[]], options: AgentCommandOptions = {}) => {
    if (over || controller.signal.aborted) return refused;
    const { timeoutMs, env, cwd, ...rest } = options;
    const ended = await launch(
      { ...context, cancelled: controller.signal },
      { ...rest, command, cwd: cwd ?? seat.workspace, env: { ...seat.env, ...env }, timeoutMs: timeoutMs ?? null },
    );
    if (ended.systemRefused) refusals.push(ended);
    // our own record says what ended it
    return ended.cause === 'cancelled' && !context.cancelled.aborted ? { ...ended, cause: 'timeout' as const } : ended;
  };

  const aborted = new Promise<void>((resolve) => {
    if (controller.signal.aborted) resolve();
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const waits = (ms: number) => deadline.extend(ms);
  const working = settle(agent.run({ ...seat, run, waits, signal: controller.signal }));
  try {
    const first = await Promise.race([working, aborted]);
    const end = first ?? (await within(working, context.graceMs + handBackMs)) ?? neverCameBack;
    refusals.forEach(demandStarted);
    const isOver = overLimit?.aborted === true;
    const byGateway = lease?.stopped.aborted === true && !deadline.isOver;
    const wasStopped = byGateway || (isOver && !deadline.isOver);
    return {
      // its time was not up
      end: byGateway && end.exit === 'timeout' ? { ...end, exit: 'nonzero' } : end,
      timedOut: deadline.isOver || (end.exit === 'timeout' && !wasStopped),
      overLimit: isOver ? String(overLimit.reason) : null,
    };
  } finally {
    over = true;
    deadline.clear();
    for (const signal of stops) signal.removeEventListener('abort', stop);
    controller.abort();
  }
}

/** The moment at which an agent's time is up; it can be moved on. */
class Deadline {
  isOver = false;
  #at: number;
  #timer: ReturnType<typeof setTimeout>;

  constructor(
    ms: number,
    private readonly onOver: () => void,
  ) {
    this.#at = performance.now() + ms;
    this.#timer = this.#set();
  }

  extend(ms: number): void {
    if (this.isOver) return;
    this.#at += ms;
    clearTimeout(this.#timer);
    this.#timer = this.#set();
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #set(): ReturnType<typeof setTimeout> {
    const leftMs = Math.max(0, this.#at - performance.now());
    return setTimeout(
      () => {
        this.isOver = true;
        this.onOver();
      },
      Math.min(leftMs, longestTimerMs),
    );
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

const refused = notStarted('the time was up before the start', { cause: 'timeout' });
