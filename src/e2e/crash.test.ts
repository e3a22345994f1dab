import { afterAll, describe, expect, test } from 'bun:test';
import { type LogLine, Place, removePlaces, until } from './binary.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';
import { Terminal } from './terminal.ts';

afterAll(removePlaces);

const demo = 'skillopt-demo';

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

/** Lets a demo that was killed come to its end: all is as if it had never been disturbed, and what stood in the log stands. */
async function expectWhole(place: Place): Promise<void> {
  const killed = place.lines(demo) > 0 ? place.events(demo) : [];
  await place.succeed(['demo']);
  const events = place.events(demo);
  expect(events.slice(0, killed.length)).toEqual([...killed]);
  expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  expect(performedAgain(events)).toEqual([]);
  expect(place.leftovers(demo)).toEqual([]);
  await place.succeed(['verify', demo]);
}

describe('a session that is killed again and again comes to the result of the undisturbed one', () => {
  const KILLS = 20;
  /** Sessions that share the kills: each is killed, resumed and killed again. */
  const SESSIONS = 4;
  /** Shares of the log at which a session is killed, one in each twentieth of it. */
  const next = numbers(20);
  const shares = Array.from({ length: KILLS }, (_, i) => (i + next()) / KILLS);

  test.each(Array.from({ length: SESSIONS }, (_, s) => [s, shares.filter((_, i) => i % SESSIONS === s)] as const))(
    'by lines of its log: %d, %j',
    async (_session, points) => {
      const most = (await finishedDemo()).place.lines(demo) - 10; // the run must not end before it is killed
      const place = new Place();
      for (const share of points) {
        const line = Math.ceil(share * most);
        const run = place.start(['demo']);
        await until(`the log has ${line} lines`, () => run.over() || place.lines(demo) >= line);
        run.kill('SIGKILL');
        expect(await run.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
      }
      await expectWhole(place);
    },
  );

  /** How long a run may live, as a share of the undisturbed one's time: two or three kills meet each session. */
  const LONGEST = 0.6;
  const KILLS_A_TEST = 5;

  /** Milliseconds from the first line of the undisturbed log to its last. */
  async function wholeMs(): Promise<number> {
    const { place } = await finishedDemo();
    const events = place.events(demo);
    const at = (e: LogLine | undefined) => Date.parse(String(e?.at));
    return at(events.at(-1)) - at(events[0]);
  }

  type Mortal = {
    readonly over: () => boolean;
    readonly kill: (signal: 'SIGKILL') => void;
    readonly gone: () => Promise<unknown>;
  };

  /** Kills runs at random times, from their first moment on; whenever a session has come to its end, another begins. */
  async function killAtRandom(seed: number, start: (place: Place) => Mortal): Promise<void> {
    const [next, longestMs] = [numbers(seed), LONGEST * (await wholeMs())];
    let place = new Place();
    for (let kills = 0; kills < KILLS_A_TEST; ) {
      const lifeMs = next() * longestMs;
      const run = start(place);
      const startedMs = performance.now();
      await until('it has lived long enough', () => run.over() || performance.now() - startedMs >= lifeMs);
      const isEnd = run.over();
      if (!isEnd) run.kill('SIGKILL');
      await run.gone();
      if (!isEnd) kills++;
      if (!isEnd && kills < KILLS_A_TEST && !finished(place)) continue;
      await expectWhole(place);
      place = new Place();
    }
  }

  const finished = (place: Place) =>
    place.lines(demo) > 0 && place.events(demo).some((e) => e.type === 'finalize.finished');

  test.each([1, 2, 3, 4, 5])('at random times: seed %d', (seed) =>
    killAtRandom(seed, (place) => {
      const { over, kill, ended } = place.start(['demo']);
      return { over, kill, gone: () => ended };
    }),
  );

  test('at random times, in a terminal', () =>
    killAtRandom(6, (place) => {
      const terminal = Terminal.open(place, ['demo', '--yes', '--delay', '0']);
      return { over: terminal.over, kill: (signal) => terminal.kill(signal), gone: () => terminal.close() };
    }));
});
