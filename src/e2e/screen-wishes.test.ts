import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type LogLine, Place, removePlaces, until } from './binary.ts';
import { OwnSession, splits, undisturbed } from './own-pack.ts';
import { countOf, demo, expectGivenBack, inShell, untilLogged } from './screens.ts';
import { essence } from './sessions.ts';
import type { Terminal } from './terminal.ts';

afterAll(removePlaces);

// What a wish of the user must never lead to.

/** State of a process as the system has it: `T` = stopped (Linux). */
const stateOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .slice(0, 1);

/** A run with its sealed test to come, all of whose confirmation is at work and can end only when it is let go. */
async function confirming(): Promise<{ readonly own: OwnSession; readonly terminal: Terminal }> {
  const own = new OwnSession(new Place(), { config: { workers: 2 * splits.selection.length } });
  own.block(splits.selection, '"line":"confirmation"');
  const terminal = own.inTerminal(['run', 'session', '--finalize']);
  await until('all of the confirmation is at work', () => own.waiting() === 2 * splits.selection.length);
  return { own, terminal };
}

/** Paused in its confirmation, which has then come to its end: the search is over, and the test still sealed. */
async function pausedBeforeTheTest(): Promise<{ readonly own: OwnSession; readonly terminal: Terminal }> {
  const { own, terminal } = await confirming();
  await terminal.type('p');
  await terminal.waitFor('[p] resume');
  own.free();
  const ended = (events: readonly LogLine[]) => countOf(events, 'session.ended') === 1;
  await untilLogged(own.place, 'session', 'the confirmation is through', ended);
  await terminal.waitFor('paused: nothing new starts');
  expect(countOf(own.place.events('session'), 'finalize.started')).toBe(0);
  return { own, terminal };
}

describe('a pause', () => {
  test('in the confirmation keeps the sealed test closed until it is resumed', async () => {
    const run = await pausedBeforeTheTest();
    await using _ = run.terminal;
    await run.terminal.type('p');
    expect(await run.terminal.ended).toEqual({ code: 0, signal: null });
    expect(await essence(run.own.place, 'session')).toEqual(await undisturbed({ finalize: true }));
  });

  test('that is ended by a stop leaves the test sealed, and the next start opens it', async () => {
    const run = await pausedBeforeTheTest();
    await using _ = run.terminal;
    await run.terminal.press('ctrlC');
    expect((await run.terminal.ended).code).toBe(130);
    expect(countOf(run.own.place.events('session'), 'finalize.started')).toBe(0);
    await run.own.succeed(['run', 'session', '--finalize']);
    expect(await essence(run.own.place, 'session')).toEqual(await undisturbed({ finalize: true }));
  });

  test('keeps what a flag has asked for', async () => {
    const own = new OwnSession(new Place());
    const { budget } = JSON.parse(own.place.read('session', 'skillopt.config.json')) as {
      budget: { rollouts: number };
    };
    const wanted = budget.rollouts + 7;
    own.block(splits.selection);
    await using terminal = own.inTerminal(['run', 'session', '--budget', String(wanted)]);
    await until('a rollout is at work', () => own.waiting() > 0);
    await terminal.type('p');
    await terminal.waitFor('[p] resume');
    await terminal.type('p');
    await terminal.waitFor('[p] pause');
    own.free();
    await terminal.ended;
    const resumed = own.place.events('session').find((e) => e.type === 'session.resumed');
    expect(resumed).toMatchObject({ within: true, wanted: { budget: wanted } });
  });
});

describe('ctrl+z', () => {
  test('puts the process to sleep on a normal screen; awake again it draws whole and goes on', async () => {
    const place = new Place();
    const { terminal, pid, left } = inShell(place, 'demo --delay 150');
    await using _ = terminal;
    await terminal.waitFor('✓ accept');
    const sleeper = pid();
    await terminal.press('ctrlZ');
    await until('it sleeps', () => stateOf(sleeper) === 'T');
    await until('the terminal is given back', () => !terminal.onAlternateScreen);
    expectGivenBack(terminal);
    const before = place.lines(demo);
    process.kill(-terminal.pid, 'SIGCONT');
    await terminal.waitFor('✓ accept');
    expect(terminal.onAlternateScreen).toBe(true);
    await until('it has gone on', () => place.lines(demo) > before + 10);
    expect((await terminal.lines())[0]).toContain('skillopt hello-harbor');
    await terminal.type('x');
    expect((await left()).code).toBe(130);
  });
});
