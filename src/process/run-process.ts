import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import './execa-on-bun.ts';
import { execa } from 'execa';
import { Capture } from './capture.ts';
import { forgetGroup, rememberGroup, rememberMark, sendSignal } from './live.ts';
import type { Mark } from './mark.ts';
import { notStarted, type ProcessEnd } from './process-end.ts';
import { groupLives } from './process-table.ts';
import { errorCode, isSystemRefusal } from './system-refusal.ts';
import { waitUntil, within } from './wait.ts';

/** What to run and within which bounds. */
export type ProcessOptions = {
  /** Program and arguments. The program is looked up in the PATH of `env`. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment: nothing of ours is added but the mark. */
  readonly env: Readonly<Record<string, string>>;
  /** Null: no deadline. */
  readonly timeoutMs: number | null;
  readonly signal?: AbortSignal;
  /** Time between TERM and KILL; default 2 s. */
  readonly graceMs?: number;
  /**
   * For a program that winds down by itself what it started: at deadline and cancel it alone is asked with this signal, and
   * its group is ended when it is gone, or killed after `graceMs`. Absent: TERM to the whole group.
   */
  readonly ask?: NodeJS.Signals;
  /**
   * Fed to stdin, which is then closed. Default: nothing. It is a socket under Bun, and a bash that starts on a socket
   * reads `~/.bashrc`: give shells their script by argument or file.
   */
  readonly stdin?: string;
  /** Open descriptors that the process finds as 3, 4, … in this order; closing them stays with the caller. */
  readonly descriptors?: readonly number[];
  /**
   * Files that take the output whole (made anew, no link is followed); the same path for both keeps the order of what is
   * written.
   */
  readonly stdoutFile?: string;
  readonly stderrFile?: string;
  /** Captures stderr into `stdout`, in order of arrival. */
  readonly mergeStderr?: boolean;
  /** Bound of each captured stream (its first and last half are kept); default 1 MB. */
  readonly maxOutputBytes?: number;
  /** Set in the environment, and ended with this process if it was never reaped. */
  readonly mark?: Mark & { readonly match: 'exact' };
};

const defaultGraceMs = 2_000;
const defaultMaxOutputBytes = 1_000_000;
/** What a timer can hold (25 days); beyond it, it would fire at once. */
export const longestTimerMs = 2_147_483_647;
/** How long helpers that end by themselves at the command's end (such as `> >(tee log)`) may take for it. */
const settleMs = 150;
/** How long outputs are read after the group is gone: what still holds one then has left the group. */
const drainMs = 500;
/** How long a killed process may take to go: one that hangs in the kernel is given up. */
const killedMs = 5_000;

/**
 * Runs a command in a process group of its own and waits for its end. Deadline and cancel end the whole group, TERM
 * and then KILL; so does the command's own end, for what it left in the background. Something that left the group and
 * keeps an output open does not hold the result back. Never rejects: a failing or missing command is a value.
 */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const startedAt = performance.now();
  const noStart = (detail: string, more: Parameters<typeof notStarted>[1] = {}): ProcessEnd =>
    notStarted(detail, { ...more, durationMs: performance.now() - startedAt });
  if (options.signal?.aborted) return noStart('cancelled before the start', { cause: 'cancelled' });

  const files = openOutputFiles(options);
  if ('problem' in files) return noStart(files.problem, { systemRefused: files.systemRefused });
  let child: Child;
  try {
    child = start(options, files);
  } catch (error) {
    return noStart(`the command ${options.command[0]} could not be started: ${String(error)}`);
  } finally {
    for (const fd of new Set([files.stdout, files.stderr])) if (fd !== null) closeSync(fd);
  }
  const group = child.pid;
  if (group === undefined) {
    const { code, originalMessage } = await child;
    return noStart(startProblem(options, code, originalMessage), { systemRefused: isSystemRefusal(code) });
  }

  rememberGroup(group);
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.nodeChildProcess.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const captured = captureOutput(child, options);
  const { stopped, dispose } = stopReason(options);
  const graceMs = options.graceMs ?? defaultGraceMs;

  const first = await Promise.race([exited.then(() => 'exited' as const), stopped]);
  dispose();
  if (first === 'exited' || options.ask === undefined) await endGroup(group, graceMs, first !== 'exited');
  else {
    sendSignal(group, options.ask);
    if ((await within(exited, graceMs)) === null) sendSignal(-group, 'SIGKILL');
    await endGroup(group, defaultGraceMs, false);
  }
  const end = await within(exited, killedMs);
  const drained = await within(captured.closed, drainMs);
  if (drained === null) {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  forgetGroup(group);
  const stdout = captured.stdout.captured();
  const stderr = captured.stderr?.captured();

  return {
    cause: first === 'exited' ? (end?.signal ? 'signal' : 'exited') : first,
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    detail: end === null ? `process ${group} did not end after SIGKILL` : '',
    systemRefused: false,
    durationMs: performance.now() - startedAt,
    stdout: stdout.text,
    stderr: stderr?.text ?? '',
    droppedBytes: stdout.droppedBytes + (stderr?.droppedBytes ?? 0),
    abandonedOutput: drained === null,
  };
}

type OutputFiles = { readonly stdout: number | null; readonly stderr: number | null };
type NoOutputFiles = { readonly problem: string; readonly systemRefused: boolean };

/** A link or a pipe that somebody laid in the file's place is neither followed nor waited for. */
const newFile =
  constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function openOutputFiles(options: ProcessOptions): OutputFiles | NoOutputFiles {
  let stdout: number | null = null;
  try {
    if (options.stdoutFile !== undefined) stdout = openSync(options.stdoutFile, newFile, 0o600);
    if (options.stderrFile === undefined) return { stdout, stderr: null };
    return {
      stdout,
      stderr: options.stderrFile === options.stdoutFile ? stdout : openSync(options.stderrFile, newFile, 0o600),
    };
  } catch (error) {
    if (stdout !== null) closeSync(stdout);
    const problem = `the output file could not be opened: ${(error as Error).message}`;
    return { problem, systemRefused: isSystemRefusal(errorCode(error)) };
  }
}

type Child = ReturnType<typeof start>;

function start(options: ProcessOptions, files: OutputFiles) {
  const [program, ...args] = options.command;
  const mark = options.mark;
  if (mark !== undefined) rememberMark(mark);
  return execa(program, args, {
    cwd: options.cwd,
    env: mark === undefined ? options.env : { ...options.env, [mark.name]: mark.value },
    extendEnv: false,
    killDescendants: true,
    forceKillAfterDelay: false,
    reject: false,
    buffer: false,
    stripFinalNewline: false,
    ...(options.stdin === undefined ? {} : { input: options.stdin }),
    // The declared type names the descriptors 3 to 9 alone; any open one is taken.
    stdio: [
      options.stdin === undefined ? 'ignore' : 'pipe',
      (files.stdout as 3 | null) ?? 'pipe',
      (files.stderr as 3 | null) ?? 'pipe',
      ...((options.descriptors ?? []) as readonly 3[]),
    ],
  });
}

/** The system's limit for one argument or variable on Linux; macOS bounds only the sum (1 MB). */
const longestArgumentBytes = 128 * 1024;

/** Why it could not start, for people. What the folder or the program is at fault for is looked up, not guessed. */
function startProblem(options: ProcessOptions, code: string | undefined, message: string | undefined): string {
  const [program] = options.command;
  const command = `the command ${program}`;
  if (!isSystemRefusal(code)) {
    const folder = folderProblem(options.cwd);
    if (folder !== null) return folder;
  }
  switch (code) {
    case 'ENOENT':
      if (!program.includes('/')) return `${command} was not found on its PATH`;
      return existsSync(program)
        ? `the interpreter that ${program} asks for was not found`
        : `${command} was not found`;
    case 'EACCES':
      return `${command} is not executable`;
    case 'E2BIG':
      return `${command} could not be started: ${tooLong(options)}`;
    default:
      return `${command} could not be started: ${message ?? code ?? 'unknown error'}`;
  }
}

function folderProblem(folder: string): string | null {
  try {
    accessSync(folder, constants.X_OK);
    return null;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? `the folder ${folder} is missing` : `the folder ${folder} cannot be entered`;
  }
}

function tooLong(options: ProcessOptions): string {
  const texts = [...options.command, ...Object.entries(options.env).map((pair) => pair.join('='))];
  const one = texts.some((text) => Buffer.byteLength(text) >= longestArgumentBytes);
  return one
    ? `an argument or variable is longer than ${longestArgumentBytes} bytes`
    : 'its arguments and variables are too long together';
}

function captureOutput(child: Child, options: ProcessOptions) {
  const limit = options.maxOutputBytes ?? defaultMaxOutputBytes;
  const stdout = new Capture(limit);
  const stderr = options.mergeStderr ? null : new Capture(limit);
  const closed = Promise.all([readInto(child.stdout, stdout), readInto(child.stderr, stderr ?? stdout)]);
  return { stdout, stderr, closed };
}

function readInto(stream: NodeJS.ReadableStream | null | undefined, capture: Capture): Promise<true> {
  return new Promise((resolve) => {
    if (!stream) {
      resolve(true);
      return;
    }
    stream.on('data', (chunk: Buffer) => capture.add(chunk));
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve(true));
  });
}

/** Settles when the deadline passes or the caller cancels; `dispose` takes timer and listener back. */
function stopReason(options: ProcessOptions) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  const stopped = new Promise<'timeout' | 'cancelled'>((resolve) => {
    if (options.timeoutMs !== null)
      timer = setTimeout(() => resolve('timeout'), Math.min(options.timeoutMs, longestTimerMs));
    onAbort = () => resolve('cancelled');
    options.signal?.addEventListener('abort', onAbort, { once: true });
  });
  const dispose = () => {
    clearTimeout(timer);
    if (onAbort) options.signal?.removeEventListener('abort', onAbort);
  };
  return { stopped, dispose };
}

async function endGroup(group: number, graceMs: number, leaderLives: boolean): Promise<void> {
  if (!leaderLives && (await waitUntil(() => !groupLives(group), settleMs))) return;
  sendSignal(-group, 'SIGTERM');
  if (await waitUntil(() => !groupLives(group), graceMs)) return;
  sendSignal(-group, 'SIGKILL');
  await waitUntil(() => !groupLives(group), killedMs);
}
