import { afterAll, describe, expect, test } from 'bun:test';
import { kindOf } from '../events/events.ts';
import { type LogLine, type Place, removePlaces } from './binary.ts';
import { countOf, demo, expectGivenBack, openDemo, untilLogged } from './screens.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';
import type { Terminal } from './terminal.ts';

afterAll(removePlaces);

// What a person may do with a run from its screen.

/** Slow enough that no run comes to its end before the keys do. */
const DELAY_MS = 150;

/** A demo that has decided its first gate. */
async function underWay(): Promise<{ readonly place: Place; readonly terminal: Terminal }> {
  const { place, terminal } = openDemo(DELAY_MS);
  await terminal.waitFor('✓ accept');
  return { place, terminal };
}

/** It was stopped in order and says what is kept. */
async function expectStopped(place: Place, terminal: Terminal): Promise<void> {
  expect(await terminal.ended).toEqual({ code: 130, signal: null });
  expectGivenBack(terminal);
  const screen = await terminal.history();
  expect(screen).toMatch(/^result +paused: stopped by the user$/m);
  expect(screen).toMatch(/^best skill +skillopt-demo\/best_skill.md/m);
  expect(screen).toContain('ended  the run was stopped; nothing that finished is lost');
  expect(screen).toContain('it goes on where it stopped');
  expect(place.leftovers(demo)).toEqual([]);
  await place.succeed(['verify', demo]);
}

/** It goes on to the result of the undisturbed run. */
async function expectGoesOn(place: Place): Promise<void> {
  await place.succeed(['demo']);
  expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  expect(performedAgain(place.events(demo))).toEqual([]);
}

/** The last line of the log by which the engine concluded something. */
const lastDecision = (events: readonly LogLine[]): string | undefined =>
  events.findLast((e) => kindOf(e.type) === 'decision')?.type;

describe('a run', () => {
  test('that is paused lets what runs come to its end and starts nothing; resumed it goes on', async () => {
    const { place, terminal } = await underWay();
    await using _ = terminal;
    await terminal.type('p');
    await terminal.waitFor('paused: nothing new starts');
    expect(await terminal.text()).toContain('[p] resume');
    await terminal.type('p');
    await terminal.waitFor('[p] pause');
    const more = countOf(place.events(demo), 'rollout.started');
    await untilLogged(place, demo, 'it has gone on', (events) => countOf(events, 'rollout.started') > more);
    await terminal.type('x');
    await terminal.waitFor(() => terminal.over());
    const events = place.events(demo);
    const [paused, resumed] = ['session.paused', 'session.resumed'].map((type) =>
      events.findIndex((e) => e.type === type),
    ) as [number, number];
    expect(paused).toBeGreaterThan(0);
    expect(resumed).toBeGreaterThan(paused);
    expect(countOf(events.slice(paused, resumed), 'rollout.started')).toBe(0);
    const before = events.slice(0, resumed);
    expect(countOf(before, 'rollout.finished')).toBe(countOf(before, 'rollout.started'));
    await expectStopped(place, terminal);
    await expectGoesOn(place);
  });

  test('that is to stop after its step does so; asked for again it does not', async () => {
    const { place, terminal } = await underWay();
    await using _ = terminal;
    await terminal.type('s');
    await terminal.waitFor('stops after this step');
    await terminal.type('s');
    await terminal.waitFor((screen) => !screen.includes('stops after this step'));
    const gates = countOf(place.events(demo), 'gate.decided');
    await untilLogged(place, demo, 'a step has passed', (events) => countOf(events, 'gate.decided') > gates);
    await terminal.type('q');
    await terminal.waitFor('[s] after this step');
    await terminal.type('s');
    await terminal.ended;
    expect(lastDecision(place.events(demo))).toBe('gate.decided');
    await expectStopped(place, terminal);
    await expectGoesOn(place);
  });

  test('asks before it is left; every no leaves it as it is, and yes stops it', async () => {
    const { place, terminal } = await underWay();
    await using _ = terminal;
    for (const no of ['n', 'esc', 'q'] as const) {
      await terminal.type('q');
      await terminal.waitFor('Stop? What finished is kept.');
      if (no === 'esc') await terminal.press('esc');
      else await terminal.type(no);
      await terminal.waitFor('[q] quit');
    }
    expect(countOf(place.events(demo), 'session.paused')).toBe(0);
    await terminal.type('q');
    await terminal.waitFor('Stop? What finished is kept.');
    await terminal.type('y');
    await expectStopped(place, terminal);
  });

  test('that is to finish ends its search and confirms what there is', async () => {
    const { place, terminal } = await underWay();
    await using _ = terminal;
    await terminal.type('F');
    await terminal.waitFor('End the search, confirm, then open the sealed test?');
    await terminal.type('n');
    await terminal.waitFor('[q] quit');
    await terminal.type('F');
    await terminal.waitFor('End the search, ');
    await terminal.type('y');
    await terminal.waitFor(/ends at the next point|confirmation/);
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expectGivenBack(terminal);
    const events = place.events(demo);
    expect(events.find((e) => e.type === 'session.ended')).toMatchObject({ cause: 'stopped' });
    const order = ['input.received', 'confirmation.finished', 'session.ended', 'finalize.finished'];
    expect(events.map((e) => e.type).filter((type) => order.includes(type))).toEqual(order);
    await place.succeed(['verify', demo]);
    expect(await terminal.history()).toMatch(/^result +sealed test: /m);
  });

  test('stops only by the keys that say so', async () => {
    const { place, terminal } = await underWay();
    await using _ = terminal;
    await terminal.press('esc', 'esc', 'ctrlD', 'backspace', 'delete');
    terminal.paste('quit\nx\ny\n');
    await terminal.type('zZ%0');
    const before = place.lines(demo);
    await untilLogged(place, demo, 'it goes on', () => place.lines(demo) > before + 5);
    expect(await terminal.text()).not.toContain('Stop?');
    await terminal.type('x');
    await terminal.waitFor(/Stopping in order|ended {2}/);
    await expectStopped(place, terminal);
  });
});
