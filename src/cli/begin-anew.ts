import { OtherSession } from '../session/effective-config.ts';
import { removeSession } from '../session/session-files.ts';
import { renderSession } from './render-session.ts';

/**
 * A session whose config was changed before a rollout was scored, as after a wrong URL or name of a model, has nothing
 * to keep: its files are removed, so that another one can begin in their place. Returns what to tell the user. Throws
 * `why`, for which the session could not be opened, where it is something else or where something was measured.
 */
export function removeUnmeasured(dir: string, why: unknown): readonly string[] {
  if (!(why instanceof OtherSession)) throw why;
  const asides = removeSession(dir, renderSession, ({ session, rollouts, calls, spend }) => {
    const unmeasured = rollouts.scored + rollouts.inherited === 0 && calls === 0 && spend.requests === 0;
    if (session === null || session.fork !== undefined || !unmeasured) throw why;
  });
  return [
    `anew        nothing was measured yet, so the session begins anew: ${why.changes}`,
    ...asides.map((aside) => `kept        ${aside}`),
  ];
}
