import {
  type BigIntStats,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
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
import type { InsidePlaces } from './sandbox.ts';

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
  places: Pick<InsidePlaces, 'tests' | 'workspace'>,
  /** The verifier's own walls and environment: what is shown there is looked at only once the tests are there. */
  enter: () => { readonly context: LaunchContext; readonly env: Readonly<Record<string, string>> },
): Promise<VerifierRun> {
  const trace = traceOfAgent(folders);
  if (trace !== null) return { kind: 'tampered', detail: trace };
  await keepWorkspace(folders);
  await rm(folders.verifierLogs, { recursive: true, force: true });
  await mkdir(folders.verifierLogs);
  // before the tests come in: a reward may be one of their files
  const startedNs = await momentAfter(folders.verifierLogs);
  await rm(folders.tests, { recursive: true, force: true });
  await copyTree(join(task.dir, 'tests'), folders.tests);
  const { context, env } = enter();
  const { walls } = context;
  const exists = walls === null ? undefined : (path: string) => walls.sandbox.hostPathOf(path, walls.view) !== null;
  const end = await launch(context, {
    command: await scriptCommand(join(folders.tests, 'test.sh'), join(places.tests, 'test.sh'), exists),
    cwd: places.workspace,
    env: { ...env, TESTS_DIR: places.tests },
    timeoutMs: task.verifierTimeoutSec * 1000,
    maxOutputBytes,
    mergeStderr: true,
  });
  demandStarted(end);
  const read = (name: string) => readReward(join(folders.verifierLogs, name), startedNs);
  return { kind: 'ended', end, files: { json: read('reward.json'), text: read('reward.txt'), startedNs } };
}

/** No file system in use has coarser times. */
const coarsestMs = 2_100;

/**
 * A time, by the file system's own clock, that is later than when `folder` was made, and so than every file of the
 * agent's: the clock moves in steps (about 4 ms on Linux), so one step is waited for. No file is needed to ask it: a
 * change of permissions, to what they are, is noted with its time.
 */
async function momentAfter(folder: string): Promise<bigint> {
  const made = statSync(folder, { bigint: true });
  const touch = () => {
    chmodSync(folder, Number(made.mode & 0o7777n));
    return statSync(folder, { bigint: true }).ctimeNs;
  };
  const giveUpAt = performance.now() + coarsestMs;
  for (;;) {
    const now = touch();
    if (now > made.ctimeNs || performance.now() > giveUpAt) return now;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** What shows that the agent prepared the verdict; null = nothing does. */
function traceOfAgent(folders: Folders): string | null {
  if (!found(folders.logs)?.isDirectory()) return 'the agent replaced the folder of the logs';
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
