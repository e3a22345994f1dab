import { expect, test } from 'bun:test';
import { foundAgents, missingAgents, requiredAgents } from './agent-rows-fixture.ts';

test('agents that have to be here are', () => {
  for (const { row, version } of foundAgents) console.info(`with ${row.agent} ${version}`);
  for (const { agent, why } of missingAgents) console.info(`without ${agent}: ${why}`);
  expect(missingAgents.filter(({ agent }) => requiredAgents.includes(agent))).toEqual([]);
});
