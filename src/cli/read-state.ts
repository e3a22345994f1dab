import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { Fold } from '../events/fold.ts';
import type { RunState } from '../events/run-state.ts';
import { type Head, readLog } from '../journal/journal.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { type AfterRun, afterRun, afterRunLines } from '../report/after-run.ts';
import { evalPaths } from '../session/eval-paths.ts';
import { checkShape } from '../session/logged.ts';
import { sessionPaths } from '../session/paths.ts';
import { refreshSession } from '../session/session-files.ts';
import type { CommandContext } from './context.ts';
import { powerOf } from './power-of.ts';
import { renderSession } from './render-session.ts';

/**
 * The report of a session that has ended, as data and as lines. Its derived files are written anew where they are
 * missing or stale; the log stays as it is.
 */
export function shown(
  dir: string,
  context: CommandContext,
): { readonly report: AfterRun; readonly lines: readonly string[] } {
  const asides = refreshed(dir);
  const { state, head } = readState(dir);
  const report = afterRun(state, { command: context.command, dir: shownDir(dir), head, power: powerOf(state) });
  return { report, lines: [...asides.map((a) => `kept        ${a}`), ...afterRunLines(report, state)] };
}

/** A session on a read-only disk, or one that another process works on, can still be looked at. */
function refreshed(dir: string): readonly string[] {
  try {
    return refreshSession(dir, renderSession);
  } catch (e) {
    if (e instanceof SkilloptError && (e.failure.code === 'disk' || e.failure.code === 'session-busy')) return [];
    throw e;
  }
}

/** The directory as a user would type it from here. */
export function shownDir(dir: string): string {
  const path = relative(process.cwd(), dir);
  if (path === '') return '.';
  if (path.startsWith('-')) return `./${path}`; // else it would be taken for an option
  return path.startsWith('..') ? dir : path;
}

/** The id of the session or eval whose log this is; null = there is no log. */
export function idIn(log: string): string | null {
  if (!existsSync(log)) return null;
  const reader = readLog(log);
  const first = reader.next();
  if (first.done) return null;
  reader.return({} as never);
  const { event } = first.value;
  if (event.type === 'session.created') return event.session;
  return event.type === 'eval.created' ? event.eval : null;
}

/** What a session's log says, without opening the session for work. */
export function readState(dir: string): { readonly state: RunState; readonly head: Head } {
  const { log } = sessionPaths(dir);
  if (!existsSync(log) && existsSync(evalPaths(dir).log))
    throw fail(
      'usage',
      'an eval lies here, and no session',
      dir,
      'read its skillopt-eval.md, or give the same `skillopt eval` again: it goes on, or shows its report',
    );
  const fold = new Fold();
  const reader = readLog(log);
  for (;;) {
    const next = reader.next();
    if (next.done) return { state: fold.state, head: next.value.head };
    checkShape(next.value);
    fold.add(next.value.event);
  }
}
