import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { evaluate } from '../engine/evaluate.ts';
import { withoutWorld } from '../engine/guard-fixture.ts';
import { readText } from '../journal/journal.ts';
import { rechain } from '../journal/journal-fixture.ts';
import { scored } from '../ports/outcome.ts';
import { Paused } from './ends.ts';
import { drawTasks, evalPlan } from './eval-first-line.ts';
import { type PlayEval, playEval, untilEnd } from './eval-fixture.ts';
import { Logged } from './logged.ts';
import { RecordedPorts } from './recorded-ports.ts';
import { firstLines, randomLatency } from './session-fixture.ts';
import { verifyEvaluation } from './verify-evaluation.ts';

const dir = mkdtempSync(join(tmpdir(), 'skillopt-eval-'));
afterAll(() => rmSync(dir, { recursive: true }));

async function verdictOn(log: string): Promise<readonly string[]> {
  writeFileSync(join(dir, 'skillopt-eval.jsonl'), log);
  const { problems } = await verifyEvaluation(dir, () => '', 'test');
  return problems.map((p) => p.what);
}

const decisionsOf = (log: string) => readText(log).lines.flatMap((l) => ('consumed' in l.event ? [l.body] : []));

/** Two arms, three attempts, a tenth of the tries unscored. */
const base: PlayEval = { tasks: 5, attempts: 3, infra: 0.2 };

describe('the plan', () => {
  test('arms are interleaved task by task and pass by pass', async () => {
    const { dispatched, state } = await playEval({ tasks: 2, attempts: 2, arms: ['skill', 'no-skill', 'other'] });
    const arms = new Map(state.created!.arms.map((a) => [a.skill, a.arm]));
    const tasks = new Map(state.created!.pack.tasks.map((t) => [t.hash.slice(0, 12), t.id]));
    const order = dispatched.map((key) => {
      const [skill = '', task = '', , attempt] = key.split('/');
      return `${tasks.get(task)} ${arms.get(skill)} ${attempt}`;
    });
    expect(order).toEqual(
      [0, 1].flatMap((pass) =>
        ['task-0', 'task-1'].flatMap((t) => ['skill', 'no-skill', 'other'].map((a) => `${t} ${a} ${pass}.0`)),
      ),
    );
  });

  test('with latency no arm runs ahead of another by more than the workers', async () => {
    const { dispatched, state } = await playEval({ tasks: 20, workers: 4, latency: randomLatency('i') });
    const [skill] = state.created!.arms.map((a) => a.skill);
    let ahead = 0;
    for (const key of dispatched) {
      ahead += key.startsWith(`${skill}/`) ? 1 : -1;
      expect(Math.abs(ahead)).toBeLessThanOrEqual(1);
    }
  });

  test('no order of arrivals changes the decision', async () => {
    const want = decisionsOf((await playEval(base)).log);
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.integer({ min: 1, max: 12 }), fc.boolean(), async (seed, workers, batches) => {
        const got = await playEval({ ...base, workers, batches, latency: randomLatency(seed) });
        expect(decisionsOf(got.log)).toEqual(want);
        expect(got.state.rows).toEqual(got.result.tasks);
      }),
      { numRuns: 25 },
    );
  });

  test('the engine touches no clock, randomness or timer', async () => {
    const { log } = await playEval(base);
    const { logged } = Logged.read(
      (function* () {
        const { lines, end } = readText(log);
        yield* lines;
        return end;
      })(),
    );
    const result = await withoutWorld(() => evaluate(evalPlan(logged.evaluation!), new RecordedPorts(logged, null)));
    expect(result.tasks).toHaveLength(5);
  });

  test('tasks are drawn by the seed and by what they are: fewer are among more, and order does not matter', () => {
    const tasks = Array.from({ length: 30 }, (_, i) => ({ hash: `h${i}` }));
    for (let n = 1; n < 30; n++) {
      const drawn = drawTasks(tasks, n, '1');
      expect(drawn).toHaveLength(n);
      for (const t of drawn) expect(drawTasks(tasks, n + 1, '1')).toContain(t);
      expect(new Set(drawTasks([...tasks].reverse(), n, '1'))).toEqual(new Set(drawn));
    }
    expect(drawTasks(tasks, 10, '1')).not.toEqual(drawTasks(tasks, 10, '2'));
    expect(drawTasks(tasks, null, '1')).toBe(tasks);
    expect(drawTasks(tasks, 31, '1')).toBe(tasks);
  });
});

describe('an attempt without a score', () => {
  test('gets two more tries, and is then left out', async () => {
    const { result, dispatched } = await playEval({
      tasks: 2,
      arms: ['skill'],
      outcome: (key, task) =>
        task === 'task-0' || key.endsWith('.2')
          ? null
          : { status: 'unscored', reason: 'verifier-timeout', detail: 'slow' },
      chance: () => 1,
    });
    expect(dispatched).toHaveLength(4);
    expect(result.tasks.map((t) => t.arms[0]?.attempts[0]?.passed)).toEqual([true, true]);
    const never = await playEval({ tasks: 2, infra: 1 });
    expect(never.dispatched).toHaveLength(2 * 2 * 3);
    expect(never.result.tasks.flatMap((t) => t.arms.flatMap((a) => a.attempts))).toEqual(
      Array(4).fill({ passed: null, soft: null, read: null }),
    );
  });
});

describe('a task for which the skill is not meant', () => {
  const pass = (read: boolean | null) => () => scored({ reward: 1 }, 1, 1, { read });
  const passedOf = async (o: PlayEval) =>
    (await playEval({ tasks: 2, silent: ['task-1'], ...o })).result.tasks.map((t) =>
      t.arms.map((a) => a.attempts[0]?.passed),
    );

  test('is failed by opening it; without a skill there is none to open', async () => {
    expect(await passedOf({ outcome: pass(true) })).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(await passedOf({ outcome: pass(false) })).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  test('counts by its checks where it can’t be told, or where the agent does not choose', async () => {
    expect((await passedOf({ outcome: pass(null) }))[1]).toEqual([true, true]);
    expect((await passedOf({ outcome: pass(true), opens: false }))[1]).toEqual([true, true]);
  });
});

describe('resume', () => {
  test('cut after every line, it ends in the same decision and performs nothing twice', async () => {
    const o: PlayEval = { ...base, workers: 4, latency: randomLatency('r') };
    const { log } = await playEval(o);
    const lines = log.split('\n').length - 1;
    for (let n = 1; n <= lines; n++) {
      const cut = firstLines(log, n);
      const again = await playEval({ ...o, log: cut, latency: randomLatency(`again ${n}`) });
      expect(decisionsOf(again.log)).toEqual(decisionsOf(log));
      const done = new Set(
        readText(cut).lines.flatMap(({ event }) => (event.type === 'rollout.finished' ? [event.key] : [])),
      );
      expect(again.dispatched.filter((key) => done.has(key))).toEqual([]);
      expect(await verdictOn(again.log)).toEqual([]);
    }
    expect((await playEval({ ...o, log })).log).toBe(log);
  });

  test('a limit pauses it with what is left, and a higher one lets it go on', async () => {
    const o: PlayEval = { ...base, workers: 3, latency: randomLatency('l') };
    const { log: full } = await playEval(o);
    for (const rollouts of [1, 7, 20]) {
      const limited = { ...o, limits: { rollouts, minutes: null } };
      const { log, error } = await untilEnd(limited);
      expect(error).toBeInstanceOf(Paused);
      expect((error as Paused).failure.what).toMatch(
        new RegExp(`^the limit of ${rollouts === 1 ? 'one rollout' : `${rollouts} rollouts`} is reached, with \\d+ `),
      );
      expect(await verdictOn(log)).toEqual([]);
      const still = await untilEnd({ ...limited, log });
      expect(still.error).toBeInstanceOf(Paused);
      const raised = { rollouts: null, minutes: null };
      let told = false;
      const again = await playEval({
        ...o,
        log: still.log,
        limits: raised,
        inputs: () => {
          if (told) return [];
          told = true;
          return [{ kind: 'limits.changed', limits: raised }];
        },
      });
      expect(again.result.tasks.map((t) => t.task)).toEqual(
        (await playEval({ ...o, log: full })).result.tasks.map((t) => t.task),
      );
      for (const t of again.result.tasks) for (const a of t.arms) expect(a.attempts).toHaveLength(3);
      expect(await verdictOn(again.log)).toEqual([]);
      const keys = readText(again.log).lines.flatMap(({ event }) =>
        event.type === 'rollout.finished' ? [event.key] : [],
      );
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  test('a higher limit has to be no more than what is left: nothing is rolled out that nobody reads', async () => {
    const o: PlayEval = { ...base, infra: 0, workers: 3, latency: randomLatency('n') };
    const all = 5 * 3 * 2;
    for (const rollouts of [1, 7, 29]) {
      const { log } = await untilEnd({ ...o, limits: { rollouts, minutes: null } });
      const limits = { rollouts: all, minutes: null };
      const raise = [{ kind: 'limits.changed' as const, limits }];
      const again = await playEval({ ...o, log, limits, inputs: () => raise.splice(0) });
      expect(again.state.rollouts.started).toBe(all);
      expect(await verdictOn(again.log)).toEqual([]);
    }
  });

  test('minutes bound it, too', async () => {
    const o: PlayEval = { tasks: 20, latency: () => 60_000, limits: { rollouts: null, minutes: 5 } };
    const { error } = await untilEnd(o);
    expect((error as Paused).failure.what).toMatch(/^the limit of 5 minutes is reached, with 3\d rollouts left$/);
  });

  test('in a changed environment what is left is measured there, and the result says so', async () => {
    const { log } = await playEval({ ...base, infra: 0 });
    const again = await playEval({
      ...base,
      infra: 0,
      log: firstLines(log, 12),
      drift: { kind: 'environment.changed', what: 'model 1 → 2', versions: { model: '2' } },
    });
    expect(again.result.environmentChanged).toBe('model 1 → 2');
    expect(again.dispatched.length).toBeGreaterThan(0);
    for (const t of again.result.tasks) for (const a of t.arms) expect(a.attempts).toHaveLength(3);
    expect(await verdictOn(again.log)).toEqual([]);
  });
});

describe('the golden log', () => {
  const golden = readFileSync(join(import.meta.dir, 'golden-eval/eval-1.jsonl'), 'utf8');

  test('is sound after every line, and whole', async () => {
    const lines = golden.split('\n').length - 1;
    for (let n = 1; n <= lines; n++) expect(await verdictOn(firstLines(golden, n))).toEqual([]);
    const report = await verifyEvaluation(dir, () => '', 'test');
    expect([report.complete, report.decisions]).toEqual([true, 1]);
  });

  test('with its chain written anew, every change to what was counted is found', async () => {
    const events = () =>
      readText(golden).lines.map((l) => structuredClone(l.event) as unknown as Record<string, unknown>);
    const changes: ((e: Record<string, unknown>) => boolean)[] = [
      (e) => flip(e),
      (e) => e.type === 'eval.created' && change(e, 'attempts', 3),
      (e) =>
        e.type === 'eval.created' &&
        change(e.arms as never, '0', { ...((e.arms as never)[0] as object), text: 'other' }),
      (e) => e.type === 'eval.created' && change(e.environment as never, 'passThreshold', 0.5),
      (e) => e.type === 'eval.created' && change(e.environment as never, 'opens', false),
      (e) => e.type === 'eval.created' && change(e, 'rehearsal', !e.rehearsal),
      (e) => e.type === 'eval.finished' && change(e, 'environmentChanged', 'x'),
      (e) => e.type === 'eval.finished' && change(e, 'seen', ''),
    ];
    for (const make of changes) {
      const all = events();
      expect(all.some(make)).toBe(true);
      expect(await verdictOn(rechain(all)).catch((e: Error) => [e.message])).not.toEqual([]);
    }
  });
});

function change(of: Record<string, unknown>, key: string, to: unknown): true {
  of[key] = to;
  return true;
}

function flip(e: Record<string, unknown>): boolean {
  const outcome = e.outcome as { status: string; hard: number; soft: number } | undefined;
  if (e.type !== 'rollout.finished' || outcome?.status !== 'scored') return false;
  return change(e, 'outcome', { ...outcome, hard: 1 - outcome.hard, soft: 1 - outcome.hard });
}
