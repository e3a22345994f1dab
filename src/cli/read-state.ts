import { Fold, type RunState } from '../events/run-state.ts';
import { type Head, readLog } from '../journal/journal.ts';
import { sessionPaths } from '../session/paths.ts';

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
