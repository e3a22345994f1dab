import { afterAll, describe, expect, test } from 'bun:test';
import { accessSync, appendFileSync, constants, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { optimize } from '../engine/loop.ts';
import type { LoopPlan } from '../engine/plan.ts';
import type { Decision } from '../events/events.ts';
import { createRehearsalOptimizer, type RehearsalEdit } from '../optimizer/rehearsal.ts';
import type { Ask, EnginePorts } from '../ports/engine.ts';
import { type Outcome, scored } from '../ports/outcome.ts';
import type { ProposalRequest } from '../ports/proposals.ts';
import { splitNames, type Task } from '../ports/task.ts';
import type { Trajectory } from '../ports/trajectory.ts';
import { skillLines } from '../rollout/agents/rehearsal.ts';
import { readSkill } from '../skill/document.ts';
import { seedWarnings } from '../skill/seed-warnings.ts';
import { localProblems } from '../taskpack/check-local.ts';
import { missingCommands } from '../taskpack/commands.ts';
import {
  base,
  config,
  edits,
  environmentFiles,
  instructionOf,
  ops,
  pack,
  passing,
  rollout,
  roomFor,
  seed,
  solve,
  splitOf,
  taskDir,
  taskOf,
  tasks,
  verify,
  withEdits,
} from './hello-harbor.ts';

// The example's promise: no outcome of a rehearsal is written down anywhere. What is asserted here about edits and
// verdicts comes from commands that ran and from the verifiers of the pack.

afterAll(() => rmSync(base, { recursive: true, force: true }));

const kind = (k: RehearsalEdit['kind']) => edits.filter((e) => e.kind === k);
const without = (all: readonly string[], gone: readonly string[]) => all.filter((x) => !gone.includes(x));

// -- the pack --------------------------------------------------------------------------------------------------------

describe('the pack', () => {
  test('has at least 24 tasks, each in one split', () => {
    expect(tasks.length).toBeGreaterThanOrEqual(24);
    expect(splitNames.flatMap(splitOf).sort()).toEqual(tasks);
  });

  test('runs without a container, with commands that every machine has', async () => {
    for (const task of pack.tasks) expect(await localProblems(task)).toEqual([]);
    expect(missingCommands(pack.tasks, process.env.PATH ?? '')).toEqual([]);
  });

  test('no two tasks share an instruction', () => {
    expect(new Set(pack.tasks.map((t) => t.instructionHash)).size).toBe(tasks.length);
  });

  test.each(tasks)('%s is laid out as the others', (task) => {
    const dir = taskDir(task);
    expect(taskOf(task)).toMatchObject({ workdir: '/app', hasSolution: true, verifierTimeoutSec: 60 });
    expect(Bun.TOML.parse(readFileSync(join(dir, 'task.toml'), 'utf8'))).toMatchObject({ version: '1.0' });
    const [from, workdir, copy, ...rest] = readFileSync(join(dir, 'environment/Dockerfile'), 'utf8').split('\n');
    expect([from, workdir, ...rest]).toEqual(['FROM debian:bookworm-slim', 'WORKDIR /app', '']);
    const [, files] = /^COPY (.*) \/app\/$/.exec(copy ?? '') ?? [];
    expect(files?.split(' ').sort()).toEqual([...environmentFiles(task)]);
    for (const script of ['solution/solve.sh', 'tests/test.sh']) {
      accessSync(join(dir, script), constants.X_OK);
      expect(readFileSync(join(dir, script), 'utf8')).toStartWith('#!/bin/sh\n');
    }
  });

  test.each(tasks)('%s: the solution passes; nothing, too much, too little and a quoted skill fail', async (task) => {
    const solved = roomFor(task, null);
    expect((await solve(solved)).exitCode).toBe(0);
    expect((await verify(solved)).reward).toBe('1');
    expect((await verify(solved)).reward).toBe('1');

    const idle = await verify(roomFor(task, null));
    expect(idle.reward).toBe('0');
    expect(idle.reason.length).toBeGreaterThan(5);

    for (const output of expectedFiles(task)) {
      for (const spoil of [spoiled.gone, spoiled.longer, spoiled.empty, spoiled.quote]) {
        const room = roomFor(task, null);
        await solve(room);
        spoil(join(room.app, output));
        const { reward, reason } = await verify(room);
        expect([output, reward]).toEqual([output, '0']);
        expect(reason).toContain(output);
      }
    }
  });
});

const spoiled = {
  gone: (file: string) => rmSync(file),
  longer: (file: string) => appendFileSync(file, '1 more line\n'),
  empty: (file: string) => writeFileSync(file, ''),
  quote: (file: string) => writeFileSync(file, withEdits(seed, kind('useful'))),
};

function expectedFiles(task: string): readonly string[] {
  return readdirSync(join(taskDir(task), 'tests/expected'), { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name).slice(join(taskDir(task), 'tests/expected').length + 1));
}

// -- the skill and its edits -----------------------------------------------------------------------------------------

describe('the skill and the shipped edits', () => {
  test('the seed is short, and every edit brings in one line that the agent can follow', () => {
    expect(seed.split('\n').length).toBeLessThanOrEqual(60);
    expect(seedWarnings(readSkill(seed), 'hello-harbor')).toEqual([]);
    for (const e of edits) expect(skillLines(e.content).map((l) => l.phrase)).toEqual([e.phrase]);
  });

  test('no task can be passed without a skill; the seed passes two of each split, the useful edits nearly all', async () => {
    const final = withEdits(seed, kind('useful'));
    const table = await Promise.all(
      splitNames.map(async (split) => {
        const ids = splitOf(split);
        const arms = [null, seed, final].map(async (text) => (await passing(ids, text)).length);
        return [split, ids.length, ...(await Promise.all(arms))];
      }),
    );
    expect(table).toEqual([
      ['train', 9, 0, 2, 7],
      ['selection', 8, 0, 2, 7],
      ['test', 8, 0, 2, 7],
    ]);
  });

  test('each useful edit wins tasks of every split on top of those before it, and breaks none', async () => {
    let text = seed;
    for (const e of kind('useful')) {
      const next = withEdits(text, [e]);
      for (const split of splitNames) {
        const before = await passing(splitOf(split), text);
        const after = await passing(splitOf(split), next);
        expect([e.phrase, split, without(before, after)]).toEqual([e.phrase, split, []]);
        expect([e.phrase, split, without(after, before).length > 0]).toEqual([e.phrase, split, true]);
      }
      text = next;
    }
  });

  test('neutral edits win a task of train, none of selection or test, and break none', async () => {
    for (const text of [seed, withEdits(seed, kind('useful'))]) {
      for (const e of kind('neutral')) {
        const before = await passing(tasks, text);
        const after = await passing(tasks, withEdits(text, [e]));
        expect([e.phrase, without(before, after)]).toEqual([e.phrase, []]);
        const won = without(after, before);
        expect([e.phrase, won.length, without(won, splitOf('train'))]).toEqual([e.phrase, 1, []]);
      }
    }
  });

  test('harmful edits win a task of train, and break at least two of selection that the useful ones pass', async () => {
    const final = withEdits(seed, kind('useful'));
    for (const e of kind('harmful')) {
      const won = without(await passing(splitOf('train'), withEdits(seed, [e])), await passing(tasks, seed));
      expect(won.length).toBeGreaterThan(0);
      const lost = without(
        await passing(splitOf('selection'), final),
        await passing(splitOf('selection'), withEdits(final, [e])),
      );
      expect(lost.length).toBeGreaterThanOrEqual(2);
    }
  });

  test('mistaken edits win nothing', async () => {
    for (const e of kind('mistaken')) {
      const after = await passing(tasks, withEdits(seed, [e]));
      expect(without(after, await passing(tasks, seed))).toEqual([]);
    }
  });
});

// -- the course ------------------------------------------------------------------------------------------------------

/** The engine itself over real rollouts: agent, commands and verifiers decide; the list of edits is only offered. */
async function search(sessionSeed: string): Promise<readonly Decision[]> {
  const decisions: Decision[] = [];
  const optimizer = createRehearsalOptimizer({ edits });
  const shown = new Map<string, { readonly task: string; readonly trajectory: Trajectory }>();
  const [train, selection, testTasks] = splitNames.map((s) => splitOf(s).map(taskOf)) as [Task[], Task[], Task[]];
  const { draftSize, dryRounds, memory } = config.search;
  const plan: LoopPlan = {
    rule: 'loop@2',
    sessionSeed,
    seedText: seed,
    environment: 'local',
    train,
    selection,
    test: testTasks,
    gate: config.gate,
    editBudget: config.editBudget,
    search: { draftSize, dryRounds, memory },
    budget: config.budget.rollouts,
    seedAttempt: 'fresh',
  };
  const take = async (ask: Ask, text: string | null): Promise<Outcome> => {
    const { passed, trajectory } = await rollout(ask.task, text);
    shown.set(ask.key, { task: ask.task, trajectory });
    return scored({ reward: passed ? 1 : 0 }, passed ? 1 : 0, 1, { read: true });
  };
  const ports: EnginePorts<Decision> = {
    plan: () => {},
    guess: () => {},
    drop: () => {},
    inputs: async () => [],
    take,
    decide: async (decision) => void decisions.push(decision),
    async propose(ask, texts) {
      const failing = ask.failing.map(({ task, rollout: key }) => ({
        task,
        instruction: instructionOf(task),
        rollout: key,
        trajectory: shown.get(key)!.trajectory,
      }));
      const request: ProposalRequest = {
        ...ask,
        text: texts.draft,
        incumbentText: texts.incumbent,
        failing,
        passes: [],
      };
      const answer = await optimizer.performProposal(request, {
        signal: new AbortController().signal,
        check: (edit) => ops.apply(texts.draft, edit),
        onCall: () => {},
        mayCall: () => true,
      });
      if (answer.kind !== 'proposal') throw new Error(answer.kind);
      return { kind: 'proposal', proposal: answer.proposal };
    },
  };
  await optimize(plan, ports, ops);
  return decisions;
}

test.each(['1', '2', '3'])(
  'the course with seed %s: accept, tie, losses, accept, accept, and an honest end',
  async (s) => {
    const decisions = await search(s);
    const gates = decisions.flatMap((d) => (d.type === 'gate.decided' ? [d] : []));
    expect(gates.map((g) => [g.gateAction, g.edits.length, g.wins, g.losses, g.pairs, g.draftDropped])).toEqual([
      ['accept', 2, 2, 0, 8, false],
      ['reject', 2, 0, 0, 4, false],
      ['reject', 4, 2, 2, 7, true],
      ['accept', 2, 2, 0, 8, false],
      ['accept', 1, 2, 0, 16, false],
    ]);
    const end = decisions.find((d) => d.type === 'session.ended');
    expect(end).toMatchObject({ cause: 'plateau', result: 'improved', accepted: 3 });
    const added = decisions.findLast((d) => d.type === 'skill.added');
    const lines = (text: string) => [...skillLines(text)].sort((a, b) => (a.phrase < b.phrase ? -1 : 1));
    expect(lines(added?.type === 'skill.added' ? added.text : '')).toEqual(lines(withEdits(seed, kind('useful'))));
  },
);
