import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Journal, readText } from '../journal/journal.ts';
import { rechain } from '../journal/journal-fixture.ts';
import { SkilloptError } from '../ports/failure.ts';
import type { InputSource } from '../ports/inputs.ts';
import { decisionsOf, effectKeys, fork, parentOf } from './fork-fixture.ts';
import { placeOf } from './fork-parent.ts';
import { taskChanges } from './fork-tasks.ts';
import { Logged } from './logged.ts';
import { firstLines, type Play, type Played, play, randomLatency, until } from './session-fixture.ts';
import { problemsOf } from './verify-fixture.ts';

const base: Play = { world: { seed: 9, infra: 0.1 }, budget: 90, finalize: true };
const pool: Partial<Play> = { workers: 8, latency: randomLatency('a'), optimizerMs: 40 };

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (): unknown => null,
    (e: unknown) => (e instanceof SkilloptError ? e.failure : String(e)),
  );

const lineCount = (log: string) => log.split('\n').length - 1;
const gates = (log: string) => readText(log).lines.filter((l) => l.event.type === 'gate.decided');

/** Goes on with a fork; nothing that it inherited may be performed again. */
async function goOn(text: string, parent: Played, more: Partial<Play> = {}): Promise<Played> {
  const again = await play({ ...base, ...more, log: text, texts: parent.texts });
  const inherited = effectKeys(text);
  expect(again.dispatched.filter((key) => inherited.has(key))).toEqual([]);
  expect(await problemsOf(again.log)).toEqual([]);
  return again;
}

describe('a fork that changes nothing', () => {
  test.each([
    ['one worker', {}],
    ['eight workers that ran ahead', pool],
  ] as const)(
    'draws the parent’s decisions down to its step, and is sound after every line: %s',
    async (_n, more) => {
      const parent = await play({ ...base, ...more });
      const wanted = decisionsOf(parent.log);
      const steps = gates(parent.log).length;
      expect(steps).toBeGreaterThan(2);
      for (let at = 0; at <= steps; at++) {
        const { text, created, effects } = await fork(parent.log, { at });
        const drawn = decisionsOf(text);
        expect(drawn).toEqual(wanted.slice(0, drawn.length));
        expect(gates(text)).toHaveLength(at);
        expect(created.fork).toMatchObject({ session: 'sim', step: at, looks: 1, effects: effects.length });
        for (let n = 1; n <= lineCount(text); n++) expect(await problemsOf(firstLines(text, n))).toEqual([]);
        const child = await goOn(text, parent, more);
        expect(decisionsOf(child.log).slice(0, drawn.length)).toEqual(drawn);
        expect(child.state.rollouts.inherited).toBe(effects.filter((e) => e.type === 'rollout.finished').length);
        expect(child.state.rollouts.started).toBe(child.started);
        expect(child.started).toBe(child.dispatched.length);
      }
    },
    120_000,
  );

  const golden = join(import.meta.dir, 'golden');
  test.each(readdirSync(golden).filter((f) => f.endsWith('-world.jsonl')))(
    'goes on by the rules of its parent, not by those of today: %s',
    async (file) => {
      const log = readFileSync(join(golden, file), 'utf8');
      const { text, created } = await fork(log);
      expect(created.rules).toEqual([file.replace(/^loop-(\d+)-.*/, 'loop@$1')]);
      const drawn = decisionsOf(text);
      expect(drawn).toEqual(decisionsOf(log).slice(0, drawn.length));
      expect(gates(text)).toHaveLength(gates(log).length);
      expect(await problemsOf(text)).toEqual([]);
    },
  );

  test('takes notes and raised budgets along, at their turns; what came later is told', async () => {
    let rounds = 0;
    let raised = false;
    /** A note every second round, and one raise of the budget early on. */
    const inputs: InputSource = (point) => {
      if (point !== 'round') return [];
      rounds++;
      if (rounds === 3 && !raised) {
        raised = true;
        return [{ kind: 'budget.changed', rollouts: 160 }];
      }
      return rounds % 2 === 0 ? [{ kind: 'note', text: `note ${rounds}` }] : [];
    };
    const parent = await play({ ...base, ...pool, inputs });
    const wanted = decisionsOf(parent.log);
    const all = readText(parent.log).lines.filter((l) => l.event.type === 'input.received');
    expect(gates(parent.log).length).toBeGreaterThan(1);
    expect(all.some((l) => l.body.includes('budget.changed'))).toBe(true);
    for (const [i, gate] of gates(parent.log).entries()) {
      const { text, notes } = await fork(parent.log, { at: i + 1 });
      const above = all.filter((l) => l.event.seq < gate.event.seq);
      const copied = readText(text).lines.filter((l) => l.event.type === 'input.received');
      expect(copied.map((l) => l.body)).toEqual(above.map((l) => l.body));
      const drawn = decisionsOf(text);
      expect(drawn).toEqual(wanted.slice(0, drawn.length));
      expect(gates(text)).toHaveLength(i + 1);
      for (let n = 1; n <= lineCount(text); n += 3) expect(await problemsOf(firstLines(text, n))).toEqual([]);
      const wantsMore = await fork(parent.log, { at: i + 1, config: { budget: { rollouts: 300 } } });
      expect(decisionsOf(wantsMore.text)).toEqual(drawn);
      expect(Logged.read(Journal.memory(wantsMore.text).read()).logged.wanted?.budget).toBe(300);
      const later = all.slice(above.length).filter((l) => l.body.includes('"note"')).length;
      if (later > 0)
        expect(notes.join()).toMatch(new RegExp(`^${later} notes? (is|are) not carried over \\(given after`));
      await goOn(text, parent, pool);
    }
  });

  test('takes a moved environment along: outcomes of after it are known again', async () => {
    const first = await play(base);
    const drift = { kind: 'environment.changed', what: 'agent 1 → 2', versions: { agent: '2' } } as const;
    const at = gates(first.log)[0]?.event.seq ?? 0;
    const parent = await play({ ...base, budget: 200, drift, log: firstLines(first.log, at), texts: first.texts });
    const steps = gates(parent.log).length;
    expect(steps).toBeGreaterThan(1);
    const { text } = await fork(parent.log);
    expect(gates(text)).toHaveLength(steps);
    await goOn(text, parent);
  });

  test('of a fork inherits what the first one inherited', async () => {
    const parent = await play(base);
    const child = await goOn((await fork(parent.log, { at: 1 })).text, parent);
    const { text, created, effects } = await fork(child.log, { at: 1 });
    expect(created.fork).toMatchObject({ session: 'child', looks: 2 });
    expect(new Set(effects.map((e) => e.key))).toEqual(
      new Set((await fork(parent.log, { at: 1 })).effects.map((e) => e.key)),
    );
    expect(decisionsOf(text)).toEqual(decisionsOf(child.log).slice(0, decisionsOf(text).length));
  });
});

test('effects of the sealed test are never inherited, and the child’s own look is a second one', async () => {
  const parent = await play({ ...base, ...pool });
  expect(parent.final?.complete).toBe(true);
  const sealed = new Set(parent.state.tasks.test);
  for (const at of [0, gates(parent.log).length]) {
    const { text, effects } = await fork(parent.log, { at });
    expect(effects.filter((e) => e.type === 'rollout.finished' && sealed.has(e.task))).toEqual([]);
    expect([...sealed].filter((id) => text.includes(`"task":"${id}"`))).toEqual([]);
    const child = await goOn(text, parent);
    expect(child.final?.look).toBe(2);
    // written down as a first look, it is found
    const other = readText(child.log).lines.map(({ event }) =>
      'look' in event ? { ...event, look: 1 } : { ...event },
    ) as Record<string, unknown>[];
    expect((await problemsOf(rechain(other))).join()).toContain('opened as look 1');
  }
});

describe('a fork with something else', () => {
  test('with another gate rule uses what was paid and draws its own decisions', async () => {
    const parent = await play({ ...base, inputs: (point) => (point === 'round' ? [{ kind: 'note', text: 'n' }] : []) });
    const { text, created, changes, notes } = await fork(parent.log, {
      config: { gate: { rule: 'careful', metric: 'hard', passThreshold: 1 } },
    });
    expect(changes.map((d) => d.key)).toEqual(['gate.rule']);
    expect(created.config).toMatchObject({ gate: { rule: 'careful' } });
    expect(notes.join()).toMatch(/^\d+ notes are not carried over \(other decisions follow from the start on\): "n"/);
    for (let n = 1; n <= lineCount(text); n++) expect(await problemsOf(firstLines(text, n))).toEqual([]);
    const baseline = decisionsOf(parent.log).slice(0, 2);
    expect(decisionsOf(text).slice(0, 2)).toEqual(baseline);
    const child = await goOn(text, parent);
    expect(child.state.plan?.gate.rule).toBe('careful');
    expect(child.state.rollouts.inherited).toBeGreaterThan(12);
  });

  test('with a changed task keeps its split and rolls it anew; a new one goes to train', async () => {
    const parent = await play(base);
    const changed = (tasks: readonly { id: string; hash: string; instructionHash: string }[]) => [
      ...tasks.map((t) => (t.id === 'selection-2' ? { ...t, hash: 'f'.repeat(64) } : t)),
      { id: 'extra', hash: 'e'.repeat(64), instructionHash: 'e' },
    ];
    const { text, splits, effects, tasks } = await fork(parent.log, { tasks: changed });
    expect(tasks).toMatchObject({ changed: ['selection-2'], gone: [], added: ['extra'], renamed: [] });
    const ids = (list: readonly { id: string }[]) => list.map((t) => t.id).sort();
    expect(ids(splits.selection)).toEqual([...parent.state.tasks.selection].sort());
    expect(ids(splits.test)).toEqual([...parent.state.tasks.test].sort());
    expect(ids(splits.train)).toEqual(['extra', ...parent.state.tasks.train].sort());
    expect(effects.some((e) => e.type === 'rollout.finished' && e.task === 'selection-2')).toBe(false);
    expect(effects.length).toBeGreaterThan(10);
    expect(await problemsOf(text)).toEqual([]);
  });

  test('with tasks in no split leaves them there', async () => {
    const parent = await play(base);
    const lines = readText(parent.log).lines.map((l) => structuredClone(l.event) as unknown as Record<string, unknown>);
    const pack = lines[0]?.pack as { tasks: unknown[] };
    pack.tasks.push({ id: 'idle', hash: 'd'.repeat(64), instructionHash: 'd' });
    const log = rechain(lines);
    expect(await problemsOf(log)).toEqual([]);
    const { splits, tasks } = await fork(log, { at: 1 });
    expect([tasks.added, tasks.changed]).toEqual([[], []]);
    expect(JSON.stringify(splits)).not.toContain('idle');
  });

  test('with a new task that asks for what a test task asks for puts it beside that one', async () => {
    const parent = await play(base);
    const { splits } = await fork(parent.log, {
      tasks: (tasks) => [
        ...tasks,
        { ...tasks.find((t) => t.id === 'test-1'), id: 'again', hash: 'c'.repeat(64) } as never,
      ],
    });
    expect(splits.test.map((t) => t.id)).toContain('again');
  });

  test('with another agent inherits nothing but splits, and has the versions of now', async () => {
    const parent = await play(base);
    const { effects, created, decisions } = await fork(parent.log, {
      config: { agent: 'other' },
      versions: async () => ({ other: '7' }),
    });
    expect([effects, decisions]).toEqual([[], []]);
    expect(created.environment.versions).toEqual({ other: '7' });
  });

  test('with another skill inherits nothing but splits', async () => {
    const parent = await play(base);
    const text = `${parent.state.session?.skill.text}\nMore.\n`;
    const { effects, splits } = await fork(parent.log, { skillText: text });
    expect(effects).toEqual([]);
    expect(splits.test.map((t) => t.id).sort()).toEqual([...parent.state.tasks.test].sort());
  });

  test('with other splits, or an emptied one, is refused', async () => {
    const parent = await play(base);
    const { train, selection, test: sealed } = parent.state.tasks;
    expect(
      await failureOf(fork(parent.log, { config: { splits: { train: sealed, selection, test: train } } })),
    ).toMatchObject({ code: 'session-mismatch', where: 'splits' });
    expect(
      await failureOf(fork(parent.log, { tasks: (all) => all.filter((t) => !selection.slice(1).includes(t.id)) })),
    ).toMatchObject({ code: 'splits', what: expect.stringContaining('selection would be left with 1 task') });
  });
});

describe('the place', () => {
  test('a step that does not exist is refused, naming those that do', async () => {
    const parent = await play(base);
    const steps = gates(parent.log).map((_, i) => i + 1);
    expect(await failureOf(fork(parent.log, { at: 99 }))).toMatchObject({
      code: 'usage',
      what: 'this session has no step 99',
      fix: `the steps to fork at are 0 (the baseline), ${steps.join(', ')}`,
    });
  });

  test('without a finished baseline there is nothing to inherit', async () => {
    const { log } = await play(base);
    const train = readText(log).lines.findIndex((l) => l.body.includes('"split":"train"'));
    expect(await failureOf(fork(firstLines(log, train)))).toMatchObject({
      code: 'usage',
      fix: expect.stringContaining('skillopt run'),
    });
    expect((await fork(firstLines(log, train + 1))).created.fork?.step).toBe(0);
  });

  test('above a decision that this program draws otherwise is the last step, and none below it', async () => {
    const { log } = await play(base);
    const parent = parentOf(log);
    const [first, second] = gates(log).map((g) => g.event.seq);
    expect(placeOf(parent, null, second ?? 0, 'log')).toEqual({ step: 1, line: first ?? 0 });
    expect(placeOf(parent, null, first ?? 0, 'log').step).toBe(0);
    expect(await failureOf(fork(log, { at: 2, differsAt: second ?? 0 }))).toMatchObject({
      what: expect.stringContaining('decides otherwise from line'),
      fix: 'the steps to fork at are 0 (the baseline), 1',
    });
  });

  test('a search that ended for its budget goes on in a fork with a larger one', async () => {
    const parent = await play({ ...base, budget: 60, finalize: false });
    expect(parent.loop.cause).toBe('budget');
    const { text, created } = await fork(parent.log, { config: { budget: { rollouts: 200 } } });
    expect(created.wanted.budget).toBe(200);
    const waiting: Play['inputs'] = () => (asked++ === 0 ? [{ kind: 'budget.changed', rollouts: 200 }] : []);
    let asked = 0;
    const child = await goOn(text, parent, { inputs: waiting });
    expect(child.loop.planned).toBeGreaterThan(parent.loop.planned);
    expect(await until({ ...base, log: child.log, texts: parent.texts })).toMatchObject({ error: null });
  });
});

test('tasks are told apart by content first, then by name', () => {
  const ref = (id: string, hash: string) => ({ id, hash, instructionHash: hash });
  const before = [ref('a', '1'), ref('b', '2'), ref('c', '3'), ref('d', '4')];
  const swapped = taskChanges(before, [ref('a', '2'), ref('b', '1'), ref('c', '3'), ref('e', '5')]);
  expect(swapped).toMatchObject({ changed: [], gone: ['d'], added: ['e'] });
  expect(swapped.renamed).toEqual([
    { from: 'b', to: 'a' },
    { from: 'a', to: 'b' },
  ]);
  expect(taskChanges(before, before)).toMatchObject({ changed: [], gone: [], added: [], renamed: [] });
  const twins = [ref('a', '1'), ref('z', '1')];
  expect(taskChanges(twins, twins)).toMatchObject({ changed: [], gone: [], added: [], renamed: [] });
});
