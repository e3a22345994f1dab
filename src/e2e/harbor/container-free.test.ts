import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { harborIsHere } from '../../rollout/harbor/bench-fixture.ts';
import { expectFailure, jsonOf, markedProcesses, Place, removePlaces, until } from '../binary.ts';
import { essence, performedAgain } from '../sessions.ts';
import { classes, containerFree, exampleSession, fewTasks, hostEnv } from './harbor-session.ts';

afterAll(removePlaces);

const inHarbor = { ...fewTasks, backend: containerFree, harbor: { pythonPath: [classes] } };
const patient = { deadlineMs: 280_000 };

function sessionIn(place: Place, name: string, config: Readonly<Record<string, unknown>>): string {
  mkdirSync(place.path(name));
  exampleSession(place, name, config);
  return name;
}

(harborIsHere ? describe : describe.skip)('a session in Harbor, without a container', () => {
  test('comes to what the same session comes to on local, and leaves nothing', async () => {
    const place = new Place();
    const env = hostEnv(place);
    const [there, here] = [sessionIn(place, 'there', inHarbor), sessionIn(place, 'here', fewTasks)];
    const end = await place.succeed(['run', there, '--finalize', '--yes'], { env, ...patient });
    await place.succeed(['run', here, '--finalize', '--yes']);
    expect(await essence(place, there)).toEqual(await essence(place, here));
    expect(end.stdout).toMatch(/^result +sealed test: \d\/2 with the result/m);
    expect(jsonOf(await place.succeed(['verify', there, '--json']))).toMatchObject({ ok: true });
    expect(place.leftovers(there)).toEqual([]);
    expect(readdirSync(place.path(there, '.skillopt/harbor/jobs'))).toEqual([]);
    const reads = place
      .events(there)
      .flatMap(({ type, outcome }) =>
        type === 'rollout.finished' ? [(outcome as { readonly read: unknown }).read] : [],
      );
    expect(new Set(reads)).toEqual(new Set([true, null]));
  });

  test('that is killed goes on: what Harbor had finished is not run again', async () => {
    const place = new Place();
    const env = hostEnv(place);
    const name = sessionIn(place, 'killed', inHarbor);
    const first = place.start(['run', name, '--yes'], { env, ...patient });
    const id = () => String(place.events(name)[0]?.session);
    await until('a rollout has finished', () => {
      try {
        return place.events(name).some(({ type }) => type === 'rollout.finished');
      } catch {
        return false;
      }
    });
    first.kill('SIGKILL');
    await first.ended;
    await place.succeed(['run', name, '--yes'], { env, ...patient });
    expect(performedAgain(place.events(name))).toEqual([]);
    expect(markedProcesses(id())).toEqual([]);
    expect(jsonOf(await place.succeed(['verify', name, '--json']))).toMatchObject({ ok: true });
  });

  test('an eval compares with and without the skill', async () => {
    const place = new Place();
    const args = ['eval', '--skill', 'example:hello-harbor', '--pack', 'example:hello-harbor', '--limit', '2'];
    const more = ['--no-skill', '--backend', containerFree, '--agent', 'rehearsal', '--json', '--yes'];
    const set = ['--set', `harbor.pythonPath=${JSON.stringify([classes])}`];
    const end = await place.succeed([...args, ...more, ...set], { env: hostEnv(place), ...patient });
    expect(jsonOf(end)).toMatchObject({ failure: null });
  });
});

test('a backend that nobody knows is refused before anything is spent', async () => {
  const place = new Place();
  const name = sessionIn(place, 'odd', { ...fewTasks, backend: 'lokal' });
  const end = await place.run(['run', name, '--yes'], { env: hostEnv(place), ...patient });
  expectFailure(end, { code: 4, what: /lokal|Harbor/, where: /backend|harbor/, fix: /local|harbor/ });
  expect(existsSync(place.path(name, 'skillopt.jsonl'))).toBe(false);
});
