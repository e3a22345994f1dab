import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaksOf } from '../cli/leaks.ts';
import { renderSession } from '../cli/render-session.ts';
import { layersOf } from '../config/layers.ts';
import { checkConfig } from '../config/load.ts';
import type { EventOf } from '../events/events.ts';
import { readText } from '../journal/journal.ts';
import { makeRedactor } from '../journal/redact.ts';
import type { Edit } from '../ports/edit.ts';
import type { ModelRequest } from '../ports/model.ts';
import type { ProposalRequest, Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { noUsage } from '../ports/usage.ts';
import { playedModel } from '../rollout/chat/chat-fixture.ts';
import { ChatRollouts } from '../rollout/chat/chat-rollouts.ts';
import { copyAnyPack, readAnyPack } from '../taskpack/read-any-pack.ts';
import { Hold } from './hold.ts';
import { runSession } from './run.ts';
import { Session } from './session.ts';
import type { SessionParts } from './session-parts.ts';
import { verifySession } from './verify.ts';

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true });
});

const seed = '---\nname: words\ndescription: says words\n---\n# Words\n';
const rules = { A: 'alpha-3141', B: 'beta-2718' } as const;

/** Six tasks a split: all ask for the word of rule A (weight 3), every other one for that of rule B, too (weight 1). */
function promptPack(): string {
  const tasks = ['train', 'selection', 'test'].flatMap((split) =>
    Array.from({ length: 6 }, (_, i) => ({
      id: `${split}-${i}`,
      prompt: `Say the words, case ${split} ${i}.`,
      checks: [{ contains: rules.A, weight: 3 }, ...(i % 2 === 1 ? [{ contains: rules.B }] : [])],
    })),
  );
  return JSON.stringify({ version: 1, name: 'words', system: 'Be brief.', tasks });
}

/** A model that says the word of each rule that stands in its system text. */
function answer(request: ModelRequest): string {
  const known = Object.entries(rules).filter(([rule]) => request.system.includes(`RULE ${rule}`));
  return ['Here you are:', ...known.map(([, word]) => word)].join(' ');
}

/** An optimizer that brings in rule A, then rule B, each for the first task that fails, and remembers what it was shown. */
function optimizer(): Proposals & { readonly shown: ProposalRequest[] } {
  const shown: ProposalRequest[] = [];
  return {
    shown,
    preflight: async () => [],
    async performProposal(request) {
      shown.push(request);
      const rule = request.text.includes('RULE A') ? 'B' : 'A';
      const wanted = request.failing.filter((f) => rule === 'B' || Number(f.task.at(-1)) % 2 === 0);
      const edit: Edit = {
        op: 'append_section',
        target: '',
        content: `RULE ${rule}`,
        cites: wanted.map((f) => f.task).slice(0, 1),
        reason: 'it fails',
      };
      return {
        kind: 'proposal',
        proposal: { edits: wanted.length > 0 ? [edit] : [], summary: '' },
        usage: noUsage,
        durationMs: 0,
      };
    },
  };
}

async function run(dir: string, metric: 'soft' | 'mixed', recover?: NonNullable<Rollouts['recover']>) {
  const model = playedModel(answer);
  const proposals = optimizer();
  const ids = (split: string) => Array.from({ length: 6 }, (_, i) => `${split}-${i}`);
  const config = checkConfig(
    {
      skill: 'words',
      pack: 'tasks.json',
      backend: 'chat',
      model: model.id,
      optimizer: 'played/optimizer',
      splits: { train: ids('train'), selection: ids('selection'), test: ids('test') },
      gate: { metric },
      search: { draftSize: 1, dryRounds: 2 },
      budget: { rollouts: 150 },
      workers: 3,
    },
    'test',
  );
  const parts: SessionParts = {
    bundleOf: async () => ({ bundle: '', files: [] }),
    async importSkill(_config, to) {
      mkdirSync(join(to, 'words'), { recursive: true });
      writeFileSync(join(to, 'words', 'SKILL.md'), seed);
      return { name: 'words', text: seed, bundle: '', files: [], from: 'words' };
    },
    importPack: (_config, to) => copyAnyPack(join(dir, 'tasks.json'), to),
    readPack: readAnyPack,
    refuseSecrets: async () => {},
    render: renderSession,
    now: () => '2026-01-01T00:00:00.000Z',
    program: 'test',
    newId: () => 'chat-session',
  };
  const session = await Session.open(dir, layersOf(config, { kind: 'file', path: dir }, dir), [], parts);
  try {
    const rollouts = new ChatRollouts({
      model,
      passThreshold: config.gate.passThreshold,
      sessionId: session.id,
      tasks: session.pack.tasks,
      unsandboxedAllowed: false,
      defaultTimeoutSec: 60,
      hostEnv: {},
      tempRoot: tmpdir(),
    });
    expect((await rollouts.preflight()).filter((f) => f.level === 'error')).toEqual([]);
    const end = await runSession(session, {
      rollouts: recover === undefined ? rollouts : Object.assign(rollouts, { recover }),
      proposals,
      redact: makeRedactor([]),
      leaks: leaksOf(session, dir),
      inputs: () => [],
      signal: new AbortController().signal,
      hold: new Hold(),
      workers: 3,
      backoffMs: [0],
      nowMs: () => 0,
      finalize: true,
    });
    return { end, model, proposals };
  } finally {
    session.close();
  }
}

test.each([
  ['soft', 0, 0.75, 1],
  ['mixed', 0, 0.375, 1],
] as const)(
  'a prompt pack with weights runs under %s from the seed to the sealed test',
  async (metric, none, partly, all) => {
    const dir = mkdtempSync(join(tmpdir(), 'skillopt-chat-session-'));
    made.push(dir);
    writeFileSync(join(dir, 'tasks.json'), promptPack());
    const { end, model, proposals } = await run(dir, metric);

    const events = readText(readFileSync(join(dir, 'skillopt.jsonl'), 'utf8')).lines.map((line) => line.event);
    const gates = events.filter((e): e is typeof e & EventOf<'gate.decided'> => e.type === 'gate.decided');
    expect(gates.map((g) => [g.metric, g.gateAction])).toEqual([
      [metric, 'accept'],
      [metric, 'accept'],
    ]);
    // Half of the tasks ask for both words: the means are those of the weights.
    expect(gates.map((g) => [g.selection.incumbent.mean, g.selection.candidate.mean])).toEqual([
      [none, (1 + partly) / 2],
      [(1 + partly) / 2, all],
    ]);
    const softs = new Set(
      events.flatMap((e) => (e.type === 'rollout.finished' && e.outcome.status === 'scored' ? [e.outcome.soft] : [])),
    );
    expect(softs).toEqual(new Set([0, 0.75, 1]));
    expect(end.finalize?.complete).toBe(true);
    const result = readFileSync(join(dir, 'best_skill.md'), 'utf8');
    expect([result.includes('RULE A'), result.includes('RULE B')]).toEqual([true, true]);

    // The optimizer is shown train alone, and never what the checks expect.
    const shown = JSON.stringify(proposals.shown);
    expect(shown).toContain('case train 1');
    for (const hidden of ['case selection', 'case test', rules.B, 'passed  contains'])
      expect(shown).not.toContain(hidden);

    const report = await verifySession(dir, renderSession, 'test');
    expect([report.problems, report.complete, report.finalized]).toEqual([[], true, true]);

    // All of it stands in the log: nothing is asked again.
    expect(model.asked.length).toBeGreaterThan(0);
    expect((await run(dir, metric)).model.asked).toEqual([]);
  },
);

test('a session that was killed asks its backend what became of its rollouts, before it tells them as lost', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'skillopt-chat-session-'));
  made.push(dir);
  writeFileSync(join(dir, 'tasks.json'), promptPack());
  await run(dir, 'soft');
  const file = join(dir, 'skillopt.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes('"rollout.finished"'));
  rmSync(join(dir, 'skillopt.md'));
  rmSync(join(dir, 'best_skill.md'));
  writeFileSync(file, `${lines.slice(0, at).join('\n')}\n`);
  let asked: readonly string[] = [];
  const { end } = await run(dir, 'soft', async (keys) => {
    asked = keys;
    return { finished: keys.slice(0, 1), notBegun: keys.slice(1, 2) };
  });
  expect(asked).toHaveLength(3);
  const anew = readText(readFileSync(file, 'utf8')).lines.slice(at);
  const told = (key: string | undefined) =>
    anew.flatMap(({ event }) => ('key' in event && event.key === key ? [event.type] : []));
  expect(asked.map(told)).toEqual([
    ['rollout.finished'],
    ['rollout.cancelled', 'rollout.started', 'rollout.finished'],
    ['rollout.lost', 'rollout.started', 'rollout.finished'],
  ]);
  expect(end.finalize?.complete).toBe(true);
  expect((await verifySession(dir, renderSession, 'test')).problems).toEqual([]);
});
