import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UnscoredReason } from '../../ports/outcome.ts';
import type { Check, PromptTask } from '../../ports/task.ts';
import { partAfter } from '../checks/answer.ts';
import { reapRollout, removeFolder } from '../local/clean.ts';
import { cleanEnvironment, markName } from '../local/environment.ts';
import { demandStarted } from '../local/errors.ts';
import { type Folders, placesOf } from '../local/folders.ts';
import { type LaunchContext, launch } from '../local/launch.ts';
import { makeFolders } from '../local/prepare.ts';
import { placesNamed } from '../trajectory.ts';
import type { ChatOptions } from './options.ts';

export type CommandCheck = Extract<Check, { readonly kind: 'command' }>;

/** What a command said of an answer. `broken`: nothing, for a reason that is not the answer's. */
export type CommandVerdict =
  | { readonly kind: 'judged'; readonly passed: boolean; readonly output: string }
  | { readonly kind: 'broken'; readonly reason: UnscoredReason; readonly detail: string; readonly output: string }
  | { readonly kind: 'cancelled' };

const maxOutputBytes = 100_000;
const defaultGraceMs = 2_000;
/** What a shell says of a command that it can't run or find. */
const notRun: readonly (number | null)[] = [126, 127];

/**
 * Runs the command of a check on an answer: in a fresh folder with the task's files and its own, the answer on stdin
 * (with `after`, all that follows it), a clean environment, a group and a deadline of its own; nothing is left behind. Exit code 0 = passed; a signal, 126, 127 and
 * the deadline say nothing of the answer. Throws errors of the file system, and a `SkilloptError` when the system has no
 * room for the process.
 */
export async function runCommandCheck(
  check: CommandCheck,
  answer: string,
  o: {
    readonly task: PromptTask;
    readonly key: string;
    readonly options: ChatOptions;
    readonly cancelled: AbortSignal;
  },
): Promise<CommandVerdict> {
  const { options, key } = o;
  const part = check.after === null ? answer : partAfter(answer, check.after, true);
  if (part === null) return { kind: 'judged', passed: false, output: `no line begins with ${check.after}` };
  const sinceMs = Date.now();
  const folders = await makeFolders(options.tempRoot, options.sessionId, key);
  const context: LaunchContext = {
    mark: {
      name: markName,
      match: 'exact',
      value: `${options.sessionId}/${key}`,
      places: [{ folder: folders.root, sinceMs }],
    },
    cancelled: o.cancelled,
    graceMs: options.graceMs ?? defaultGraceMs,
    walls: null,
  };
  try {
    await layFiles(folders, [...o.task.files, ...(check.files ?? [])]);
    return await judged(check, part, folders, context, options);
  } finally {
    try {
      await reapRollout(context.mark);
    } finally {
      await removeFolder(folders.root);
    }
  }
}

async function judged(
  check: CommandCheck,
  answer: string,
  folders: Folders,
  context: LaunchContext,
  options: ChatOptions,
): Promise<CommandVerdict> {
  const [program = '', ...args] = check.command;
  const end = await launch(context, {
    command: [program, ...args],
    cwd: folders.workspace,
    env: cleanEnvironment(options.hostEnv, {}, folders),
    timeoutMs: check.timeoutSec * 1000,
    stdin: answer,
    maxOutputBytes,
    mergeStderr: true,
  });
  const named = placesNamed(placesOf(folders));
  const output = named(end.stdout);
  const broken = (reason: UnscoredReason, detail: string): CommandVerdict => ({
    kind: 'broken',
    reason,
    detail,
    output,
  });
  switch (end.cause) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'not-started':
      demandStarted(end);
      return broken('verifier-crash', `a check could not be started: ${named(end.detail)}`);
    case 'timeout':
      return broken('verifier-timeout', `the check ${program} did not end within ${check.timeoutSec} s`);
    case 'signal':
      return broken('verifier-crash', `the check ${program} was ended by ${end.signal}`);
    case 'exited':
      if (notRun.includes(end.exitCode))
        return broken(
          'verifier-crash',
          `the check ${program} ended with exit code ${end.exitCode}: a command in it can not be run`,
        );
      return { kind: 'judged', passed: end.exitCode === 0, output };
    default:
      return end.cause satisfies never;
  }
}

async function layFiles(
  folders: Folders,
  files: readonly { readonly name: string; readonly text: string }[],
): Promise<void> {
  for (const { name, text } of files) {
    const path = join(folders.workspace, name);
    await mkdir(dirname(path), { recursive: true });
    // Which of them are programs, a text does not say.
    await writeFile(path, text, { mode: 0o755 });
  }
}
