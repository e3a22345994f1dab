import type { SplitName } from '../../ports/task.ts';

/** The formats that tasks can be brought from. */
export const importFormats = ['skill-creator', 'promptfoo', 'skillopt', 'harbor'] as const;
export type ImportFormat = (typeof importFormats)[number];

/**
 * Something of the source that the pack does not say as the source does: `left` is not in it at all, `changed` is in it
 * with a difference, `unused` says nothing about tasks (which model runs, names of metrics).
 */
export type LossKind = 'left' | 'changed' | 'unused';
export type Loss = {
  readonly kind: LossKind;
  /** File of the source with the line where it is known (`a/tests.yaml:12`), or a folder. */
  readonly where: string;
  /** Which thing, such as `test 3: assert 2 (llm-rubric)`. */
  readonly what: string;
  /** Why it could not be carried over as it is. */
  readonly why: string;
  /** It is left because what it belongs to is: that is told by itself. */
  readonly follows?: true;
};

/** A check as it stands in a tasks.json. */
export type CheckEntry = Readonly<Record<string, unknown>>;

/** A task of a prompt pack to be; `id` is a wish, made valid and unique when the pack is written. */
export type PromptDraft = {
  readonly id: string;
  readonly where: string;
  readonly prompt: string;
  readonly system?: string | undefined;
  /** Names of files of the pack that are shown with the prompt. */
  readonly files?: readonly string[] | undefined;
  /** Empty only with `shouldTrigger`. */
  readonly checks: readonly CheckEntry[];
  readonly shouldTrigger?: boolean | undefined;
  /** The split that the source puts it into. */
  readonly split?: SplitName | undefined;
};

/** A file of a prompt pack to be. */
export type PackFile = { readonly name: string; readonly bytes: Uint8Array };

/** What a reader of a format has found: tasks of a prompt pack. */
export type PromptImport = {
  readonly kind: 'prompts';
  readonly tasks: readonly PromptDraft[];
  readonly files: readonly PackFile[];
  readonly losses: readonly Loss[];
  /** Entries of the source that were meant as tasks, also those that became none. */
  readonly entries: number;
  /** System text of all tasks; absent = none. */
  readonly system?: string | undefined;
};

/** Task folders to be copied; whether each can be taken is told when it has been copied. */
export type FolderImport = {
  readonly kind: 'folders';
  readonly folders: readonly {
    /** Absolute path. */
    readonly dir: string;
    /** As it is named in messages: relative to the source. */
    readonly shown: string;
  }[];
  readonly losses: readonly Loss[];
  readonly entries: number;
};
