import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../ports/hash.ts';
import type { RolloutReport } from '../../ports/rollouts.ts';
import type { TrajectoryStep } from '../../ports/trajectory.ts';
import { never, request } from '../self-check-tools.ts';
import { fixtures, harborOptions, harborTask } from './options-fixture.ts';
import { resultOf } from './result.ts';
import { readTrial } from './trial.ts';

/**
 * Trials of real agents with a scripted model: `fixtures/trials/<agent>` as Harbor left them, with the agent's log and
 * Harbor's own trajectory. Each read the skill, ran a command that works and one that fails, and said so.
 */
const trials = join(fixtures, 'trials');
const skillText = `---
name: greeter
description: SCRIPTED Makes widgets. Use when asked for a widget.
---
# Widgets

Widgets are made of one line, as BODY-MARK says.
The second command fails on purpose, and that is how it should be.

DO: echo widget-ok > widget.txt; echo made
DO: ls /nonexistent; exit 3
SAY: WIDGET-DONE
`;
const instruction = 'Please make a widget: a file widget.txt in the current folder.\n';
const agents = ['claude-code', 'codex', 'pi', 'opencode'] as const;
const spent: Readonly<Record<(typeof agents)[number], readonly [number, number, number | null]>> = {
  'claude-code': [88584, 39, 0.266337],
  codex: [42554, 45, 0.053642499999999996],
  // pi names no price for a model that it does not know
  pi: [6584, 46, null],
  opencode: [30376, 39, 0.03836],
};

let work = '';
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'harbor-trajectories-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** A copy of a trial in which files were changed; null = taken away. */
function copyOf(name: string, changed: Readonly<Record<string, string | null>> = {}): string {
  const folder = mkdtempSync(join(work, `${name}-`));
  cpSync(join(trials, name), folder, { recursive: true });
  for (const [path, text] of Object.entries(changed)) {
    rmSync(join(folder, path), { force: true });
    if (text === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function reportOf(folder: string, o: { readonly digest?: string; readonly skill?: string } = {}) {
  const trial = readTrial(readFileSync(join(folder, 'result.json'), 'utf8'));
  if (trial === null) throw new Error(`${folder} has no result`);
  const text = o.skill ?? skillText;
  const skill = { name: 'greeter', hash: sha256(text), text, bundleDir: null };
  const digest = o.digest ?? JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8')).skills[0].digest;
  return resultOf(folder, trial, {
    request: request('k', harborTask({ id: 'task-1', dir: '/pack/task-1', instruction }), skill, never()) as never,
    laid: { dir: '/skills/greeter', digest },
    planted: null,
    options: harborOptions({ model: { name: 'a/model', baseUrl: null, keyName: null, apiFormat: null } }),
    versions: {},
  });
}

function finished(report: RolloutReport) {
  if (report.kind !== 'finished' || report.result.trajectory === null) throw new Error(JSON.stringify(report));
  return { ...report.result, trajectory: report.result.trajectory };
}

const tools = (steps: readonly TrajectoryStep[]) => steps.filter((step) => step.kind === 'tool');
const commands = (steps: readonly TrajectoryStep[]) =>
  tools(steps).filter(({ input }) => /echo widget-ok|ls \/nonexistent/.test(input));

for (const agent of agents) {
  describe(agent, () => {
    test('its log gives commands, outputs, exit codes and last words, as everywhere else', async () => {
      const { outcome, trajectory, usage, exit } = finished(await reportOf(copyOf(agent)));
      expect(outcome).toMatchObject({ status: 'scored', hard: 1, read: true });
      expect([trajectory.agent, trajectory.finalText, trajectory.cut, exit]).toEqual([
        agent,
        'WIDGET-DONE',
        0,
        'finished',
      ]);
      const [inputTokens, outputTokens, costUsd] = spent[agent];
      expect(usage).toEqual({ inputTokens, outputTokens, costUsd, requests: null });
      const [first, ...own] = trajectory.steps;
      expect(first).toEqual({ kind: 'message', role: 'user', text: instruction });
      const said = own.flatMap((step) => (step.kind === 'message' ? [`${step.role}: ${step.text}`] : []));
      expect(said).toEqual(['agent: I read the skill first.', 'agent: WIDGET-DONE']);
      expect(tools(own)[0]?.output).toContain('Widgets are made of one line, as BODY-MARK says.');
      expect(commands(own).map(({ exitCode }) => exitCode)).toEqual([0, 3]);
      expect(commands(own)[0]?.output.trim()).toBe('made');
      expect(commands(own)[1]?.output).toContain('cannot access');
    });

    test('without its log Harbor’s trajectory speaks, and lines of the body prove that it was read', async () => {
      const folder = copyOf(agent, { [`agent/${agent}.txt`]: null });
      const { outcome, trajectory } = finished(await reportOf(folder));
      expect(outcome).toMatchObject({ status: 'scored', hard: 1, read: true });
      expect(trajectory.finalText).toBe('WIDGET-DONE');
      const [first, second] = trajectory.steps;
      expect(first).toEqual({ kind: 'message', role: 'user', text: instruction });
      expect(second).toEqual({ kind: 'message', role: 'agent', text: 'I read the skill first.' });
      expect(trajectory.steps.filter((step) => step.kind === 'message' && step.role === 'system')).toEqual([]);
      const ran = commands(trajectory.steps);
      expect(ran.map(({ exitCode }) => exitCode)).toEqual([null, null]);
      expect(ran[0]?.output).toContain('made');
      expect(ran[1]?.output).toContain('cannot access');
      const other = skillText.replace(
        /^(Widgets are|The second|DO: ).*$/gm,
        'Some other line that nobody has ever seen $&$1',
      );
      expect(finished(await reportOf(folder, { skill: other })).outcome).toMatchObject({ read: null });
    });

    test('without both nothing is known of what it did, and its score stands', async () => {
      const folder = copyOf(agent, { [`agent/${agent}.txt`]: null, 'agent/trajectory.json': '{"steps": [' });
      const { outcome, trajectory } = finished(await reportOf(folder));
      expect(outcome).toMatchObject({ status: 'scored', hard: 1, read: null });
      expect(trajectory.steps).toEqual([{ kind: 'message', role: 'user', text: instruction }]);
    });

    test('a skill that is not the one under test is no measure of it', async () => {
      const { outcome } = finished(await reportOf(copyOf(agent), { digest: `sha256:${'0'.repeat(64)}` }));
      expect(outcome).toMatchObject({ status: 'unscored', reason: 'skill-not-visible' });
    });

    test('an agent of its own words is believed about its reading', async () => {
      const folder = copyOf(agent);
      const file = join(folder, 'result.json');
      const result = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(
        file,
        JSON.stringify({ ...result, agent_result: { ...result.agent_result, metadata: { skillopt_read: false } } }),
      );
      expect(finished(await reportOf(folder)).outcome).toMatchObject({ status: 'scored', read: false });
    });
  });
}

test('an agent that nobody knows is followed through all files of its trajectory, and out of its folder never', async () => {
  const result = JSON.parse(readFileSync(join(trials, 'pi/result.json'), 'utf8'));
  const said = (message: string, next?: string) =>
    JSON.stringify({ steps: [{ source: 'agent', message }], continued_trajectory_ref: next });
  const folder = copyOf('pi', {
    'result.json': JSON.stringify({ ...result, agent_info: { name: 'mine', version: '1' } }),
    'agent/trajectory.json': said('one', 'trajectory.cont-1.json'),
    'agent/trajectory.cont-1.json': said('two', '../outside.json'),
    'outside.json': said('three'),
  });
  const { trajectory, versions } = finished(await reportOf(folder));
  expect(trajectory.agent).toBe('mine');
  expect(trajectory.steps.map((step) => (step.kind === 'message' ? step.text : ''))).toEqual([
    instruction,
    'one',
    'two',
  ]);
  expect(trajectory.finalText).toBe('two');
  expect(Object.values(versions)).toContain('1');
  const round = copyOf('pi', {
    'result.json': JSON.stringify({ ...result, agent_info: { name: 'mine' } }),
    'agent/trajectory.json': said('again', 'trajectory.json'),
  });
  expect(finished(await reportOf(round)).trajectory.steps.length).toBeLessThan(100);
});

test('an agent that ends well while its provider refuses the key stands for a failure, not for a zero', async () => {
  expect(await reportOf(copyOf('pi-401'))).toMatchObject({ kind: 'failed', failure: { code: 'auth' } });
});

test('what opencode met while it tried again stands in a log of its own', async () => {
  const result = JSON.parse(readFileSync(join(trials, 'opencode/result.json'), 'utf8'));
  const folder = copyOf('opencode', {
    'agent/opencode.txt': null,
    'agent/trajectory.json': null,
    'agent/opencode/xdg-data/opencode/log/opencode.log':
      'level=ERROR run=1 message="stream error" error.error="AI_APICallError: 401: {\\"error\\":{\\"message\\":\\"no\\"}}"\n',
    'result.json': JSON.stringify({
      ...result,
      agent_result: { n_output_tokens: null },
      exception_info: { exception_type: 'AgentTimeoutError', exception_message: 'timed out' },
      verifier_result: { rewards: { reward: 0 } },
    }),
  });
  const { outcome } = finished(await reportOf(folder));
  expect(outcome).toMatchObject({ status: 'unscored', reason: 'provider-error' });
  expect(outcome.status === 'unscored' && outcome.detail).toContain('401');
});
