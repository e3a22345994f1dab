import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { walls } from '../../rollout/local/sandbox-fixture.ts';
import { jsonOf, removePlaces } from '../binary.ts';
import { commandsFor, HarborSession, handInFor } from '../harbor-model.ts';
import { base, config as example, instructionOf } from '../hello-harbor.ts';
import { performedAgain } from '../sessions.ts';
import { realKey } from './agent-bench-fixture.ts';
import { agentsPath, foundAgents } from './agent-rows-fixture.ts';
import { ScriptedModel } from './scripted-model-fixture.ts';
import { type ScriptedAnswer, shellCall, skillCall } from './scripted-script-fixture.ts';
import type { ScriptedTurn } from './scripted-turn-fixture.ts';

// The bundled example made better with coding agents: they do the tasks, and in the second session propose the edits.

const model = new ScriptedModel();
afterEach(() => model.stop());
afterAll(() => {
  removePlaces();
  rmSync(base, { recursive: true, force: true });
});

const ids = Object.values(example.splits).flat();

/** Opens the skill, runs what it says of the task at once, and ends. */
function doesTask(turn: ScriptedTurn): ScriptedAnswer {
  const task = ids.find((id) => turn.user.includes(instructionOf(id).trim()));
  if (task === undefined) return { text: 'I do not know this task.' };
  if (turn.calls.length === 0) {
    const opens = skillCall(turn, 'hello-harbor');
    return opens === undefined
      ? { text: 'Nobody has told me how this is done here.' }
      : { text: 'The skill first.', call: opens };
  }
  if (turn.calls.length > 1) return { text: 'It is done.' };
  const commands = commandsFor([turn.user, ...turn.results].join('\n'), instructionOf(task));
  const call = commands.length === 0 ? undefined : shellCall(turn, commands.join('\n'));
  return call === undefined ? { text: 'No line of the skill speaks of this task.' } : { text: 'I run it.', call };
}

/** Reads rules and index, and writes its hand-in. */
function proposes(turn: ScriptedTurn): ScriptedAnswer {
  const [rules = ''] = /\/\S*\/RULES\.md/.exec(turn.user) ?? [];
  const [handIn = ''] = /\/\S*\/proposal\.json/.exec(turn.user) ?? [];
  const run = (command: string): ScriptedAnswer => {
    const call = shellCall(turn, command);
    return call === undefined ? { text: 'I have no shell.' } : { text: '', call };
  };
  if (turn.calls.length === 0) return run(`cat '${rules.replace('RULES', 'index')}'`);
  if (turn.calls.length > 1) return { text: 'It is handed in.' };
  const [failing = ''] = (turn.results[0] ?? '').split(/^These pass/m);
  const shown = [...failing.matchAll(/([\w-]+) · failing\//g)].map(([, id]) => id ?? '');
  return run(`cat > '${handIn}' <<'HAND-IN'\n${JSON.stringify(handInFor(shown))}\nHAND-IN`);
}

const play = (turn: ScriptedTurn) => (turn.user.includes('proposal.json') ? proposes(turn) : doesTask(turn));

const found = foundAgents.filter(({ row }) => row.agent === 'claude-code' || row.agent === 'codex');

describe.each(found.map((one) => [one.row.agent, one] as const))(
  '%s optimizes the bundled example',
  (agent, { row }) => {
    test.each([
      ['with a model that proposes', false],
      ['and proposes the edits itself', true],
    ] as const)(
      '%s',
      async (_, itself) => {
        model.play = play;
        await model.start();
        const target = { model: row.model, baseUrl: `${model.url}${row.basePath}`, keyEnv: 'E2E_KEY' };
        const own = new HarborSession({
          config: {
            agent,
            model: target,
            budget: { rollouts: 45 },
            allowUnsandboxed: walls.kind === 'none',
            ...(itself ? { optimizer: 'agent' } : {}),
          },
          env: { PATH: agentsPath, HOME: '/nonexistent', E2E_KEY: realKey },
          deadlineMs: 280_000,
        });
        const run = await own.succeed(['run', 'session', '--finalize', '--yes']);
        expect(run.stdout).toMatch(/^step 1 .*\n +ACCEPT · selection \d+\/(?:8|16) against \d/m);
        const [, result, seed, none] =
          /^result +sealed test: (\d)\/8 with the result, (\d)\/8 with the seed, (\d)\/8 without a skill/m
            .exec(run.stdout)
            ?.map(Number) ?? [];
        expect(result).toBeGreaterThan(seed ?? 9);
        expect(none).toBe(0);
        const status = jsonOf(await own.succeed(['status', 'session', '--json']));
        expect(status).toMatchObject({ phase: 'finished', result: 'improved', rehearsal: false });
        for (const { hasSkill, outcome } of own.outcomes)
          expect(outcome).toMatchObject({ status: 'scored', read: hasSkill ? true : null });
        expect(own.asked('optimizer').length > 0).toBe(!itself);
        expect(performedAgain(own.place.events('session'))).toEqual([]);
        expect(own.place.leftovers('session')).toEqual([]);
        await own.succeed(['verify', 'session']);
      },
      300_000,
    );
  },
);
