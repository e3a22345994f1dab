import { relative } from 'node:path';
import { Fold, type RunState } from '../events/run-state.ts';
import { type Head, readLog } from '../journal/journal.ts';
import { type AfterRun, afterRun, afterRunLines } from '../report/after-run.ts';
import { sessionPaths } from '../session/paths.ts';
import type { CommandContext } from './context.ts';

/** The report of a session as it stands in its log, as data and as lines. */
export function shown(
  dir: string,
  context: CommandContext,
): { readonly report: AfterRun; readonly lines: readonly string[] } {
  const { state, head } = readState(dir);
  const report = afterRun(state, { command: context.command, dir: shownDir(dir), head });
  return { report, lines: afterRunLines(report, state) };
}

/** The directory as a user would type it from here. */
export function shownDir(dir: string): string {
  const path = relative(process.cwd(), dir);
  return path === '' ? '.' : path.startsWith('..') ? dir : path;
}

/** What a session's log says, without opening the session for work. */
export function readState(dir: string): { readonly state: RunState; readonly head: Head } {
  const fold = new Fold();
  const reader = readLog(sessionPaths(dir).log);
  for (;;) {
    const next = reader.next();
    if (next.done) return { state: fold.state, head: next.value.head };
    fold.add(next.value.event);
  }
}
