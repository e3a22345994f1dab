import { statfs } from 'node:fs/promises';
import { type Failure, fail, SkilloptError } from '../../ports/failure.ts';

/** What an exception of the backend itself amounts to: a failure that is never an outcome, or null = this rollout alone. */
export function failureOf(error: unknown, where: string): Failure | null {
  if (error instanceof SkilloptError) return error.failure;
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(where);
    case 'EROFS':
      return fail('disk', 'the disk is read-only', where, 'set TMPDIR to a folder you can write').failure;
    case 'EMFILE':
    case 'ENFILE':
      return fail(
        'environment-down',
        'too many open files',
        where,
        'raise the limit (ulimit -n), or use fewer workers',
        {
          retryable: true,
        },
      ).failure;
    default:
      return null;
  }
}

/** An exception before a rollout had its folders: whatever it is, the next rollout would meet it too. */
export function failureToStart(error: unknown, tempRoot: string): Failure {
  const what = `no folder for a rollout could be made: ${error instanceof Error ? error.message : String(error)}`;
  return failureOf(error, tempRoot) ?? fail('disk', what, tempRoot, 'set TMPDIR to a folder you can write').failure;
}

export function diskFull(where: string): Failure {
  return fail('disk', 'the disk is full', where, 'free some space, or set TMPDIR', { retryable: true }).failure;
}

/** Less than this is no room to work in. */
const noRoomBytes = 1_000_000;

/** Is there no room left where the folder lies? What cannot tell counts as no. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => null);
  // Some file systems do not count at all.
  return found !== null && found.blocks > 0 && found.bavail * found.bsize < noRoomBytes;
}
