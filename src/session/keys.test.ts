import { describe, expect, test } from 'bun:test';
import { conclusion } from '../events/conclusion.ts';
import { readText } from '../journal/journal.ts';
import { SkilloptError } from '../ports/failure.ts';
import { splitNames } from '../ports/task.ts';
import { decisionsOf, fork } from './fork-fixture.ts';
import { firstLines, type Play, play } from './session-fixture.ts';
import { problemsOf } from './verify-fixture.ts';

const base: Play = { world: { seed: 9, train: 9, infra: 0.1 }, budget: 140, finalize: true };
const search = { draftSize: 2, dryRounds: 2, memory: true };

const planOf = (log: string) => {
  const event = readText(log).lines[2]?.event;
  if (event?.type !== 'plan.fixed') throw new Error('line 3 is no plan');
  return event;
};

describe('ends of the search', () => {
  test.each([
    ['steps', { steps: 2 }],
    ['epochs', { epochs: 1 }],
    ['a batch', { batchSize: 2, steps: 3 }],
  ] as const)('a session with %s is sound after every line, and goes on from each to the same end', async (_, more) => {
    const whole = await play({ ...base, search: { ...search, ...more } });
    expect(whole.loop.cause).toBe('completed');
    expect(planOf(whole.log).search).toEqual({ ...search, ...more });
    const lines = whole.log.split('\n').length - 1;
    for (let n = 3; n <= lines; n += 17) {
      const cut = firstLines(whole.log, n);
      expect(await problemsOf(cut)).toEqual([]);
      const again = await play({ ...base, search: { ...search, ...more }, log: cut, texts: whole.texts });
      expect(decisionsOf(again.log)).toEqual(decisionsOf(whole.log));
    }
  });

  test('what is not set does not stand in the plan, as it did not before it could be', async () => {
    const { log } = await play({ ...base, search });
    expect(Object.keys(planOf(log).search)).toEqual(['draftSize', 'dryRounds', 'memory']);
  });

  test('a fork with more steps takes over all that was paid and goes on behind the last one', async () => {
    const parent = await play({ ...base, finalize: false, search: { ...search, steps: 2 } });
    expect(parent.loop).toMatchObject({ cause: 'completed', steps: 2 });
    const { text, changes } = await fork(parent.log, { config: { search: { ...search, steps: 3 } } });
    expect(changes.map((d) => d.key)).toEqual(['search.steps']);
    expect(decisionsOf(text).filter((d) => d.includes('"gate.decided"'))).toEqual(
      decisionsOf(parent.log).filter((d) => d.includes('"gate.decided"')),
    );
    const child = await play({ ...base, finalize: false, log: text, texts: parent.texts });
    expect(child.loop).toMatchObject({ cause: 'completed', steps: 3 });
    expect(await problemsOf(child.log)).toEqual([]);
  });

  test('where nothing was kept the next step is to set it higher', async () => {
    const { state, loop } = await play({
      ...base,
      finalize: false,
      search: { ...search, epochs: 1, draftSize: 50 },
      world: { seed: 3, selection: 16, offers: [0, 1, 0] },
    });
    expect(loop).toMatchObject({ cause: 'completed', accepted: 0, result: 'no-measurable-difference' });
    expect(conclusion(state, '.', null).next).toBe(
      'set search.steps or search.epochs higher and go on in a fork: skillopt fork',
    );
  });
});

describe('a limit on the tasks of a split', () => {
  test('cuts each of them, is told, verifies, and is kept by a fork', async () => {
    const parent = await play({ ...base, config: { taskLimit: 3 } });
    expect(parent.state.splits).toEqual({ train: 3, selection: 3, test: 3 });
    expect(await problemsOf(parent.log)).toEqual([]);
    const tasks = readText(parent.log).lines.flatMap(({ event }) =>
      event.type === 'rollout.finished' ? [event.task] : [],
    );
    expect(new Set(tasks).size).toBe(9);
    const extra = { id: 'extra', hash: 'e'.repeat(64), instructionHash: 'e' };
    const { splits } = await fork(parent.log, { at: 0, tasks: (all) => [...all, extra] });
    for (const name of splitNames)
      expect(splits[name].map((t) => t.id).sort()).toEqual([...parent.state.tasks[name]].sort());
    const other = await fork(parent.log, { config: { taskLimit: 4 } }).then(
      () => null,
      (e) => (e instanceof SkilloptError ? e.failure : e),
    );
    expect(other).toMatchObject({ code: 'session-mismatch', what: expect.stringContaining('taskLimit (was 3, is 4)') });
  });
});
