import { describe, expect, test } from 'bun:test';
import type { ProposeAsk } from '../ports/engine.ts';
import { basePlan, line, needs, play, refs, type Script } from './script-fixture.ts';

const search = (more: object) => ({ search: { ...basePlan.search, ...more } });
const oneAtATime: Script = {
  outcome: needs,
  propose: (ask) => ask.failing.slice(0, 1).map((f) => line(`fix ${f.task}`, f.task)),
};
const useless: Script = { outcome: () => 0, propose: () => [] };

describe('search.steps', () => {
  test.each([1, 2, 3])('the search ends after gate %i, and its result is confirmed', async (steps) => {
    const selection = { selection: refs('s', 6) };
    const whole = await play(oneAtATime, { ...search({ draftSize: 1 }), ...selection });
    expect(whole.end.steps).toBeGreaterThan(3);
    const { ports, end } = await play(oneAtATime, { ...search({ draftSize: 1, steps }), ...selection });
    expect([end.cause, end.steps]).toEqual(['completed', steps]);
    const upTo = ports.decisions.findLastIndex((d) => d.type === 'gate.decided');
    expect(ports.decisions.slice(0, upTo + 1)).toEqual(whole.ports.decisions.slice(0, upTo + 1));
    const after = ports.decisions.slice(upTo + 1).map((d) => d.type);
    const accepted = ['skill.added', 'incumbent.changed'] as const;
    const isAccepted = ports.of('gate.decided').at(-1)?.gateAction === 'accept';
    // no train task is rolled out for a step that never comes
    expect(after).toEqual([
      ...(isAccepted ? accepted : []),
      ...(end.accepted > 0 ? (['confirmation.finished'] as const) : []),
      'session.ended',
    ]);
  });

  test('a gate that budget or environment cuts off is none of them', async () => {
    let moved = false;
    const { ports, end } = await play(
      {
        ...oneAtATime,
        inputs: (point) => {
          if (point !== 'block' || moved) return [];
          moved = true;
          return [{ kind: 'environment.changed', what: 'image', versions: { image: '2' } }];
        },
      },
      search({ draftSize: 1, steps: 1 }),
    );
    expect(ports.of('gate.decided').map((d) => d.why)).toEqual(['environment-changed', expect.any(String)]);
    expect(ports.of('gate.decided')[1]?.gateAction).not.toBe('indecisive');
    expect(end.cause).toBe('completed');
  });

  test('more of them than the budget has room for change nothing', async () => {
    const few = await play(oneAtATime, search({}));
    const many = await play(oneAtATime, search({ steps: 1000, epochs: 1000, batchSize: 1000 }));
    expect(many.ports.decisions).toEqual(few.ports.decisions);
  });
});

describe('search.epochs', () => {
  test.each([1, 2])('the search ends where full sweep %i would begin the next one', async (epochs) => {
    const { ports, end } = await play(useless, search({ epochs }));
    expect(end.cause).toBe('completed');
    const sweeps = ports.of('evaluation.finished').filter((d) => d.split === 'train');
    expect(sweeps.map((d) => d.why)).toEqual(['seed', 'sweep'].slice(0, epochs));
    expect(ports.asks.length).toBe(epochs * basePlan.search.dryRounds);
  });

  test('a draft that no gate has seen meets it before the end', async () => {
    const once: Script = {
      outcome: needs,
      propose: (ask) => (ask.round === 1 ? oneAtATime.propose(ask, '') : []),
    };
    const { ports, end } = await play(once, search({ epochs: 1 }));
    expect([end.cause, end.result, end.accepted]).toEqual(['completed', 'improved', 1]);
    expect(ports.of('gate.decided').length).toBe(1);
  });

  test('a sweep that the environment asks for begins no epoch', async () => {
    let moved = false;
    const { ports, end } = await play(
      {
        ...useless,
        inputs: (point) => {
          if (point !== 'round' || moved) return [];
          moved = true;
          return [{ kind: 'environment.changed', what: 'image', versions: { image: '2' } }];
        },
      },
      search({ epochs: 1 }),
    );
    expect(end.cause).toBe('completed');
    expect(ports.asks.length).toBe(basePlan.search.dryRounds);
  });
});

describe('search.batchSize', () => {
  test('bounds the failing tasks that a reflection is given, and with them the edits that it may hand in', async () => {
    const seen = new Set<string>();
    const asks: ProposeAsk[] = [];
    const { ports } = await play(
      {
        ...useless,
        propose: (ask) => {
          asks.push(ask);
          for (const f of ask.failing) seen.add(f.task);
          return [];
        },
      },
      { ...search({ batchSize: 1 }), train: refs('t', 9) },
    );
    expect(ports.asks.every((ask) => ask.failing.length === 1 && ask.atMost === 1)).toBe(true);
    // rounds draw other tasks
    expect(seen.size).toBeGreaterThan(2);
  });
});
