import { afterEach, describe, expect, test } from 'bun:test';
import { harborAgents, lackingAgents, RealAgent, rollOut, told, widgetTask } from '../real-agents-fixture.ts';
import { baseImage, bridgeAddress, dockerIsHere } from './here-fixture.ts';

// Real coding agents in containers, with the CLIs of this machine (`SKILLOPT_AGENTS`), against a scripted model. More of
// their provider's outages are met without a container, in `../agents.test.ts`.

const agents = dockerIsHere ? harborAgents : [];
const docker = { environment: { type: 'docker' } } as const;
const running: RealAgent[] = [];
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

function containerised(name: string): RealAgent {
  const agent = new RealAgent(name, bridgeAddress());
  running.push(agent);
  return agent;
}

test('agents that have to be here are', () => {
  expect(lackingAgents).toEqual([]);
});

describe.each(agents.map((agent) => [agent]))('%s in a container', (name) => {
  test('is decided by the skill and seen to read it; a provider that says nothing is no score', async () => {
    const bench = await containerised(name).start(docker);
    const obeys = await widgetTask(bench, 'obeys', '', 240);
    const ignores = await widgetTask(bench, 'ignores', 'PLAY ignore', 240);
    const silent = await widgetTask(bench, 'silent', 'FAULT hang', 20);
    const tasks = [obeys, ignores, silent];
    // the same tasks in both arms: one job
    const reports = await rollOut(bench, tasks, tasks);
    const outage = expect.stringMatching(/^unscored provider-/);
    expect(Object.fromEntries([...reports].map(([key, report]) => [key, told(report)]))).toEqual({
      obeys: 'scored 1 read true',
      'obeys without': 'scored 0 read null',
      ignores: 'scored 0 read false',
      'ignores without': 'scored 0 read null',
      silent: outage,
      'silent without': outage,
    });
    const version = bench.options.mounted?.version ?? '';
    expect(reports.get('obeys')).toMatchObject({
      result: { versions: { [name]: version }, trajectory: { finalText: 'WIDGET-DONE' } },
    });
    expect(await bench.backend.versions()).toMatchObject({ [name]: version });
    expect(await bench.leftovers()).toEqual([]);
  }, 280_000);
});

(agents.length > 0 ? test : test.skip)(
  'an image in which the mounted agent does not start is said to be one',
  async () => {
    const [name = ''] = agents;
    const bench = await containerised(name).start(docker);
    const task = await bench.task({
      id: 'no-path',
      instruction: 'Please make a widget.',
      test: 'echo 0 > "$LOGS_DIR/verifier/reward.txt"',
      agentTimeoutSec: 120,
      dockerfile: `FROM ${baseImage()}\nENV PATH=/usr/bin:/bin\nWORKDIR /app\n`,
    });
    const reports = await rollOut(bench, [task]);
    expect(told(reports.get('no-path'))).toBe('unscored agent-setup');
    expect(JSON.stringify(reports.get('no-path'))).toContain('does not start in this task’s image');
  },
  280_000,
);
