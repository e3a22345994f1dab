import { afterAll, describe, expect, test } from 'bun:test';
import { Place, removePlaces, until } from './binary.ts';
import { hashOf, OwnSession, splits, undisturbed } from './own-pack.ts';
import { demo, expectGivenBack, inShell, openDemo } from './screens.ts';
import { copyOfDemo, essence, finishedDemo } from './sessions.ts';
import { Terminal } from './terminal.ts';

afterAll(removePlaces);

const report = ['result', 'confirmed', 'ended', 'power', 'spent', 'best skill', 'directory', 'command', 'next', 'log'];
const namesOf = (screen: string): readonly string[] =>
  screen
    .slice(screen.search(/^result /m))
    .split('\n')
    .map((line) => line.slice(0, 12).trim())
    .filter((name) => name !== '');

describe('at its end', () => {
  test('the screen leaves by itself, and the report stands where the command was typed', async () => {
    const { place, terminal } = openDemo(10);
    await using _ = terminal;
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expectGivenBack(terminal);
    expect(namesOf(await terminal.history())).toEqual(report);
    expect(terminal.output).toContain('\x1b[?1049h');
    expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  });

  test('a finished demo shows its report again, without a screen', async () => {
    const place = await copyOfDemo();
    const before = hashOf(place.path(demo));
    await using terminal = Terminal.open(place, ['demo']);
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expect(terminal.output).not.toContain('\x1b');
    expect(await terminal.history()).toStartWith('this demo has run before; --fresh starts it anew\n');
    expect(namesOf(await terminal.history())).toEqual(report);
    expect(hashOf(place.path(demo))).toBe(before);
  });
});

/** A session that was stopped while its first gate was on. */
async function stopped(): Promise<OwnSession> {
  const own = new OwnSession(new Place());
  own.block(splits.selection, '"type":"screening.decided"');
  const run = own.start(['run', 'session']);
  await until('the gate is on', () => run.over() || own.waiting() > 0);
  run.kill('SIGTERM');
  expect((await run.ended).code).toBe(130);
  own.free();
  return own;
}

describe('a session that was begun before', () => {
  test('says where it stopped and what going on costs, and goes on by one key', async () => {
    const own = await stopped();
    await using terminal = Terminal.open(own.place, ['run', 'session'], { env: own.env });
    const screen = await terminal.waitFor('[enter] go on');
    expect(screen).toContain('stopped at step 1 after 7 rollouts');
    expect(screen).toMatch(/continuing costs at most about .*\d+ rollouts, no model cost/);
    expect(screen).toContain('kept: 0 steps, 0 accepted · selection 0/3 · a draft of 2 edits');
    expect(screen).toContain('[q] leave it as it is');
    await terminal.type('z');
    await terminal.press('enter');
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expectGivenBack(terminal);
    expect(await essence(own.place, 'session')).toEqual(await undisturbed());
  });

  test.each([
    ['q', 0],
    ['n', 0],
    ['esc', 0],
    ['ctrl+c', 0],
    ['SIGTERM', 130],
    ['SIGINT', 130],
  ] as const)('%s leaves it as it was, with exit code %d', async (how, wanted) => {
    const own = await stopped();
    const before = hashOf(own.place.path('session'));
    const { terminal, pid, left } = inShell(own.place, 'run session', { env: own.env });
    await using _ = terminal;
    await terminal.waitFor('[enter] go on');
    if (how === 'esc') await terminal.press('esc');
    else if (how === 'ctrl+c') await terminal.press('ctrlC');
    else if (how.startsWith('SIG')) process.kill(pid(), how as 'SIGTERM');
    else await terminal.type(how);
    const { code, screen } = await left();
    expect(code).toBe(wanted);
    if (wanted === 0) {
      expect(screen).toMatch(/^left +as it was; the same command goes on any time$/m);
      expect(screen).toMatch(/^log +\d+ lines, head /m);
    } else expect(screen).toContain('nothing that finished is lost');
    expect(hashOf(own.place.path('session'))).toBe(before);
  });

  test('--yes asks nothing', async () => {
    const own = await stopped();
    await using terminal = Terminal.open(own.place, ['run', 'session', '--yes'], { env: own.env });
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expect(terminal.output).toContain('\x1b[?1049h');
    expect(terminal.output).not.toContain('go on');
    expect(await essence(own.place, 'session')).toEqual(await undisturbed());
  });

  test('its question fits terminals of every size', async () => {
    const own = await stopped();
    await using terminal = Terminal.open(own.place, ['run', 'session'], { env: own.env });
    await terminal.waitFor('[enter] go on');
    for (const [columns, rows] of [
      [120, 40],
      [50, 15],
      [40, 10],
      [20, 5],
      [200, 60],
    ] as const) {
      await terminal.resize(columns, rows);
      await terminal.settled();
      if (columns >= 40) await terminal.waitFor('[enter] go on');
    }
    await terminal.type('q');
    expect((await terminal.ended).code).toBe(0);
  });
});
