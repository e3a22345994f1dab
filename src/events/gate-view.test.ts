import { describe, expect, test } from 'bun:test';
import type { Input } from '../ports/inputs.ts';
import { type Play, partial, play } from '../session/session-fixture.ts';
import type { LoggedEvent } from './events.ts';
import { decidedGate, type GateView, openGate } from './gate-view.ts';
import { cutAndGoOn, eventsOf, goldenLogs, pool, watch } from './played-fixture.ts';

/** Kinds of gates that a log has held. */
type Seen = { gates: number; second: number; refreshed: number; cut: number; ahead: number; unscored: number };
const none = (): Seen => ({ gates: 0, second: 0, refreshed: 0, cut: 0, ahead: 0, unscored: 0 });

/** Holds the open gate against each verdict; `exact` = nothing runs ahead, so both have read the same pairs. */
function holdAgainst(events: readonly LoggedEvent[], exact: boolean, seen: Seen): void {
  let rejected = 0;
  watch(events, {
    before: (event, state) => {
      if (event.type !== 'gate.decided') return;
      seen.gates++;
      const view = openGate(state);
      if (event.why === 'environment-changed') return expect(view).toBeNull(); // what it had read counts no more
      if (event.pairs === 0) return expect(view?.pairs ?? 0).toBe(0);
      const read = view?.tasks.slice(0, event.pairs) ?? [];
      expect(read.map(({ task, block, before, after }) => ({ task, block, before, after }))).toEqual(
        event.tasks as typeof read,
      );
      expect(read.filter((t) => t.flip === 'win').length).toBe(event.wins);
      expect(read.filter((t) => t.flip === 'loss').length).toBe(event.losses);
      expect(view?.step).toBe(event.step);
      expect(view?.of).toBe(event.of);
      expect(view?.pairs).toBeGreaterThanOrEqual(event.pairs);
      if (exact) expect([view?.pairs, view?.wins, view?.losses]).toEqual([event.pairs, event.wins, event.losses]);
      if (event.tasks.some((t) => t.block > 0)) seen.second++;
      if (event.tasks.some((t) => t.before === null || t.after === null)) seen.unscored++;
      if (['budget', 'limit'].includes(event.why)) seen.cut++;
      if ((view?.pairs ?? 0) > event.pairs) seen.ahead++;
      if (rejected >= 3) seen.refreshed++;
      rejected = event.gateAction === 'reject' ? rejected + 1 : event.gateAction === 'accept' ? 0 : rejected;
    },
    after: (event, state) => {
      if (event.type === 'gate.decided' && state.running.size === 0) expect(openGate(state)).toBeNull();
      const view = openGate(state);
      if (view === null) return;
      expect(view.pairs).toBeLessThanOrEqual(view.of);
      expect(view.tasks.length).toBe(state.tasks.selection.length * (view.block + 1));
      expect(view.tasks.length).toBeLessThanOrEqual(view.of);
      expect(view.wins + view.losses).toBeLessThanOrEqual(view.pairs);
      expect(view.moreWins).toBeLessThanOrEqual(view.of - view.pairs);
      for (const t of view.tasks) if (t.flip !== null) expect(typeof t.before === 'number').toBe(true);
    },
  });
}

const base: Play = { world: { seed: 1 }, budget: 160 };
const seeds = [1, 2, 3, 5, 8, 9, 13, 21];
/** Raises the budget twice when it is spent. */
const raises = (): Play['inputs'] => {
  const left: Input[] = [90, 130].map((rollouts) => ({ kind: 'budget.changed', rollouts }));
  return (point) => (point === 'spent' ? left.splice(0, 1) : []);
};

describe('the gate that is on agrees with the verdict that follows', () => {
  test('one worker', async () => {
    const seen = none();
    for (const seed of seeds) holdAgainst(eventsOf((await play({ ...base, world: { seed } })).log), true, seen);
    expect(seen.gates).toBeGreaterThan(20);
    expect(seen.second).toBeGreaterThan(3);
    expect(seen.refreshed).toBeGreaterThan(0);
  });

  test.each(['soft', 'mixed'] as const)('scores under the metric %s', async (metric) => {
    const seen = none();
    for (const seed of seeds.slice(0, 4)) {
      const { log } = await play({ ...base, metric, meddle: partial, world: { seed } });
      holdAgainst(eventsOf(log), true, seen);
      holdPromises(eventsOf(log), new Set());
    }
    expect(seen.gates).toBeGreaterThan(8);
  });

  test('eight workers that run ahead, and rollouts without a score', async () => {
    const seen = none();
    for (const seed of seeds)
      holdAgainst(
        eventsOf((await play({ ...base, world: { seed, infra: 0.3 }, ...pool(`g${seed}`) })).log),
        false,
        seen,
      );
    expect(seen.second).toBeGreaterThan(3);
    expect(seen.unscored).toBeGreaterThan(3);
    expect(seen.ahead).toBeGreaterThan(0);
  });

  test.each([1, 8])('a gate that a budget cut off and that started anew, %d workers', async (workers) => {
    const seen = none();
    for (const seed of seeds)
      for (const budget of [50, 57, 64, 71]) {
        const more = workers === 1 ? {} : pool(`c${seed}`);
        const { log } = await play({
          ...base,
          world: { seed, infra: 0.1 },
          budget,
          inputs: raises() ?? (() => []),
          ...more,
        });
        holdAgainst(eventsOf(log), workers === 1, seen);
      }
    expect(seen.cut).toBeGreaterThan(3);
  });

  test('sessions that were ended in the middle and went on', async () => {
    const seen = none();
    for (const seed of seeds.slice(0, 4)) {
      const log = await cutAndGoOn({ ...base, world: { seed, infra: 0.3 }, ...pool(`r${seed}`) }, [0.4, 0.5, 0.6, 0.8]);
      expect(log).toContain('"type":"rollout.lost"');
      holdAgainst(eventsOf(log), false, seen);
    }
    expect(seen.gates).toBeGreaterThan(8);
  });

  test('an environment that changes on the way', async () => {
    const seen = none();
    for (const seed of seeds) {
      let points = 0;
      const { log } = await play({
        ...base,
        world: { seed },
        ...pool(`e${seed}`),
        inputs: (point) => {
          if (point !== 'block' || ++points % 3 !== 0) return [];
          return [{ kind: 'environment.changed', what: `agent ${points}`, versions: { agent: `${points}` } }];
        },
      });
      holdAgainst(eventsOf(log), false, seen);
    }
    expect(seen.gates).toBeGreaterThan(8);
  });

  test.each(goldenLogs())('%s', (_name, events) => {
    const seen = none();
    holdAgainst(events, false, seen);
    expect(seen.gates).toBeGreaterThan(3);
  });
});

test('a decided gate shows as the score table has it', async () => {
  const { state } = await play({ ...base, world: { seed: 3, infra: 0.1 } });
  expect(state.steps.length).toBeGreaterThan(2);
  for (const step of state.steps) {
    const view = decidedGate(step);
    expect([view.step, view.wins, view.losses, view.pairs, view.of]).toEqual([
      step.step,
      step.wins,
      step.losses,
      step.pairs,
      step.of,
    ]);
    expect(view.tasks.filter((t) => t.flip === 'win').length).toBe(step.wins);
    expect(view.tasks.filter((t) => t.flip === 'loss').length).toBe(step.losses);
  }
});

/** Holds what the open gate said of its end, line by line, against what its end was. */
function holdPromises(events: readonly LoggedEvent[], rules: Set<string>): void {
  let said: { readonly wins: number; readonly more: number }[] = [];
  watch(events, {
    after: (event, state) => {
      if (event.type === 'gate.decided') {
        rules.add(`${event.rule} ${event.of / state.tasks.selection.length}`);
        for (const { wins, more } of said) expect(event.wins).toBeLessThanOrEqual(wins + more);
        said = [];
      }
      const gate = openGate(state);
      if (gate) said.push({ wins: gate.wins, more: gate.moreWins });
    },
  });
}

describe('what can still be won at most, and of how many', () => {
  test.each(['balanced', 'bold', 'careful', 'skillopt'] as const)('under %s', async (gate) => {
    const rules = new Set<string>();
    for (const seed of seeds) {
      const { log } = await play({ ...base, budget: 240, gate, world: { seed, rules: 12, train: 12, selection: 8 } });
      holdAgainst(eventsOf(log), true, none());
      holdPromises(eventsOf(log), rules);
    }
    const expected = { balanced: ['balanced 2'], bold: ['balanced 2', 'bold 1'], careful: ['careful 3'] };
    expect([...rules].sort()).toEqual(gate === 'skillopt' ? ['skillopt 1'] : expected[gate]);
  });

  test('between two blocks the second one still is to come', async () => {
    let between = 0;
    for (const seed of seeds) {
      const { log } = await play({ ...base, world: { seed } });
      let last: GateView | null = null;
      watch(eventsOf(log), {
        before: (event, state) => {
          if (event.type === 'rollout.started') last = openGate(state);
        },
        after: (event, state) => {
          const gate = openGate(state);
          if (event.type !== 'rollout.started' || gate?.block !== 1 || last?.block !== 0) return;
          between++;
          const tasks = state.tasks.selection.length;
          expect([last.pairs, last.of]).toEqual([tasks, 2 * tasks]);
          expect(last.moreWins).toBeGreaterThan(0);
        },
      });
    }
    expect(between).toBeGreaterThan(3);
  });
});
