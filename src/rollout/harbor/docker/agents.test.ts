import { afterEach, describe, expect, test } from 'bun:test';
import { harborAgents, RealAgent, rollOut, told, wantedAgents, widgetTask } from '../real-agents-fixture.ts';
import { bridgeAddress, dockerIsHere } from './here-fixture.ts';

// Real coding agents in containers, with the CLIs of this machine (`SKILLOPT_AGENTS`), against a scripted model.

const agents = dockerIsHere ? harborAgents : [];
const running: RealAgent[] = [];
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

test.skipIf(!dockerIsHere)('agents that have to be here are', () => {
  if (process.env.REQUIRE_HARBOR === '1') expect(harborAgents).toEqual(wantedAgents);
});

describe.each(agents.map((agent) => [agent]))('%s in a container', (name) => {
  test('is decided by the skill, seen to read it, and an outage of its provider is no score', async () => {
    const agent = new RealAgent(name, bridgeAddress());
    running.push(agent);
    const bench = await agent.start({ environment: { type: 'docker' } });
    const make = (id: string, say: string, sec: number) => widgetTask(bench, id, say, sec);
    const obeys = await make('obeys', '', 240);
    const ignores = await make('ignores', 'PLAY ignore', 240);
    const outages = [
      await make('no-key', 'FAULT 401', 60),
      await make('limited', 'FAULT 429', 60),
      await make('broken', 'FAULT 500', 40),
      await make('silent', 'FAULT hang', 25),
    ];
    const reports = await rollOut(bench, [obeys, ignores, ...outages], [obeys]);
    console.info(
      name,
      Object.fromEntries(
        [...reports].map(([key, report]) => [
          key,
          JSON.stringify(report.kind === 'finished' ? { ...report.result, trajectory: undefined } : report),
        ]),
      ),
    );
    const said = Object.fromEntries([...reports].map(([key, report]) => [key, told(report)]));
    expect(said).toMatchObject({
      obeys: 'scored 1 read true',
      'obeys without': 'scored 0 read null',
      ignores: 'scored 0 read false',
    });
    for (const { id } of outages) expect(said[id]).toMatch(/^(unscored provider-|failed (auth|quota)$)/);
    const found = reports.get('obeys');
    const version = bench.options.mounted?.version ?? '';
    expect(found).toMatchObject({
      result: { versions: { [name]: version }, trajectory: { finalText: 'WIDGET-DONE' } },
    });
    expect(await bench.backend.versions()).toMatchObject({ [name]: version });
    expect(await bench.leftovers()).toEqual([]);
  }, 280_000);
});
