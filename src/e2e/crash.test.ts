import { afterAll, expect, test } from 'bun:test';
import { Place, removePlaces, until } from './binary.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';

afterAll(removePlaces);

const demo = 'skillopt-demo';
const KILLS = 20;
/** Sessions that share the kills: each is killed, resumed and killed again. */
const SESSIONS = 4;
const SEED = 20;

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Shares of the log at which a session is killed, one in each twentieth of it. */
const next = numbers(SEED);
const shares = Array.from({ length: KILLS }, (_, i) => (i + next()) / KILLS);

test.each(Array.from({ length: SESSIONS }, (_, s) => [s, shares.filter((_, i) => i % SESSIONS === s)] as const))(
  'session %d, killed again and again, comes to the result of the undisturbed one: %j',
  async (_session, points) => {
    const whole = (await finishedDemo()).place;
    const most = whole.lines(demo) - 10; // the run must not end before it is killed
    const place = new Place();
    for (const share of points) {
      const line = Math.ceil(share * most);
      const run = place.start(['demo']);
      await until(`the log has ${line} lines`, () => run.over() || place.lines(demo) >= line);
      run.kill('SIGKILL');
      expect(await run.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
    }
    const killed = place.events(demo);
    await place.succeed(['demo']);
    const events = place.events(demo);
    expect(events.slice(0, killed.length)).toEqual([...killed]);
    expect(await essence(place, demo)).toEqual(await essence(whole, demo));
    expect(performedAgain(events)).toEqual([]);
    expect(place.leftovers(demo)).toEqual([]);
    await place.succeed(['verify', demo]);
  },
);
