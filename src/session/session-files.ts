import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { Fold } from '../events/fold.ts';
import type { RunState } from '../events/run-state.ts';
import { diskFailure, GENESIS, type Head, readLog } from '../journal/journal.ts';
import { chainHash } from '../journal/lines.ts';
import { takeLock } from '../journal/lock.ts';
import { DerivedFiles, type RenderDocument } from './derived-files.ts';
import { type SessionPaths, sessionPaths } from './paths.ts';

type Work = (o: {
  readonly derived: DerivedFiles;
  readonly state: RunState;
  readonly head: Head;
  readonly paths: SessionPaths;
}) => void;

/** Works on a session's files under its lock, without performing anything and without a line in the log. Returns what was set aside. */
function onFiles(dir: string, render: RenderDocument, what: string, work: Work): readonly string[] {
  const paths = sessionPaths(dir);
  const asides: string[] = [];
  try {
    const lock = existsSync(paths.hidden) ? takeLock(paths.hidden) : null;
    try {
      const fold = new Fold();
      let head: Head = { lines: 0, hash: GENESIS };
      const derived = new DerivedFiles(paths, render, (from, to) => asides.push(`${from} was kept as ${to}`));
      derived.beforeReading();
      if (existsSync(paths.log))
        for (const { event, raw } of readLog(paths.log)) {
          fold.add(event);
          head = { lines: event.seq, hash: chainHash(raw) };
          derived.whileReading(fold.state, head);
        }
      if (existsSync(paths.log)) derived.refuseLostTail(head.lines);
      work({ derived, state: fold.state, head, paths });
    } finally {
      lock?.release();
    }
  } catch (cause) {
    throw diskFailure(what, dir, cause);
  }
  return asides;
}

/** Writes the derived files of a session anew where they are missing or stale; a user's own are set aside. */
export function refreshSession(dir: string, render: RenderDocument): readonly string[] {
  return onFiles(dir, render, 'the files of the session can’t be written', ({ derived, state, head }) => {
    derived.sweepHalfWritten();
    derived.write(state, head);
  });
}

/**
 * Removes a session's own files, so that another one can begin in the directory. `mayRemove` looks at what the log says
 * and throws to refuse. What is not the session's is set aside or left.
 */
export function removeSession(
  dir: string,
  render: RenderDocument,
  mayRemove: (state: RunState) => void,
): readonly string[] {
  return onFiles(dir, render, 'the files of the session can’t be removed', ({ derived, state, paths }) => {
    mayRemove(state);
    if (!existsSync(paths.hidden) && !existsSync(paths.log)) return;
    derived.remove(state);
    if (existsSync(paths.snapshots) && readdirSync(paths.snapshots).length === 0) rmdirSync(paths.snapshots);
    for (const own of [paths.log, paths.skillRoot, paths.pack, paths.texts])
      rmSync(own, { recursive: true, force: true });
  });
}
