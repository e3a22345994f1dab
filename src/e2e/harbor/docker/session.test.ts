import { afterAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dockerIsHere } from '../../../rollout/harbor/docker/here-fixture.ts';
import { jsonOf, Place, removePlaces } from '../../binary.ts';
import { essence, performedAgain } from '../../sessions.ts';
import { exampleSession, fewTasks, hostEnv } from '../harbor-session.ts';

afterAll(removePlaces);

const patient = { deadlineMs: 280_000 };

(dockerIsHere ? describe : describe.skip)('a session on Docker', () => {
  test('comes to what the same session comes to on local: an acceptance, a rejection, the sealed test', async () => {
    const place = new Place();
    for (const name of ['there', 'here']) mkdirSync(place.path(name));
    exampleSession(place, 'there', { ...fewTasks, backend: 'docker' });
    exampleSession(place, 'here', fewTasks);
    const end = await place.succeed(['run', 'there', '--finalize', '--yes'], { env: hostEnv(place), ...patient });
    await place.succeed(['run', 'here', '--finalize', '--yes']);
    expect(await essence(place, 'there')).toEqual(await essence(place, 'here'));
    expect(end.stdout).toMatch(/ACCEPT[\s\S]*reject[\s\S]*confirmed[\s\S]*sealed test: 2\/2 with the result/);
    expect(performedAgain(place.events('there'))).toEqual([]);
    expect(jsonOf(await place.succeed(['verify', 'there', '--json']))).toMatchObject({ ok: true });
    expect(leftOf(String(place.events('there')[0]?.session))).toBe('');
  }, 300_000);
});

/** Containers of a session that are there now. */
function leftOf(session: string): string {
  const args = ['ps', '--all', '--quiet', '--filter', `label=skillopt.session=${session}`];
  return spawnSync('docker', args, { encoding: 'utf8' }).stdout;
}
