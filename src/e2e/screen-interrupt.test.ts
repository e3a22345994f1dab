import { afterAll, describe, expect, test } from 'bun:test';
import { markedProcesses, Place, removePlaces, until } from './binary.ts';
import { OwnSession, splits, undisturbed } from './own-pack.ts';
import { inShell } from './screens.ts';
import { essence, performedAgain } from './sessions.ts';

afterAll(removePlaces);

// Ctrl-C and signals on the live screen, in each phase that a run has.

/** Longest time from a signal to the last trace of what ran. */
const GONE_MS = 30_000;

/** What is kept waiting, from which line of the log on, and what the header says meanwhile. */
const phases = {
  baseline: { block: splits.selection, since: '"seq":1,', says: 'baseline' },
  screening: { block: splits.train, since: '"type":"reflection.finished"', says: 'step 1 · round 1' },
  gate: { block: splits.selection, since: '"type":"screening.decided"', says: 'at the gate' },
  confirmation: { block: splits.selection, since: '"line":"confirmation"', says: 'confirmation' },
  'sealed test': { block: splits.test, since: '"seq":1,', says: 'sealed test' },
} as const;
type Phase = keyof typeof phases;

/** A session on its live screen, in a shell, in this phase, with verifiers that stay at work until they are let go. */
async function atWork(phase: Phase, o: { readonly stubborn?: boolean; readonly more?: string } = {}) {
  const { block, since, says } = phases[phase];
  const own = new OwnSession(new Place());
  const command = phase === 'sealed test' ? 'finalize' : 'run';
  if (command === 'finalize') await own.succeed(['run', 'session']);
  own.block([...block, ...(o.stubborn ? ['stubborn'] : [])], since);
  const shell = inShell(own.place, `${command} session ${o.more ?? ''}`, { env: own.env });
  await until('verifiers are at work', () => shell.terminal.over() || own.waiting() > 0);
  await shell.terminal.waitFor(says);
  return { own, command, ...shell };
}

/** The session goes on from what it has, to what it would have come to without the stop. */
async function expectGoesOn(own: OwnSession, command: string): Promise<void> {
  own.free();
  await own.succeed([command, 'session']);
  expect(await essence(own.place, 'session')).toEqual(await undisturbed({ finalize: command === 'finalize' }));
  expect(performedAgain(own.place.events('session'))).toEqual([]);
  expect(own.place.leftovers('session')).toEqual([]);
  await own.place.succeed(['verify', 'session']);
}

const marked = (own: OwnSession) => markedProcesses(String(own.place.events('session')[0]?.session));

describe('on the live screen', () => {
  test.each([
    ['ctrl+c', 'baseline'],
    ['ctrl+c', 'screening'],
    ['ctrl+c', 'gate'],
    ['ctrl+c', 'confirmation'],
    ['ctrl+c', 'sealed test'],
    ['SIGINT', 'gate'],
    ['SIGTERM', 'screening'],
    ['SIGHUP', 'confirmation'],
  ] as const)(
    '%s once in the %s stops in order; the terminal is given back, and the session goes on',
    async (how, phase) => {
      const { own, command, terminal, pid, left } = await atWork(phase);
      await using _ = terminal;
      if (how === 'ctrl+c') await terminal.press('ctrlC');
      else process.kill(pid(), how);
      const { code, screen } = await left();
      expect(code).toBe(130);
      expect(screen).toMatch(/^result +paused: stopped by the user$/m);
      expect(screen).toMatch(/^log +\d+ lines, head /m);
      expect(screen).toContain('ended  the run was stopped; nothing that finished is lost');
      expect(own.place.leftovers('session')).toEqual([]);
      await expectGoesOn(own, command);
    },
  );

  test.each([
    ['ctrl+c', 130, 'baseline'],
    ['ctrl+c', 130, 'screening'],
    ['ctrl+c', 130, 'gate'],
    ['ctrl+c', 130, 'confirmation'],
    ['ctrl+c', 130, 'sealed test'],
    ['SIGINT', 130, 'baseline'],
    ['SIGTERM', 143, 'gate'],
    ['SIGTERM', 143, 'sealed test'],
  ] as const)('%s twice (%d) in the %s ends at once; the terminal is given back', async (how, wanted, phase) => {
    const { own, command, terminal, pid, left } = await atWork(phase, { stubborn: true });
    await using _ = terminal;
    const strike = async () => {
      if (how === 'ctrl+c') await terminal.press('ctrlC');
      else process.kill(pid(), how);
    };
    await strike();
    await terminal.waitFor('Stopping in order; what finished is kept.');
    await strike();
    const { code, screen } = await left();
    expect(code).toBe(wanted);
    expect(screen).not.toContain('failed'); // the orderly stop has not come to its end
    expect(marked(own)).toEqual([]);
    if (phase === 'gate') await expectGoesOn(own, command);
  });

  test.each([1, 2])('ctrl+c pressed %d times while it opens leaves a session that goes on', async (times) => {
    const own = new OwnSession(new Place());
    own.block(splits.selection);
    const { terminal, left } = inShell(own.place, 'run session', { env: own.env });
    await using _ = terminal;
    await terminal.waitFor('skillopt');
    for (let i = 0; i < times; i++) await terminal.press('ctrlC');
    const { code } = await left();
    expect(code).toBe(130);
    await expectGoesOn(own, 'run');
  });

  test('a terminal that is closed stops the run in order', async () => {
    const { own, command, terminal, pid } = await atWork('gate', { more: '2> ../errors' });
    const running = pid();
    terminal.hangUp(); // the system tells of it twice: as the terminal goes, and as the shell does
    await until('it is gone', () => !isAlive(running), GONE_MS);
    expect(own.place.leftovers('session')).toEqual([]);
    const paused = own.place.events('session').find((e) => e.type === 'session.paused');
    expect(paused).toMatchObject({ why: 'stopped by the user' });
    expect(own.place.read('../errors')).toStartWith('ended  the run was stopped; nothing that finished is lost\n');
    await expectGoesOn(own, command);
    await terminal.close();
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
