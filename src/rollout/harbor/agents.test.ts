import { afterEach, describe, expect, test } from 'bun:test';
import { PreloadBench } from '../preloads/preload-fixture.ts';
import { harborIsHere } from './bench-fixture.ts';
import { HarborRollouts } from './harbor-rollouts.ts';
import { withPreloads } from './preloads.ts';
import { harborAgents, lackingAgents, RealAgent, rollOut, told, widgetTask } from './real-agents-fixture.ts';

// Real coding agents in Harbor without a container, with the CLIs of this machine (`SKILLOPT_AGENTS`), against a scripted
// model. `docker/agents.test.ts` has them in containers.

const running: RealAgent[] = [];
const users: PreloadBench[] = [];
afterEach(async () => {
  for (const user of users.splice(0)) user.close();
  for (const agent of running.splice(0)) await agent.stop();
});

test('agents that have to be here are', () => {
  expect(lackingAgents).toEqual([]);
});

describe.each((harborIsHere ? harborAgents : []).map((agent) => [agent]))('%s without a container', (name) => {
  test('is decided by the skill, and an outage of its provider is no score', async () => {
    const agent = new RealAgent(name);
    running.push(agent);
    const bench = await agent.start();
    const obeys = await widgetTask(bench, 'obeys', '', 240);
    const outages = [
      await widgetTask(bench, 'no-key', 'FAULT 401', 40),
      await widgetTask(bench, 'limited', 'FAULT 429', 40),
      await widgetTask(bench, 'broken', 'FAULT 500', 25),
      await widgetTask(bench, 'silent', 'FAULT hang', 15),
    ];
    const reports = await rollOut(bench, [obeys, ...outages], [obeys]);
    const said = Object.fromEntries([...reports].map(([key, report]) => [key, told(report)]));
    expect(said).toMatchObject({ obeys: 'scored 1 read true', 'obeys without': 'scored 0 read null' });
    for (const { id } of outages) expect(said[id]).toMatch(/^(unscored provider-|failed (auth|quota)$)/);
    expect(new Set(agent.model.asked.map(({ key }) => key))).toEqual(new Set(['sk-harbor-test-0123456789abcdef']));
  }, 280_000);

  test('is given other skills and, where it takes them, the user’s instructions', async () => {
    const agent = new RealAgent(name);
    running.push(agent);
    const started = await agent.start();
    const user = new PreloadBench();
    users.push(user);
    user.write({
      'my session/other/SKILL.md': '---\nname: other\ndescription: OTHER-MARK is what it does.\n---\nText.\n',
      'home/.claude/CLAUDE.md': 'MEMORY-MARK is what I say.\n',
    });
    const memory = name === 'claude-code';
    const wanted = { skills: ['other'], machine: { skills: [], memory, mcp: [] } };
    const { options, findings } = await withPreloads(started.options, {
      ...user.options(wanted),
      measured: ['widget'],
    });
    expect(findings).toEqual([]);
    const bench = { ...started, options, backend: new HarborRollouts(options) };
    const reports = await rollOut(bench, [await widgetTask(bench, 'obeys', '', 240)]);
    expect(told(reports.get('obeys'))).toBe('scored 1 read true');
    const [first] = agent.model.asked.filter(({ turn }) => turn.tools.length > 0);
    expect(first?.body).toContain('OTHER-MARK');
    expect(first?.body.includes('MEMORY-MARK')).toBe(memory);
    expect(reports.get('obeys')).toMatchObject({ result: { versions: { 'skill other': expect.any(String) } } });
  }, 280_000);
});
