import { afterAll, describe, expect, test } from 'bun:test';
import { Place, removePlaces, until } from './binary.ts';
import { bestSkill, OwnSession, splits, undisturbed } from './own-pack.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';
import { Terminal } from './terminal.ts';
import { ttyModes } from './tty.ts';

afterAll(removePlaces);

// What a terminal, a pipe or the lack of both does to a run that shows plain lines.

const demo = 'skillopt-demo';
const GONE_MS = 30_000;

/** Surroundings in which no screen is drawn, although there is a terminal. */
const plainIn = [
  ['TERM=dumb', { TERM: 'dumb' }, ''],
  ['CI=1', { CI: '1' }, ''],
  ['CI=true and NO_COLOR', { CI: 'true', NO_COLOR: '1' }, ''],
  ['stdin closed', {}, '<&-'],
  ['stdin from nowhere', {}, '</dev/null'],
  ['stdout piped', {}, '| cat'],
] as const;

/** The same in every surroundings: it is about lines for people, whole and in order. */
function expectPlain(terminal: Terminal, history: string): void {
  expect(history).toMatch(/^step 1 .*\n +ACCEPT · selection 3\/3 against 0\/3/m);
  expect(history).toMatch(/^log +\d+ lines, head [0-9a-f]{32} .*\nrc=0$/m);
  expect(terminal.output).not.toContain('\x1b');
  expect(terminal.output).not.toContain('\uFFFD');
  expect(ttyModes(terminal.output)).toEqual({ canonical: true, echo: true, signals: true });
}

describe('plain lines in a terminal', () => {
  test.each(plainIn)('%s: no escape sequence, and the tty as it was', async (_name, env, redirection) => {
    const own = new OwnSession(new Place());
    const line = `"$SKILLOPT" run session --finalize ${redirection}; echo "rc=$?"; stty -a`;
    await using terminal = own.inTerminal(line, { env, columns: 200 });
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expectPlain(terminal, await terminal.history());
    expect(await essence(own.place, 'session')).toEqual(await undisturbed({ finalize: true }));
  });

  test('a demo, too', async () => {
    const place = new Place();
    await using terminal = Terminal.open(place, ['demo'], { env: { TERM: 'dumb', TMPDIR: place.temp } });
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expect(terminal.output).not.toContain('\x1b');
    expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  });
});

describe('JSON in a terminal', () => {
  /** What stands on stdout alone: the lines for people go elsewhere. */
  const jsonIn = (terminal: Terminal) => JSON.parse(terminal.output) as Record<string, unknown>;
  const json = async (own: OwnSession, args: string, code: number) => {
    await using terminal = own.inTerminal(`"$SKILLOPT" ${args} --json 2> lines`);
    expect(await terminal.ended).toEqual({ code, signal: null });
    expect(terminal.output).not.toContain('\x1b');
    return jsonIn(terminal);
  };

  test('of a run that improves the skill is the one value on stdout; lines for people stand on stderr', async () => {
    const own = new OwnSession(new Place());
    expect(await json(own, 'run session', 0)).toMatchObject({ phase: 'searched', result: 'improved' });
    const lines = own.place.read('lines');
    expect(lines).toMatch(/^step 1 /m);
    expect(lines).not.toContain('\x1b');
    expect(await json(own, 'finalize session', 0)).toMatchObject({ phase: 'finished', sourceMoved: null });
    expect(await json(own, 'verify session', 0)).toMatchObject({ ok: true });
  });

  test('of a run that keeps nothing, too, with the exit code that was asked for', async () => {
    const own = new OwnSession(new Place(), { skill: bestSkill });
    expect(await json(own, 'run session --exit-code', 10)).toMatchObject({ phase: 'searched', accepted: 0 });
  });

  test('of a preflight that fails, too, and nothing stands on stderr', async () => {
    const own = new OwnSession(new Place(), { config: { allowUnsandboxed: false } });
    const failed = { error: { code: 'preflight', what: /without a sandbox/, fix: /--allow-unsandboxed/ } };
    const told = await json(own, 'run session', 4);
    expect(told).toMatchObject({ error: { code: failed.error.code } });
    expect(JSON.stringify(told)).toMatch(failed.error.what);
    expect(JSON.stringify(told)).toMatch(failed.error.fix);
    expect(own.place.read('lines')).toBe('');
  });
});

describe('ctrl+c in a terminal with plain lines', () => {
  const plain = { env: { TERM: 'dumb' } };
  /** The shell goes on after the signal that its terminal gives to both. */
  const line = `trap : INT; "$SKILLOPT" run session; echo "rc=$?"; stty -a`;

  async function atWork(more: readonly string[] = []) {
    const own = new OwnSession(new Place());
    own.block([...splits.selection, ...more]);
    const terminal = own.inTerminal(line, plain);
    await until('rollouts are at work', () => own.waiting() === splits.selection.length);
    return { own, terminal };
  }

  async function expectGoesOn(own: OwnSession): Promise<void> {
    own.free();
    await own.succeed(['run', 'session']);
    expect(await essence(own.place, 'session')).toEqual(await undisturbed());
    expect(performedAgain(own.place.events('session'))).toEqual([]);
    expect(own.place.leftovers('session')).toEqual([]);
    await own.succeed(['verify', 'session']);
  }

  test('once stops in order; the tty is as it was', async () => {
    const { own, terminal } = await atWork();
    await using _ = terminal;
    await terminal.press('ctrlC');
    await until('it is over', terminal.over, GONE_MS);
    const history = await terminal.history();
    expect(history).toContain('stopping    what runs is ended and cleaned up; once more ends at once');
    expect(history).toContain('rc=130');
    expect(ttyModes(terminal.output)).toEqual({ canonical: true, echo: true, signals: true });
    expect(own.place.leftovers('session')).toEqual([]);
    await expectGoesOn(own);
  });

  test('twice ends at once', async () => {
    const { own, terminal } = await atWork(['stubborn']);
    await using _ = terminal;
    await terminal.press('ctrlC');
    await terminal.waitFor('stopping');
    await terminal.press('ctrlC');
    await until('it is over', terminal.over, GONE_MS);
    expect(await terminal.history()).toContain('rc=130');
    await expectGoesOn(own);
  });

  test.each([
    ['while rollouts are at work', []],
    ['while rollouts that are deaf to signals are at work', ['stubborn']],
  ])('the terminal is closed %s: nothing is left, and the session goes on', async (_name, more) => {
    const own = new OwnSession(new Place());
    own.block([...splits.selection, ...more]);
    const terminal = own.inTerminal(['run', 'session'], plain);
    await until('rollouts are at work', () => own.waiting() === splits.selection.length);
    terminal.hangUp();
    await until('it is over', terminal.over, GONE_MS);
    expect(own.place.leftovers('session')).toEqual([]);
    const told = own.place.events('session').filter((e) => e.type === 'session.paused');
    expect(told).toMatchObject([{ why: 'stopped by the user' }]);
    await terminal.close();
    await expectGoesOn(own);
  });
});
