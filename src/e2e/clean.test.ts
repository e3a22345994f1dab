import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectFailure, jsonOf, Place, removePlaces, until } from './binary.ts';
import { OwnSession, seedSkillThatWaits, splits } from './own-pack.ts';
import { essence } from './sessions.ts';

afterAll(removePlaces);

const kept = (place: Place) => place.path('session/.skillopt/workspaces');

describe('clean', () => {
  test('ends and removes what a killed run left; a running session is left alone, and the session goes on', async () => {
    const own = new OwnSession(new Place(), { skill: seedSkillThatWaits, config: { sandbox: { kind: 'none' } } });
    own.block(['agent']);
    const run = own.start(['run', 'session']);
    await until('agents wait', () => own.waiting() === splits.selection.length);
    expectFailure(await own.run(['clean', 'session']), {
      code: 5,
      what: /another process is at work/,
      where: /lock\.db$/,
      fix: /wait for it/,
    });
    run.kill('SIGKILL');
    await run.ended;
    mkdirSync(join(kept(own.place), 'some-task-0123'), { recursive: true });
    writeFileSync(join(kept(own.place), 'some-task-0123', 'file'), 'x'.repeat(2_000_000));
    expect(own.place.leftovers('session').length).toBeGreaterThanOrEqual(2 * splits.selection.length);
    const { removed, keptBytes } = jsonOf(await own.succeed(['clean', 'session', '--json']));
    expect([(removed as readonly string[]).length >= 2 * splits.selection.length, keptBytes]).toEqual([
      true,
      2_000_000,
    ]);
    expect(own.place.leftovers('session')).toEqual([]);
    expect(existsSync(kept(own.place))).toBe(false);
    expect((await own.succeed(['clean', 'session'])).stdout).toBe('nothing     was left\n');
    own.free();
    await own.succeed(['run', 'session']);
    await own.succeed(['verify', 'session']);
    expect(await essence(own.place, 'session')).toMatchObject({ cause: 'ceiling' });
  });

  test('removes old folders of sessions that are gone, and none that may be at work', async () => {
    const place = new Place();
    const folder = (name: string, ageMs: number) => {
      const path = join(place.temp, name);
      mkdirSync(path);
      const at = (Date.now() - ageMs) / 1000;
      utimesSync(path, at, at);
      return path;
    };
    const day = 86_400_000;
    const old = folder('skillopt-abc-0123456789ab-AbCdEf', 2 * day);
    const recent = folder('skillopt-def-0123456789ab-AbCdEf', day / 2);
    const halfOld = folder('skillopt-def-0123456789ab-GhIjKl', 2 * day);
    const foreign = folder('skillopt-notes', 9 * day);
    const { removed } = jsonOf(await place.succeed(['clean', '--temp', '--json']));
    expect(removed).toEqual([`folder ${old}`]);
    expect([old, recent, halfOld, foreign].map((path) => existsSync(path))).toEqual([false, true, true, true]);
  });

  test('says where nothing is to be cleaned', async () => {
    const end = await new Place().run(['clean']);
    expectFailure(end, { code: 2, what: /neither a session nor an eval/, where: /work$/, fix: /name the directory/ });
  });
});
