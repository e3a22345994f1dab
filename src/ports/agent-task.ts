import type { Failure } from './failure.ts';
import type { ExitCause } from './outcome.ts';
import type { Preflight } from './preflight.ts';
import type { Usage } from './usage.ts';

/** Where an agent finds what it is given, and what it has to write: absolute paths as it sees them. */
export type AgentTaskPlaces = {
  /** Folder with the task's files; it can be read and not changed. */
  readonly material: string;
  /** The file to hand in; its folder exists and can be written. */
  readonly handIn: string;
};

/** Work for an agent that is no rollout: files to read, an instruction, and one file to hand in. */
export type AgentTask = {
  /** Names the work in marks and folders. */
  readonly key: string;
  /** All that the agent is told. */
  readonly instruction: (places: AgentTaskPlaces) => string;
  /** Texts by path below the material's folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Name of the file to hand in. */
  readonly handInName: string;
  /** Milliseconds that the agent has, from its start. */
  readonly timeoutMs: number;
};

/** Most bytes of a hand-in that are read. */
export const MOST_HANDED_IN_BYTES = 1_000_000;

/** What lies where the hand-in was to be. `refused` = something that is not read (a link, a folder, too large). */
export type HandedIn =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

/** What came of it. `failed` = the machinery did, and there is no hand-in that could be read. */
export type AgentTaskEnd =
  | {
      readonly kind: 'ended';
      readonly exit: ExitCause;
      readonly handedIn: HandedIn;
      readonly finalText: string;
      readonly usage: Usage;
      /** What went wrong on the way or was left behind, in a sentence for people; null = nothing. */
      readonly problem: string | null;
    }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage: Usage }
  /** A limit of the session let it get no further, and nothing was handed in. */
  | { readonly kind: 'limit'; readonly usage: Usage }
  | { readonly kind: 'cancelled'; readonly usage: Usage };

/** An agent as something that can be given work. `perform…` is paid. */
export interface AgentTasks extends Preflight {
  /** Agent and model as people name them, `claude-code (anthropic/claude-opus-4-8)`. */
  readonly id: string;
  /** Runs the agent once, and leaves nothing of it. Cancelling stops it, cleans up and ends as `cancelled`. Never rejects. */
  performAgentTask(task: AgentTask, options: { readonly signal: AbortSignal }): Promise<AgentTaskEnd>;
}
