import { sessionParts, wired } from '../../cli/wiring.ts';
import { fileLayers } from '../../config/layers.ts';
import { makeRedactor } from '../../journal/redact.ts';
import { Hold } from '../../session/hold.ts';
import { sessionPaths } from '../../session/paths.ts';
import { runSession } from '../../session/run.ts';
import { Session } from '../../session/session.ts';
import { Slots } from '../../session/slots.ts';

/**
 * `shared-child.ts WORKERS DIR…`: runs the sessions side by side on workers that they share. Prints how many rollouts
 * their decisions had consumed when the first of them ended, and the milliseconds until then.
 */
const [workers = '', ...dirs] = process.argv.slice(2);
const slots = new Slots(Number(workers));
const sessions: Session[] = [];
for (const dir of dirs)
  sessions.push(
    await Session.open(
      dir,
      fileLayers(sessionPaths(dir).config),
      [],
      sessionParts(dir, () => {}),
    ),
  );
const startedAt = performance.now();
const ends = sessions.map(async (session, i) => {
  const parts = await wired(session, dirs[i] ?? '', { allowUnsandboxed: false, rehearsalDelayMs: 0 });
  await runSession(session, {
    ...parts,
    redact: makeRedactor([]),
    leaks: async () => () => null,
    inputs: () => [],
    signal: new AbortController().signal,
    hold: new Hold(),
    workers: Number(workers),
    slots,
    backoffMs: [0],
    nowMs: () => performance.now(),
    finalize: false,
  });
});
await Promise.race(ends);
const wallMs = performance.now() - startedAt;
const consumed = sessions.reduce((sum, { state }) => sum + state.planned, 0);
await Promise.all(ends);
for (const session of sessions) session.close();
console.log(JSON.stringify({ consumed, wallMs }));
