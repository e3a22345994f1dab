import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { diskFailure } from '../journal/journal.ts';
import { fail } from '../ports/failure.ts';
import { sessionPaths } from './paths.ts';

/** Nothing that stands somewhere is written over, and the parent is not changed. */
export function refuseTarget(target: string, parent: string): void {
  if (target === parent || target.startsWith(parent.endsWith(sep) ? parent : parent + sep))
    throw fail('usage', 'a fork can’t lie in its parent', target, 'name another place with --to');
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isDirectory() || readdirSync(target).length > 0)
    throw fail(
      'usage',
      existsSync(sessionPaths(target).log) ? 'there is a session already' : 'the place of the new session is taken',
      target,
      'name a new directory with --to',
    );
}

/** A hidden folder beside the target; those that killed processes left for the same target are removed. */
export function freshSibling(target: string): string {
  const [parent, prefix] = [dirname(target), `.${basename(target)}.partial-`];
  try {
    mkdirSync(parent, { recursive: true });
    for (const name of readdirSync(parent)) {
      const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
      if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
    }
  } catch (cause) {
    throw diskFailure('the new session can’t be written', target, cause);
  }
  return join(parent, `${prefix}${process.pid}`);
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    return (e as { code?: string }).code === 'EPERM';
  }
}
