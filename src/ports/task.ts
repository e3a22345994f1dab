/** The three splits. Reflection sees train, the gate scores selection, finalize opens test once. */
export const splitNames = ['train', 'selection', 'test'] as const;
export type SplitName = (typeof splitNames)[number];

/** What every task has. */
type TaskBase = {
  /** Name of the folder or id of the entry; unique in the pack. */
  readonly id: string;
  /** Absolute path of the session's copy: the task's folder, or the folder of its prompt pack. Never part of a key or of the log. */
  readonly dir: string;
  /** Hash of all that makes the task (of a folder: path, mode bit x and bytes of every file): its identity. */
  readonly hash: string;
  readonly instruction: string;
  /** Hash of the instruction, normalized (case, blanks): two tasks with the same one must share a split. */
  readonly instructionHash: string;
  /** Seconds for agent or model; null = no limit given by the task. */
  readonly agentTimeoutSec: number | null;
  /** Should an agent that has the skill at hand open it for this task? null = the task does not say. */
  readonly shouldTrigger: boolean | null;
};

/** A task folder in Harbor's format, as read from the session's own copy. */
export type FolderTask = TaskBase & {
  readonly kind: 'folder';
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

/** What a check looks at and asks of it; `weight` > 0 is its share of the soft score. */
export type Check = {
  readonly weight: number;
  /**
   * Looks only at what follows this text on the last line that begins with it (`json`, `json-path` and `command`: to the end of
   * the answer); null = the whole answer.
   */
  readonly after: string | null;
} & (
  | { readonly kind: 'equals'; readonly value: string; readonly ignoreCase: boolean }
  | { readonly kind: 'contains'; readonly value: string; readonly ignoreCase: boolean }
  | { readonly kind: 'regex'; readonly pattern: string; readonly flags: string }
  /** JSON of whatever content: the `whole` answer, blanks around it left out, or `anywhere` in it as `json-path` finds it. */
  | { readonly kind: 'json'; readonly place: 'whole' | 'anywhere' }
  /** `path` as `a.b[0]`; `value` any JSON; the answer's JSON may stand in a fence. */
  | { readonly kind: 'json-path'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'number'; readonly value: number; readonly tolerance: number }
  /** Gets the answer on stdin, runs in a folder with the task's files and its own; exit code 0 = passed. */
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly timeoutSec: number;
      /** Files of the check alone, such as its script: no model is shown them. */
      readonly files?: readonly PromptFile[] | undefined;
    }
);

/** A text file of a prompt pack; `name` is its path in the pack's folder, with `/`. */
export type PromptFile = { readonly name: string; readonly text: string };

/** A skill as agents list it. */
export type ListedSkill = { readonly name: string; readonly description: string };

/** An entry of a prompt pack: the model's answer is what is checked. */
export type PromptTask = TaskBase & {
  readonly kind: 'prompt';
  /** Stands before the skill in the system text; empty = none. */
  readonly system: string;
  /** Files that are shown with the prompt. */
  readonly files: readonly PromptFile[];
  readonly checks: readonly Check[];
  /** Regular expressions: an answer that one of them fits comes from the machinery, not from the model, and is unscored. */
  readonly noAnswer: readonly string[];
  /** What stands beside the skill in the list from which a model chooses; absent = the pack names none. */
  readonly otherSkills?: readonly ListedSkill[] | undefined;
};

export type Task = FolderTask | PromptTask;

/** The task folders among some tasks. */
export function folderTasks(tasks: readonly Task[]): readonly FolderTask[] {
  return tasks.filter((task) => task.kind === 'folder');
}

/** The entries of prompt packs among some tasks. */
export function promptTasks(tasks: readonly Task[]): readonly PromptTask[] {
  return tasks.filter((task) => task.kind === 'prompt');
}

/** A pack: tasks in the order of their ids. */
export type Pack<T extends Task = Task> = {
  readonly name: string;
  readonly dir: string;
  readonly hash: string;
  readonly tasks: readonly T[];
};

/** What the log and the engine know of a task. */
export type TaskRef = { readonly id: string; readonly hash: string; readonly instructionHash: string };
