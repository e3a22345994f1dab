import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { rechain } from '../journal/journal-fixture.ts';
import { Place } from './binary.ts';
import { hashOf, OwnSession } from './own-pack.ts';

// A session that has come to its end, and ways to change what it left.

let whole: Promise<OwnSession> | null = null;

/** A copy of a finished session, its sealed test opened, with skill and pack beside it. */
export async function finished(): Promise<OwnSession> {
  whole ??= (async () => {
    const own = new OwnSession(new Place({ shared: true }));
    await own.succeed(['run', 'session', '--finalize']);
    return own;
  })();
  const own = new OwnSession(new Place());
  cpSync((await whole).place.dir, own.place.dir, { recursive: true });
  return own;
}

/** Hash of a session's files; the lock belongs to whoever is at work. */
export const bytes = (own: OwnSession) => hashOf(own.place.path('session'));

/** The session's log with changed events, its chain written anew. */
export function rewrite(own: OwnSession, change: (event: Record<string, unknown>) => void): void {
  const events = own.place.events('session').map((e) => structuredClone(e) as Record<string, unknown>);
  for (const event of events) change(event);
  writeFileSync(own.place.path('session/skillopt.jsonl'), rechain(events));
  rmSync(own.place.path('session/skillopt.md')); // it names the log of before
}
