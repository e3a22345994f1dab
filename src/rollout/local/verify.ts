import {
  type BigIntStats,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderTask } from '../../ports/task.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { errorCode, isSystemRefusal } from '../../process/system-refusal.ts';
import { copyTree } from '../copy-tree.ts';
import { maxRewardBytes, type RewardFile, type RewardFiles } from '../rewards.ts';
import { scriptCommand } from '../script-command.ts';
import { demandStarted } from './errors.ts';
import type { Folders } from './folders.ts';
import { type LaunchContext, launch } from './launch.ts';
import { plainFile } from './plain-file.ts';

/** What the verifier did; `tampered` = the agent had reached into its folders, so it was not run. */
export type VerifierRun =
  | { readonly kind: 'tampered'; readonly detail: string }
  | { readonly kind: 'ended'; readonly end: ProcessEnd; readonly files: RewardFiles };

const maxOutputBytes = 200_000;

/**
 * Runs the task's tests on what the agent left. Their folder and that of the reward come into being only now, so the
 * agent has seen neither. The exit code of the tests means nothing; only the reward does. Throws errors of the file
 * system, and a `SkilloptError` when the system has no room for the process.
 */
export async function runVerifier(
  task: FolderTask,
  folders: Folders,
  env: Readonly<Record<string, string>>,
  context: LaunchContext,
): Promise<VerifierRun> {
  const trace = traceOfAgent(folders);
  if (trace !== null) return { kind: 'tampered', detail: trace };
  const startedNs = await nextMoment(folders.root);
  await keepWorkspace(folders);
  await rm(folders.tests, { recursive: true, force: true });
  await copyTree(join(task.dir, 'tests'), folders.tests);
  await rm(folders.verifierLogs, { recursive: true, force: true });
  mkdirSync(folders.verifierLogs);
  const end = await launch(context, {
    command: await scriptCommand(join(folders.tests, 'test.sh')),
    cwd: folders.workspace,
    env: { ...env, TESTS_DIR: folders.tests },
    timeoutMs: task.verifierTimeoutSec * 1000,
    maxOutputBytes,
    mergeStderr: true,
  });
  demandStarted(end);
  const read = (name: string) => readReward(join(folders.verifierLogs, name), startedNs);
  return { kind: 'ended', end, files: { json: read('reward.json'), text: read('reward.txt'), startedNs } };
}

const clockOf = (root: string): string => join(root, '.clock');

/** No file system in use has coarser times. */
const coarsestMs = 2_100;

/**
 * A time, by the file system's own clock, that is later than that of every file the agent wrote: the clock moves in
 * steps (about 4 ms on Linux), so one step is waited for.
 */
async function nextMoment(folder: string): Promise<bigint> {
  const path = clockOf(folder);
  const touch = () => {
    writeFileSync(path, '.');
    return statSync(path, { bigint: true }).mtimeNs;
  };
  const before = touch();
  const giveUpAt = performance.now() + coarsestMs;
  for (;;) {
    const now = touch();
    if (now > before || performance.now() > giveUpAt) return now;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** What shows that the agent prepared the verdict; null = nothing does. */
function traceOfAgent(folders: Folders): string | null {
  if (!found(folders.logs)?.isDirectory()) return 'the agent replaced the folder of the logs';
  if (found(clockOf(folders.root)) !== null) {
    return "the agent put something where the verifier's start is measured";
  }
  const reward = namesIn(folders.verifierLogs).find((name) => name.startsWith('reward.'));
  return reward === undefined ? null : `${reward} was there before the verifier began`;
}

/** An agent that removed its workspace is judged on an empty one, one that closed it on what is in it. */
async function keepWorkspace(folders: Folders): Promise<void> {
  const left = found(folders.workspace);
  if (left?.isDirectory()) {
    if ((left.mode & 0o700) !== 0o700) chmodSync(folders.workspace, left.mode | 0o700);
    return;
  }
  await rm(folders.workspace, { recursive: true, force: true });
  mkdirSync(folders.workspace);
}

function found(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readReward(path: string, startedNs: bigint): RewardFile | null {
  const unread = { bytes: null, sizeBytes: 0, plain: true, modifiedNs: startedNs, unreadable: null };
  try {
    const left: BigIntStats = lstatSync(path, { bigint: true });
    const plain = left.isFile();
    const sizeBytes = Number(left.size);
    const file = { ...unread, sizeBytes, plain, modifiedNs: left.mtimeNs };
    // Neither a pipe, which would never end, nor a link, nor a giant is opened.
    if (!plain || sizeBytes > maxRewardBytes) return file;
    return { ...file, bytes: readFileSync(path, { flag: plainFile }) };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === undefined || isSystemRefusal(code)) throw error;
    return { ...unread, unreadable: code };
  }
}
