import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kindOf } from '../events/events.ts';
import { readText } from '../journal/journal.ts';
import { rechain } from '../journal/journal-fixture.ts';
import type { Input, InputSource } from '../ports/inputs.ts';
import { scored } from '../ports/outcome.ts';
import { essence, firstLines, type Play, play, randomLatency, until } from './session-fixture.ts';
import { verifySession } from './verify.ts';
import { verified } from './verify-fixture.ts';

/** A small world with gates of every kind: 10 % of the rollouts end unscored. */
const base: Play = { world: { seed: 9, infra: 0.1 }, budget: 90, finalize: true };
const pool: Partial<Play> = { workers: 8, latency: randomLatency('a'), optimizerMs: 40 };

/** Hands these over at the first point that comes. */
const once = (inputs: readonly Input[]): InputSource => {
  let left = inputs;
  return () => {
    const now = left;
    left = [];
    return now;
  };
};

async function verdictOn(log: string): Promise<string[]> {
  return (await verified(log)).problems.map((p) => `${p.where.split('skillopt.jsonl')[1]} ${p.what}`);
}

describe('a document in other words', () => {
  test('is no fault when another version of the program wrote it, and one of this version is', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'skillopt-verify-'));
    try {
      const { log } = await play(base);
      const { lines, hash } = readText(log).end.head;
      const text = `In other words.\nlog ${lines} lines, head ${hash}\n`;
      writeFileSync(join(dir, 'skillopt.jsonl'), log);
      writeFileSync(join(dir, 'skillopt.md'), text);
      const verdict = async (program: string) => {
        const { problems, documentBy } = await verifySession(dir, () => 'In these words.', program);
        return [problems.filter((p) => p.where.endsWith('skillopt.md')).map((p) => p.kind), documentBy];
      };
      expect(await verdict('test')).toEqual([['not derived'], null]);
      expect(await verdict('another')).toEqual([[], 'test']);
      // which line it names is held against the log all the same
      writeFileSync(join(dir, 'skillopt.md'), text.replace(hash, '0'.repeat(32)));
      expect(await verdict('another')).toEqual([['changed'], 'test']);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('arrivals', () => {
  test('no order of arrivals changes a decision, with any number of workers, alone or in batches', async () => {
    const want = essence(await play(base));
    expect(want.final?.complete).toBe(true);
    for (let i = 0; i < 24; i++) {
      const got = await play({
        ...base,
        workers: 1 + (i % 12),
        latency: randomLatency(`p${i}`),
        optimizerMs: 7 * i,
        batches: i % 4 === 3,
      });
      expect(essence(got)).toEqual(want);
    }
  });

  test('one worker without latency starts exactly what is consumed', async () => {
    const { started, log } = await play(base);
    const consumed = readText(log).lines.flatMap(({ event }) => ('consumed' in event ? event.consumed : []));
    expect(started).toBe(consumed.filter((k) => !k.startsWith('reflection/')).length);
  });
});

describe('a session that is ended after every append, and in the middle of every line', () => {
  test.each([
    ['one worker', { workers: 1 }],
    ['eight workers that run ahead', pool],
  ] as const)(
    '%s',
    async (_name, more) => {
      const full = await play({ ...base, ...more });
      const want = essence(full);
      const lines = full.log.split('\n').slice(0, -1);
      for (let at = 0; at <= lines.length; at++)
        for (const torn of [false, true]) {
          const line = lines[at];
          if (torn && line === undefined) continue;
          const log =
            firstLines(full.log, at) + (torn && line ? line.slice(0, 1 + ((at * 7919) % (line.length - 1))) : '');
          const finished = new Set(
            readText(log).lines.flatMap(({ event }) =>
              event.type === 'rollout.finished' || event.type === 'reflection.finished' ? [event.key] : [],
            ),
          );
          const again = await play({
            ...base,
            ...more,
            log,
            texts: full.texts,
            ...(more === pool ? { latency: randomLatency(`c${at}`) } : {}),
          });
          expect(essence(again)).toEqual(want);
          expect(again.dispatched.filter((k) => finished.has(k))).toEqual([]);
        }
    },
    240_000,
  );
});

describe('inputs', () => {
  /** A note every third round, and one raise of the budget. */
  const feed = (): InputSource => {
    let rounds = 0;
    let raised = false;
    return (point) => {
      if (point === 'spent' && !raised) {
        raised = true;
        return [{ kind: 'budget.changed', rollouts: 100 }];
      }
      if (point !== 'round') return [];
      rounds++;
      return rounds % 3 === 0 ? [{ kind: 'note', text: `note ${rounds}` }] : [];
    };
  };

  test('are given again at their turn: cut anywhere, the same run', async () => {
    const full = await play({ ...base, ...pool, inputs: feed() });
    const want = essence(full);
    const n = full.log.split('\n').length - 1;
    const last = readText(full.log).lines.findLastIndex((l) => l.event.type === 'input.received') + 1;
    expect(last).toBeGreaterThan(10);
    for (let at = last; at <= n; at += 5) {
      const again = await play({
        ...base,
        ...pool,
        log: firstLines(full.log, at),
        texts: full.texts,
        latency: randomLatency(`i${at}`),
      });
      expect(essence(again)).toEqual(want);
    }
  });
});

describe('an environment that moved between two starts', () => {
  const drift = { kind: 'environment.changed', what: 'agent 1 → 2', versions: { agent: '2' } } as const;
  /** The new agent passes everything, whatever the skill. */
  const always: Play['meddle'] = (report) =>
    report.kind === 'finished'
      ? { ...report, result: { ...report.result, outcome: scored({ reward: 1 }, 1, 1, { read: true }) } }
      : report;

  test('no comparison holds outcomes of both, wherever the run was cut', async () => {
    const o: Play = { ...base, ...pool, world: { seed: 9 } };
    const full = await play(o);
    const lines = full.log.split('\n').length - 1;
    let told = 0;
    for (let at = 5; at < lines; at += 3) {
      const again = await play({
        ...o,
        log: firstLines(full.log, at),
        texts: full.texts,
        latency: randomLatency(`d${at}`),
        drift,
        meddle: always,
      });
      const events = readText(again.log).lines.map((l) => l.event);
      const moved = events.findIndex((e) => e.type === 'input.received' && e.input.kind === 'environment.changed');
      // what was performed after the log had ended is of the new environment
      const performed = events.slice(at).filter((e) => e.type === 'rollout.finished');
      if (performed.length === 0) continue;
      told++;
      expect(moved).toBeGreaterThanOrEqual(at);
      const world = (key: string) => key.split('/')[2] ?? '';
      const [created] = events;
      const old = created?.type === 'session.created' ? created.environment.fingerprint : '';
      for (const e of performed) expect(world(e.key)).not.toBe(old);
      for (const e of events.slice(moved)) {
        if (e.type !== 'gate.decided' && e.type !== 'confirmation.finished' && e.type !== 'finalize.finished') continue;
        const worlds = new Set(e.consumed.filter((k) => !k.startsWith('reflection')).map(world));
        if (worlds.size <= 1) continue;
        // begun in the old one: a gate has no verdict, a confirmation starts anew, a sealed test says so
        if (e.type === 'gate.decided') expect([e.gateAction, e.why]).toEqual(['indecisive', 'environment-changed']);
        if (e.type === 'confirmation.finished') expect(new Set(e.consumed.slice(-2 * e.of).map(world)).size).toBe(1);
        if (e.type === 'finalize.finished') expect(e.environmentChanged).toBe('agent 1 → 2');
      }
      expect(await verdictOn(again.log)).toEqual([]);
    }
    expect(told).toBeGreaterThan(30);
  }, 120_000);
});

describe('a limit on what is really started', () => {
  test('is never passed, not by run-ahead, confirmation or finalize, nor over a resume', async () => {
    for (const rollouts of [75, 90, 110]) {
      const o: Play = { ...base, ...pool, budget: 400, limits: { rollouts, minutes: null } };
      const full = await play(o);
      expect(full.started).toBeLessThanOrEqual(rollouts);
      expect(full.loop.cause).toBe('limit');
      expect(await verdictOn(full.log)).toEqual([]);
      const at = readText(full.log).lines.findIndex((l) => l.event.type === 'input.received') + 1;
      for (let cut = at; cut < full.log.split('\n').length; cut += 3) {
        const again = await play({
          ...o,
          log: firstLines(full.log, cut),
          texts: full.texts,
          latency: randomLatency(`l${cut}`),
        });
        expect(essence(again)).toEqual(essence(full));
        expect(again.started).toBeLessThanOrEqual(rollouts);
      }
    }
  }, 120_000);

  test('that cuts the confirmation short says nothing of the result: it waits for a higher one', async () => {
    const o: Play = { ...base, world: { seed: 9 }, budget: 90 };
    const free = await play(o);
    expect(free.loop.result).toBe('improved');
    const lines = readText(free.log).lines.map((l) => l.event);
    // killed again and again in the confirmation, what is lost uses up its reserve
    const confirming = lines.findIndex((e) => e.type === 'rollout.started' && e.line === 'confirmation');
    const started = lines.slice(0, confirming).filter((e) => e.type === 'rollout.started').length;
    let log = firstLines(free.log, confirming);
    const limits = { rollouts: started + 3 + 24, minutes: null }; // three for the confirmation beside what finalize keeps
    const cut = await until({ ...o, limits, log, texts: free.texts });
    expect((cut.error as { failure?: { where: string } }).failure?.where).toBe('limits.rollouts');
    log = cut.log;
    expect(await verdictOn(log)).toEqual([]);
    // a word that is no raise does not end the waiting
    const note = await until({
      ...o,
      limits,
      log,
      texts: free.texts,
      inputs: once([
        { kind: 'note', text: 'n' },
        { kind: 'budget.changed', rollouts: 95 },
      ]),
    });
    expect((note.error as { failure?: { where: string } }).failure?.where).toBe('limits.rollouts');
    log = note.log;
    expect(await verdictOn(log)).toEqual([]);
    const raise: Play['inputs'] = (point) =>
      point === 'spent' ? [{ kind: 'limits.changed', limits: { rollouts: null, minutes: null } }] : [];
    const again = await play({ ...o, limits, log, texts: free.texts, inputs: raise });
    expect(again.loop.result).toBe('improved');
    expect(again.state.confirmation?.pairs).toBe(6);
    expect(await verdictOn(again.log)).toEqual([]);
  });

  test('that cuts the sealed test short waits for a higher one, too', async () => {
    const o: Play = { ...base, budget: 90 };
    const free = await play(o);
    const lines = readText(free.log).lines.map((l) => l.event);
    const opened = lines.findIndex((e) => e.type === 'finalize.started') + 1;
    const started = lines.slice(0, opened).filter((e) => e.type === 'rollout.started').length;
    const limits = { rollouts: started + 5, minutes: null };
    const cut = await until({ ...o, limits, log: firstLines(free.log, opened), texts: free.texts });
    expect((cut.error as { failure?: { what: string } }).failure?.what).toContain('sealed test');
    expect(await verdictOn(cut.log)).toEqual([]);
    const raise: Play['inputs'] = (point) =>
      point === 'spent' ? [{ kind: 'limits.changed', limits: { rollouts: null, minutes: null } }] : [];
    const again = await play({ ...o, limits, log: cut.log, texts: free.texts, inputs: raise });
    expect(again.final?.complete).toBe(true);
    expect(again.final?.arms.map((a) => a.score.of)).toEqual([6, 6, 6]);
    const consumed = readText(again.log).lines.flatMap(({ event }) => ('consumed' in event ? event.consumed : []));
    expect(new Set(consumed).size).toBe(consumed.length);
    expect(await verdictOn(again.log)).toEqual([]);
  });

  test('minutes end the search; the confirmation still follows', async () => {
    const slow = randomLatency('slow');
    const o: Play = { ...base, workers: 4, latency: (key) => 10 * slow(key), budget: 400 };
    const free = await play(o);
    const minutes = (0.7 * free.virtualMs) / 60_000;
    expect(minutes).toBeGreaterThan(0.1);
    const full = await play({ ...o, limits: { rollouts: null, minutes } });
    expect(full.loop.cause).toBe('limit');
    expect(full.loop.accepted).toBeGreaterThan(0);
    expect(full.state.confirmation).not.toBeNull();
  });
});

describe('verify', () => {
  test('an untouched log follows from itself, whole and cut after every line', async () => {
    const { log } = await play({ ...base, ...pool });
    const n = log.split('\n').length - 1;
    for (let at = 1; at <= n; at += 4) expect(await verdictOn(firstLines(log, at))).toEqual([]);
    expect(await verdictOn(log)).toEqual([]);
  });

  test('a line that is no event is refused with its line', async () => {
    const { log } = await play(base);
    const all = readText(log).lines.map((l) => structuredClone(l.event) as unknown as Record<string, unknown>);
    const at = all.findIndex((e) => e.type === 'rollout.finished');
    for (const wrong of [
      { ...all[at], outcome: { status: 'scored', hard: 2 } },
      { ...all[at], type: 'rollout.won' },
      { ...all[at], usage: null },
    ])
      await expect(verdictOn(rechain([...all.slice(0, at), wrong, ...all.slice(at + 1)]))).rejects.toThrow(
        `line ${at + 1}`,
      );
  });

  test('a finished session performs nothing when it is opened again', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const o: Play = {
        ...base,
        ...pool,
        world: { seed, infra: 0.1 },
        limits: { rollouts: 60 + 3 * seed, minutes: null },
        budget: 200,
      };
      const full = await play(o);
      const again = await play({ ...o, log: full.log, texts: full.texts });
      expect(again.log).toBe(full.log);
    }
  });

  test('a changed byte breaks the chain, at its line', async () => {
    const { log } = await play(base);
    const lines = log.split('\n').slice(0, -1);
    for (let i = 0; i < lines.length - 1; i += 5) {
      const line = lines[i] ?? '';
      const at = (i * 131) % line.length;
      const other = line.slice(0, at) + (line[at] === '0' ? '1' : '0') + line.slice(at + 1);
      const changed = [...lines.slice(0, i), other, ...lines.slice(i + 1)].map((l) => `${l}\n`).join('');
      expect(() => readText(changed)).toThrow(/broken at line/);
    }
  });

  test('with the chain written anew, replay still finds what was consumed, concluded or put in', async () => {
    const { log } = await play({
      ...base,
      ...pool,
      inputs: (point) => (point === 'round' ? [{ kind: 'note', text: 'n' }] : []),
    });
    const events = () => readText(log).lines.map((l) => structuredClone(l.event) as unknown as Record<string, unknown>);
    const original = events();
    const consumed = new Set(original.flatMap((e) => (e.consumed as string[] | undefined) ?? []));
    const found: string[] = [];
    const missed: string[] = [];
    const probe = async (what: string, change: (all: Record<string, unknown>[]) => Record<string, unknown>[]) => {
      const problems = await verdictOn(rechain(change(events()))).catch((e: unknown) => [String(e)]);
      (problems.length > 0 ? found : missed).push(what);
    };
    for (const [i, e] of original.entries()) {
      const type = String(e.type);
      const kind = kindOf(type);
      const at = (all: Record<string, unknown>[]) => all[i] as Record<string, never>;
      if (type === 'rollout.finished' && consumed.has(String(e.key))) {
        if (i % 3 !== 0) continue;
        await probe(`flipped ${i}`, (all) => {
          const outcome = at(all).outcome as unknown as { status: string; hard?: number };
          at(all).outcome = (
            outcome.status === 'scored'
              ? { ...outcome, hard: 1 - (outcome.hard ?? 0), soft: 1 - (outcome.hard ?? 0) }
              : { status: 'scored', hard: 1, soft: 1, rewards: { reward: 1 }, read: true }
          ) as never;
          return all;
        });
        await probe(`dropped ${i}`, (all) => all.filter((_, k) => k !== i));
      }
      if (type === 'reflection.finished') {
        await probe(`changed proposal ${i}`, (all) => {
          const answer = at(all).answer as unknown as { proposal: { edits: { content: string }[] } };
          const edit = answer.proposal.edits[0];
          if (edit) edit.content += ' x';
          return all;
        });
        await probe(`dropped proposal ${i}`, (all) => all.filter((_, k) => k !== i));
      }
      if (type === 'input.received') {
        await probe(`changed input ${i}`, (all) => {
          at(all).input = { kind: 'note', text: 'other' } as never;
          return all;
        });
        await probe(`moved input ${i}`, (all) => {
          at(all).turn = (Number(e.turn) + 1) as never;
          return all;
        });
        await probe(`dropped input ${i}`, (all) => all.filter((_, k) => k !== i));
      }
      if (kind === 'decision' && i < original.length - 1) {
        await probe(`dropped decision ${i}`, (all) => all.filter((_, k) => k !== i));
        for (const field of Object.keys(e).filter((k) => !['v', 'seq', 'at', 'prev', 'type'].includes(k)))
          if ((i + field.length) % 3 === 0)
            await probe(`changed ${type}.${field} ${i}`, (all) => {
              const was = at(all)[field] as unknown;
              at(all)[field] = (
                typeof was === 'number'
                  ? was + 1
                  : typeof was === 'boolean'
                    ? !was
                    : typeof was === 'string'
                      ? `${was}z`
                      : Array.isArray(was)
                        ? [...was, was[0] ?? 'z']
                        : was === null
                          ? 'z'
                          : null
              ) as never;
              return all;
            });
      }
    }
    expect(missed).toEqual([]);
    expect(found.length).toBeGreaterThan(60);
  }, 120_000);

  test('an input that stands below the decision that took it is found', async () => {
    const { log } = await play({
      ...base,
      inputs: (point) => (point === 'round' ? [{ kind: 'note', text: 'n' }] : []),
    });
    const events = readText(log).lines.map((l) => structuredClone(l.event) as unknown as Record<string, unknown>);
    const input = events.findIndex((e) => e.type === 'input.received');
    const decision = events.findIndex((e, i) => i > input && e.consumed !== undefined);
    const moved = [
      ...events.slice(0, input),
      ...events.slice(input + 1, decision + 1),
      events[input] ?? {},
      ...events.slice(decision + 1),
    ];
    expect((await verdictOn(rechain(moved))).join()).toContain('stands below');
  });

  test('an effect that stands below its decision is found', async () => {
    const { log } = await play(base);
    const events = readText(log).lines.map((l) => structuredClone(l.event) as unknown as Record<string, unknown>);
    const effect = events.findIndex((e) => e.type === 'rollout.finished');
    const decision = events.findIndex((e) => e.consumed !== undefined);
    const moved = [
      ...events.slice(0, effect),
      ...events.slice(effect + 1, decision + 1),
      events[effect] ?? {},
      ...events.slice(decision + 1),
    ];
    expect((await verdictOn(rechain(moved))).join()).toContain('stands below');
  });

  test('seed text, splits and plan must follow from the first line', async () => {
    const { log } = await play(base);
    const events = () => readText(log).lines.map((l) => structuredClone(l.event) as unknown as Record<string, never>);
    const changed = async (i: number, change: (e: Record<string, unknown>) => void) => {
      const all = events();
      change(all[i] as unknown as Record<string, unknown>);
      return (await verdictOn(rechain(all))).join();
    };
    expect(
      await changed(0, (e) => {
        (e.skill as { text: string }).text += 'x';
      }),
    ).toContain('hash');
    expect(
      await changed(1, (e) => {
        (e.train as unknown[]).pop();
      }),
    ).toContain('splits');
    expect(
      await changed(2, (e) => {
        e.budget = 91;
      }),
    ).toContain('plan');
  });
});
