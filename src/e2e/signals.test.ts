import { afterAll, describe, expect, test } from 'bun:test';
import { jsonOf, markedProcesses, Place, removePlaces, until } from './binary.ts';
import { OwnSession, splits, undisturbed } from './own-pack.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';

afterAll(removePlaces);

/** A session whose first verifiers are at work, and stay so until they are let go. */
async function atWork(more: readonly string[] = []) {
  const own = new OwnSession(new Place());
  own.block([...splits.selection, ...more]);
  const run = own.start(['run', 'session']);
  await until('the first rollouts are at work', () => own.waiting() === splits.selection.length);
  return { own, place: own.place, run };
}

describe('a signal', () => {
  test.each([
    ['SIGINT', ['stubborn']],
    ['SIGTERM', []],
    ['SIGHUP', []],
  ] as const)('%s once: stops in order, and the session goes on', async (signal, more) => {
    const { own, place, run } = await atWork(more);
    run.kill(signal);
    const end = await run.ended;
    expect(end.code).toBe(130);
    expect(end.stdout).toContain('stopping    what runs is ended and cleaned up; once more ends at once');
    expect(end.stderr).toStartWith('failed the run was stopped; nothing that finished is lost\n');
    expect(end.stderr).toContain('fix    start it again: it goes on where it stopped');
    expect(place.leftovers('session')).toEqual([]);
    const status = await place.succeed(['status', 'session']);
    expect(status.stdout).toContain('phase       measuring (paused)');
    await place.succeed(['verify', 'session']);
    own.free();
    await place.succeed(['run', 'session']);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    expect(performedAgain(place.events('session'))).toEqual([]);
    expect(place.leftovers('session')).toEqual([]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s twice: ends at once, and the session goes on', async (signal, code) => {
    const { own, place, run } = await atWork(['stubborn']);
    run.kill(signal);
    await until('the first one is answered', () => run.stdout().includes('stopping'));
    run.kill(signal);
    const end = await run.ended;
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code, stderr: '' }); // the orderly stop has not come to its end
    expect(markedProcesses(String(place.events('session')[0]?.session))).toEqual([]);
    own.free();
    await own.succeed(['run', 'session']);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    expect(performedAgain(place.events('session'))).toEqual([]);
    expect(place.leftovers('session')).toEqual([]);
    await place.succeed(['verify', 'session']);
  });

  test('in the middle of a demo: the same demo goes on to the same result', async () => {
    const place = new Place();
    const run = place.start(['demo', '--json']);
    await until('half of it is done', () => place.lines('skillopt-demo') >= 180);
    run.kill('SIGTERM');
    const end = await run.ended;
    expect(end.code).toBe(130);
    expect(jsonOf(end)).toMatchObject({ error: { code: 'interrupted', retryable: true } });
    expect(place.leftovers('skillopt-demo')).toEqual([]);
    const resumed = await place.succeed(['demo']);
    expect(resumed.stdout).toMatch(/^resumed +session [0-9a-f]+ after \d+ finished rollouts/m);
    expect(await essence(place, 'skillopt-demo')).toEqual(await essence((await finishedDemo()).place, 'skillopt-demo'));
    expect(performedAgain(place.events('skillopt-demo'))).toEqual([]);
    expect(place.leftovers('skillopt-demo')).toEqual([]);
  });
});
