/** The three splits. Reflection sees train, the gate scores selection, finalize opens test once. */
export const splitNames = ['train', 'selection', 'test'] as const;
export type SplitName = (typeof splitNames)[number];

/** A task folder in Harbor's format, as read from the session's own copy. */
export type Task = {
  readonly kind: 'folder';
  /** Name of the folder; unique in the pack. */
  readonly id: string;
  /** Absolute path of the session's copy. Never part of a key or of the log. */
  readonly dir: string;
  /** Hash of every file of the folder (path, mode bit x, bytes): the task's identity. */
  readonly hash: string;
  readonly instruction: string;
  /** Hash of the instruction, normalized (case, blanks): two tasks with the same one must share a split. */
  readonly instructionHash: string;
  /** Seconds; null = no limit given by the task. */
  readonly agentTimeoutSec: number | null;
  readonly verifierTimeoutSec: number;
  /** Absolute folder in which the agent works, `/app` unless the task says otherwise. */
  readonly workdir: string;
  /** Commands that the task needs on the host when it runs without a container (`[metadata] commands`). */
  readonly commands: readonly string[];
  /** Environment by phase, from `[environment].env`, `[verifier].env`, `[solution].env`; `${VAR}` not yet resolved. */
  readonly env: {
    readonly environment: Readonly<Record<string, string>>;
    readonly verifier: Readonly<Record<string, string>>;
    readonly solution: Readonly<Record<string, string>>;
  };
  readonly hasSolution: boolean;
};

/** A pack: tasks in the order of their ids. */
export type Pack = {
  readonly name: string;
  readonly dir: string;
  readonly hash: string;
  readonly tasks: readonly Task[];
};

/** What the log and the engine know of a task. */
export type TaskRef = { readonly id: string; readonly hash: string; readonly instructionHash: string };
