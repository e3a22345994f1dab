import { describe, expect, test } from 'bun:test';
import { readText } from '../journal/journal.ts';
import { rechain } from '../journal/journal-fixture.ts';
import type { ProposalRequest, Proposals } from '../ports/proposals.ts';
import { noUsage } from '../ports/usage.ts';
import { guidanceIn } from '../skill/guidance.ts';
import { decisionsOf, effectKeys, fork } from './fork-fixture.ts';
import { essence, firstLines, type Play, play, randomLatency } from './session-fixture.ts';
import { problemsOf } from './verify-fixture.ts';

/** Drafts and guidance are accepted and rejected in it, and one draft is put on top of new guidance. */
const base: Play = {
  world: { seed: 3, infra: 0.1 },
  budget: 150,
  finalize: true,
  search: { draftSize: 3, dryRounds: 3, memory: true },
  config: { slowUpdate: true },
};
const pool: Partial<Play> = { workers: 8, latency: randomLatency('a'), optimizerMs: 40 };

const rows = (log: string) =>
  readText(log).lines.flatMap(({ event }) => (event.type === 'gate.decided' ? [[event.kind, event.gateAction]] : []));

test('the plan says that guidance is distilled, and nothing where it is not', async () => {
  const planOf = (log: string) => readText(log).lines[2]?.event;
  expect(planOf((await play({ ...base, budget: 60 })).log)).toMatchObject({ type: 'plan.fixed', slowUpdate: true });
  const { log } = await play({ ...base, budget: 60, config: {} });
  expect(Object.keys(planOf(log) ?? {})).not.toContain('slowUpdate');
  expect(log).not.toContain('slow-update');
});

describe('a session with slow updates', () => {
  test('holds gates of both kinds, and a draft on top of new guidance', async () => {
    const { log, state } = await play(base);
    for (const row of [
      [undefined, 'accept'],
      [undefined, 'reject'],
      ['slow-update', 'accept'],
      ['slow-update', 'reject'],
    ] as const)
      expect(rows(log)).toContainEqual([...row]);
    expect(readText(log).lines.some(({ event }) => event.type === 'incumbent.changed' && event.draft)).toBe(true);
    expect(guidanceIn(state.skills.get(state.incumbent)?.text ?? '')).not.toBe('');
    expect(await problemsOf(log)).toEqual([]);
  });

  test('no order of arrivals changes a decision', async () => {
    const want = essence(await play(base));
    for (let i = 0; i < 8; i++) {
      const got = await play({
        ...base,
        workers: 1 + ((i * 5) % 12),
        latency: randomLatency(`p${i}`),
        optimizerMs: 7 * i,
        batches: i % 4 === 3,
      });
      expect(essence(got)).toEqual(want);
    }
  });

  test.each([
    ['one worker', { workers: 1 }],
    ['eight workers that run ahead', pool],
  ] as const)(
    'cut in a line or after it, it goes on to the same end, and nothing that finished is performed again: %s',
    async (_name, more) => {
      const full = await play({ ...base, ...more });
      const want = essence(full);
      const lines = full.log.split('\n').slice(0, -1);
      // every line around the asks for guidance and their gates, some of the others
      const near = new Set(
        lines.flatMap((l, at) =>
          l.includes('slow-update') ? [at - 1, at, at + 1, at + 2, at + 3] : at % 23 === 0 ? [at] : [],
        ),
      );
      for (const at of near) {
        const line = lines[at] ?? '';
        const log = firstLines(full.log, at) + (at % 2 === 0 ? line.slice(0, Math.floor(line.length / 2)) : '');
        const finished = effectKeys(firstLines(full.log, at));
        if (at > 0) expect(await problemsOf(firstLines(full.log, at))).toEqual([]);
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

  test('a changed line of its gate is found', async () => {
    const { log } = await play(base);
    const events = readText(log).lines.map(({ event }) => ({ ...event }) as Record<string, unknown>);
    const at = events.findIndex((e) => e.type === 'gate.decided' && e.kind === 'slow-update');
    const { kind: _kind, ...ofDraft } = events[at] ?? {};
    const problems = await problemsOf(rechain(events.with(at, ofDraft)));
    expect(problems.join()).toContain('slow-update');
  });

  test('a fork after any of its steps draws the parent’s decisions down to there', async () => {
    const parent = await play({ ...base, ...pool });
    const wanted = decisionsOf(parent.log);
    for (let at = 0; at <= rows(parent.log).length; at++) {
      const { text } = await fork(parent.log, { at });
      const drawn = decisionsOf(text);
      expect(drawn).toEqual(wanted.slice(0, drawn.length));
      expect(rows(text).length).toBe(at);
      expect(await problemsOf(text)).toEqual([]);
    }
  });

  test('a fork that turns it on keeps what was paid until the first guidance', async () => {
    const parent = await play({ ...base, config: {} });
    const { text, changes } = await fork(parent.log, { config: { slowUpdate: true } });
    expect(changes.map((d) => d.key)).toEqual(['slowUpdate']);
    const child = await play({ ...base, log: text, texts: parent.texts });
    expect(rows(child.log).some(([kind]) => kind === 'slow-update')).toBe(true);
    expect(child.state.rollouts.inherited).toBeGreaterThan(12);
    expect(await problemsOf(child.log)).toEqual([]);
  });
});

test('the optimizer is asked with the history and no rollout, and what it hands in is scanned for leaks', async () => {
  const asked: ProposalRequest[] = [];
  const proposals: Proposals = {
    preflight: async () => [],
    async performProposal(request) {
      asked.push(request);
      const content = request.kind === 'slow-update' ? 'Task selection-3 wants 42.' : `Round ${request.round}.`;
      const edit = {
        op: request.kind === 'slow-update' ? ('guidance' as const) : ('append_section' as const),
        target: '',
        content,
        cites: request.failing.slice(0, 1).map((f) => f.task),
        reason: '',
      };
      return { kind: 'proposal', proposal: { edits: [edit], summary: '' }, usage: noUsage, durationMs: 0 };
    },
  };
  const leaks: Play['leaks'] = async () => (e) => (e.content.includes('selection-3') ? 'line 1 names a task' : null);
  const { log } = await play({ ...base, budget: 70, finalize: false, proposals, leaks });
  const slow = asked.filter((r) => r.kind === 'slow-update');
  expect(slow.length).toBeGreaterThan(0);
  for (const request of slow) {
    expect([request.failing, request.passing, request.passes, request.atMost]).toEqual([[], [], [], 1]);
    expect(request.text).toBe(request.incumbentText);
    expect(request.tried.length).toBeGreaterThan(0);
  }
  const rejected = readText(log).lines.flatMap(({ event }) => (event.type === 'edit.rejected' ? [event.reason] : []));
  expect(rejected.filter((r) => r === 'leak').length).toBe(slow.length);
  expect(rows(log).some(([kind]) => kind === 'slow-update')).toBe(false);
});
