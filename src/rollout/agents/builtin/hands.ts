import type { ProcessEnd } from '../../../process/process-end.ts';
import { taskPath, whyNotStarted } from '../../why-not-started.ts';
import type { AgentCommandOptions, AgentRun } from '../agent.ts';

/** The first command of a rollout could not be started: the machinery is at fault, and not the agent. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/**
 * How a command of the agent ended. `late` = it ran into its own limit; `over` = the rollout has ended (`end` null:
 * before the start); `not-started` = what the agent did before is in its way.
 */
export type Handled =
  | { readonly kind: 'ended'; readonly end: ProcessEnd }
  | { readonly kind: 'late'; readonly end: ProcessEnd }
  | { readonly kind: 'not-started'; readonly detail: string }
  | { readonly kind: 'over'; readonly end: ProcessEnd | null };

/** One hung command may not eat up the whole time: a quarter of it, within these bounds. */
const LEAST_MS = 60_000;
const MOST_MS = 600_000;

/** Milliseconds that one command may take where the agent has `timeoutMs` in all. */
export function commandLimitMs(timeoutMs: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, Math.floor(timeoutMs / 4)));
}

/** Longer commands don't fit into one argument (128 KiB) with what a sandbox puts around it. */
const LONGEST_ARGUMENT_BYTES = 100_000;

/** Keeps the command in a file of its own while it runs, whose name a sandbox can't know beforehand. */
const FROM_STDIN = 'f=$(mktemp) && cat > "$f" && bash "$f" < /dev/null 2>&1; s=$?; rm -f "$f"; exit "$s"';

/** Starts the commands of an agent that works in this process: all of it happens in the rollout, behind `AgentRun.run`. */
export class Hands {
  readonly limitMs: number;
  #works = false;

  constructor(private readonly run: AgentRun) {
    this.limitMs = commandLimitMs(run.timeoutMs);
  }

  /** A line of bash, in a new shell in the workspace. Never anything on its stdin; both outputs are one, in their order. */
  shell(command: string, options: AgentCommandOptions): Promise<Handled> {
    return Buffer.byteLength(command) > LONGEST_ARGUMENT_BYTES
      ? this.program(['sh', '-c', FROM_STDIN], { ...options, stdin: command })
      : this.program(['bash', '-c', 'exec bash -c "$0" 2>&1', command], options);
  }

  /** Throws `CannotStart` when none of the rollout could be started so far. */
  async program(command: readonly [string, ...string[]], options: AgentCommandOptions): Promise<Handled> {
    const { run } = this;
    if (run.signal.aborted) return { kind: 'over', end: null };
    const end = await run.run(command, { ...options, timeoutMs: this.limitMs });
    switch (end.cause) {
      case 'exited':
      case 'signal':
        this.#works = true;
        return { kind: 'ended', end };
      case 'timeout':
        // Its own limit, or the rollout's: the signal may come a moment later.
        return { kind: run.signal.aborted || end.durationMs < this.limitMs ? 'over' : 'late', end };
      case 'cancelled':
        return { kind: 'over', end };
      case 'not-started': {
        const detail = whyNotStarted(command[0], end, taskPath(run.task.env.environment));
        if (end.systemRefused || !this.#works) throw new CannotStart(detail);
        return { kind: 'not-started', detail };
      }
      default:
        return end.cause satisfies never;
    }
  }
}
