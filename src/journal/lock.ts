import { Database } from 'bun:sqlite';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../ports/failure.ts';
import { diskFailure } from './journal.ts';

/** Held while a process works on a session. */
export type Lock = { readonly release: () => void };

/**
 * Takes the session's lock or fails `session-busy` naming the owner. The lock itself is the kernel's (SQLite's
 * exclusive transaction), so a process that died, however it died, holds nothing; the file beside it only names the owner.
 */
export function takeLock(dir: string): Lock {
  const path = join(dir, 'lock.db');
  const ownerPath = join(dir, 'lock.json');
  let db: Database;
  try {
    db = new Database(path, { create: true });
  } catch (cause) {
    throw diskFailure('the session’s lock can’t be made', path, cause);
  }
  try {
    db.run('PRAGMA busy_timeout = 0');
    db.run('PRAGMA locking_mode = EXCLUSIVE');
    db.run('BEGIN EXCLUSIVE');
  } catch (cause) {
    db.close();
    if (!/locked|busy/i.test(String(cause))) throw diskFailure('the session’s lock can’t be taken', path, cause);
    throw fail(
      'session-busy',
      `another process is at work in this session${owner(ownerPath)}`,
      path,
      'wait for it, or stop it (Ctrl-C) and start again',
      { cause, retryable: true },
    );
  }
  try {
    writeFileSync(ownerPath, `${JSON.stringify({ pid: process.pid, since: new Date().toISOString() })}\n`);
  } catch (cause) {
    db.close();
    throw diskFailure('the session’s lock can’t be written', ownerPath, cause);
  }
  return {
    release() {
      rmSync(ownerPath, { force: true });
      db.run('ROLLBACK');
      db.close();
    },
  };
}

function owner(path: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(path, 'utf8')) as { pid: number; since: string };
    return ` (process ${pid}, since ${since})`;
  } catch {
    return '';
  }
}
