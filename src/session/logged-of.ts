import { existsSync } from 'node:fs';
import { readLog } from '../journal/journal.ts';
import { Logged } from './logged.ts';
import type { SessionPaths } from './paths.ts';

/** A session's log, indexed, without opening the session for work; an empty one where there is none. */
export function loggedOf(paths: SessionPaths): Logged {
  return existsSync(paths.log) ? Logged.read(readLog(paths.log)).logged : new Logged();
}
