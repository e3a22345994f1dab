import { statfs } from 'node:fs/promises';
import { type Failure, fail, SkilloptError } from '../../ports/failure.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { errorCode, isSystemRefusal } from '../../process/system-refusal.ts';

/** What an exception of the backend itself amounts to: a failure that is never an outcome, or null = this rollout alone. */
export function failureOf(error: unknown, where: string): SkilloptError | null {
  if (error instanceof SkilloptError) return error;
  const code = errorCode(error);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(where);
    case 'EROFS':
      return fail('disk', 'the disk is read-only', where, 'set TMPDIR to a folder you can write');
    default:
      return isSystemRefusal(code) ? systemRefusal((error as Error).message, where) : null;
  }
}

/** The system has no room for what a rollout needs (see `isSystemRefusal`): the next rollout would meet it too. */
export function systemRefusal(what: string, where: string): SkilloptError {
  const fix = 'raise the limit (ulimit -n for open files, ulimit -u for processes), or use fewer workers';
  return fail('environment-down', what, where, fix, { retryable: true });
}

/** Throws what is never an outcome: the system had no room for the process. */
export function demandStarted(end: ProcessEnd): void {
  if (end.systemRefused) throw systemRefusal(end.detail, 'backend local');
}

/** An exception before a rollout had its folders: whatever it is, the next rollout would meet it too. */
export function failureToStart(error: unknown, tempRoot: string): Failure {
  const what = `no folder for a rollout could be made: ${error instanceof Error ? error.message : String(error)}`;
  return (failureOf(error, tempRoot) ?? fail('disk', what, tempRoot, 'set TMPDIR to a folder you can write')).failure;
}

export function diskFull(where: string): SkilloptError {
  return fail('disk', 'the disk is full', where, 'free some space, or set TMPDIR', { retryable: true });
}

/** Less than this is no room to work in. */
const noRoomBytes = 1_000_000;

/** Is there no room left where the folder lies? What cannot tell counts as no. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => null);
  // Some file systems do not count at all.
  return found !== null && found.blocks > 0 && found.bavail * found.bsize < noRoomBytes;
}
