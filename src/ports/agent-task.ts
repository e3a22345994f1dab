import type { Failure } from './failure.ts';
import type { ExitCause } from './outcome.ts';
import type { Preflight } from './preflight.ts';
import type { TrajectoryStep } from './trajectory.ts';
import type { Usage } from './usage.ts';

/** Work for an agent that is no rollout: a folder of files to read, an instruction, and a file to hand in. */
export type AgentTask = {
  /** Names the work in marks and folders; unique in the session. */
  readonly key: string;
  /** `hand_in_file` is named in it as `HAND_IN_FILE`'s path by the caller, through `paths`. */
  readonly instruction: (paths: { readonly material: string; readonly handIn: string }) => string;
  /** Files by path below a read-only folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Name of the file that the agent has to write, in a folder of its own. */
  readonly handIn: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Tries again in the same folder after a first hand-in, with what was said before it. */
};

/** What came of it. `handIn` null = the file was not written; at most 1 MB of it is read. */
export type AgentTaskEnd =
  | {
      readonly kind: 'ended';
      readonly exit: ExitCause;
      readonly handIn: string | null;
      readonly finalText: string;
      readonly steps: readonly TrajectoryStep[];
      readonly usage: Usage;
      readonly durationMs: number;
      /** What was tampered with or went wrong on the way, for people; null = nothing. */
      readonly problem: string | null;
    }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage: Usage }
  | { readonly kind: 'cancelled'; readonly usage: Usage };

/** An agent as something that can be given work. `perform…` is paid. */
export interface AgentTasks extends Preflight {
  /** Agent and model as people name them, `claude-code (anthropic/claude-opus-4-8)`. */
  readonly id: string;
  performAgentTask(task: AgentTask): Promise<AgentTaskEnd>;
}
