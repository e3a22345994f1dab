import { Fold } from '../events/fold.ts';
import { diskFailure, Journal } from '../journal/journal.ts';
import { takeLock } from '../journal/lock.ts';
import { fail } from '../ports/failure.ts';
import type { RenderDocument } from './derived-files.ts';
import { Logged } from './logged.ts';
import { sessionPaths } from './paths.ts';
import { refreshSession } from './session-files.ts';

/**
 * Writes into a finished session's log that an eval looks at its test again, and into its files. Returns the
 * how-manieth look it is, those before a fork included. Throws `usage` while the test is sealed.
 */
export function recordLook(
  dir: string,
  evalId: string,
  o: { readonly render: RenderDocument; readonly now: () => string },
): number {
  const paths = sessionPaths(dir);
  const lock = takeLock(paths.hidden);
  let look: number;
  try {
    const fold = new Fold({ feed: false });
    const journal = Journal.open(paths.log, { now: o.now });
    try {
      Logged.read(journal.read(), ({ event }) => fold.add(event));
      const { state } = fold;
      if (state.finalized === null)
        throw fail('usage', 'the test is sealed', paths.log, 'open it first: `skillopt finalize`');
      look = (state.session?.fork?.looks ?? 0) + 1 + state.lookedAgain + 1;
      journal.append({ type: 'test.looked', eval: evalId, look });
      journal.sync();
    } finally {
      journal.close();
    }
  } catch (cause) {
    throw diskFailure('the look can’t be recorded in the session', paths.log, cause);
  } finally {
    lock.release();
  }
  refreshSession(dir, o.render);
  return look;
}
