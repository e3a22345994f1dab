import { afterAll, describe, expect, test } from 'bun:test';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { atEnd, Place, removePlaces, until } from './binary.ts';
import { OwnSession, splits } from './own-pack.ts';
import { demo, expectGivenBack, inShell } from './screens.ts';
import { essence, finishedDemo } from './sessions.ts';
import { Terminal } from './terminal.ts';

afterAll(removePlaces);

describe('a failure while the screen is on stands on the normal screen', () => {
  test('a config that is wrong', async () => {
    const own = new OwnSession(new Place(), { config: { optimizer: 'rehearsel' } });
    const { terminal, left } = inShell(own.place, 'run session', { env: own.env });
    await using _ = terminal;
    const { code, screen } = await left();
    expect(code).toBe(2);
    expect(screen).toContain('failed there is no optimizer rehearsel');
    expect(screen).toContain('fix    did you mean rehearsal?');
  });

  test('what is found before anything is spent', async () => {
    const own = new OwnSession(new Place());
    const env = { ...own.env, TMPDIR: own.place.path('nowhere') };
    const { terminal, left } = inShell(own.place, 'run session', { env });
    await using _ = terminal;
    const { code, screen } = await left();
    expect(code).toBe(4);
    expect(screen).toMatch(/^failed rollouts cannot be written there/m);
    expect(own.place.lines('session')).toBe(0);
  });

  test('a session at which another process is at work', async () => {
    const own = new OwnSession(new Place());
    own.block(splits.selection);
    const other = own.start(['run', 'session']);
    await until('it is at work', () => other.over() || own.waiting() > 0);
    const { terminal, left } = inShell(own.place, 'run session', { env: own.env });
    await using _ = terminal;
    const { code, screen } = await left();
    expect(code).toBe(5);
    expect(screen).toContain('failed another process is at work in this session');
    own.free();
    expect((await other.ended).code).toBe(0);
  });

  test.skipIf(!canMount())('a disk that is full: what is finished is kept', async () => {
    const { place, ballast } = smallDisk();
    const { terminal, left } = inShell(place, 'demo disk/demo --delay 20', {});
    await using _ = terminal;
    await until('a part of it is done', () => terminal.over() || place.lines('disk/demo') >= 60);
    fill(ballast);
    const { code, screen } = await left();
    expect(code).toBe(7);
    expect(screen).toMatch(/^failed .*\(ENOSPC\)/m);
    expect(screen).toMatch(/^fix {4}free some space/m);
    rmSync(ballast);
    await place.succeed(['demo', 'disk/demo']);
    expect(await essence(place, 'disk/demo')).toEqual(await essence((await finishedDemo()).place, demo));
  });
});

function mountDisk(dir: string): boolean {
  if (process.platform !== 'linux' || Bun.which('mount') === null) return false;
  if (!Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'none', dir]).success) return false;
  atEnd(() => Bun.spawnSync(['umount', dir]));
  return true;
}

function canMount(): boolean {
  const place = new Place();
  mkdirSync(place.path('disk'));
  return mountDisk(place.path('disk'));
}

function smallDisk(): { readonly place: Place; readonly ballast: string } {
  const place = new Place();
  mkdirSync(place.path('disk'));
  if (!mountDisk(place.path('disk'))) throw new Error('no disk');
  return { place, ballast: place.path('disk/ballast') };
}

/** Takes all space that is left. */
function fill(path: string): void {
  const fd = openSync(path, 'w');
  try {
    for (const size of [1 << 16, 1 << 10]) while (writeSync(fd, Buffer.alloc(size)) === size);
  } catch (e) {
    if ((e as { code?: string }).code !== 'ENOSPC') throw e;
    // a last piece that is smaller than a block may still fit
    try {
      while (writeSync(fd, Buffer.alloc(1 << 10)) > 0);
    } catch {}
  } finally {
    closeSync(fd);
  }
}

/** The product's main, with a fault of the program put into it as its screen is on. */
const faulty = (fault: string) => `
import { main } from '${resolve(import.meta.dir, '../cli/main.ts')}';
import { LiveScreen } from '${resolve(import.meta.dir, '../cli/live-screen.tsx')}';
import { FrameStore } from '${resolve(import.meta.dir, '../tui/frame-store.ts')}';

const follow = LiveScreen.prototype.follow;
LiveScreen.prototype.follow = function (...args) {
  follow.apply(this, args);
  ${fault}
};
await main(['demo', '--delay', '100']);
`;

describe('a fault of the program while the screen is on', () => {
  test.each([
    [
      'while a row is drawn',
      `args[1].subscribe(({ type }) => {
        if (type === 'rollout.finished') FrameStore.prototype.line = () => { throw new Error('it was broken'); };
      });`,
    ],
    ['in a timer', `setTimeout(() => { throw new Error('it was broken'); }, 50);`],
    ['in a promise that nobody awaits', `void Promise.reject(new Error('it was broken'));`],
    ['in a key', `process.stdin.once('readable', () => { throw new Error('it was broken'); });`],
  ])('%s: the terminal is given back, the message stands on the normal screen', async (name, fault) => {
    const place = new Place();
    writeFileSync(place.path('faulty.tsx'), faulty(fault));
    const line = `"$BUN" faulty.tsx; echo "exit code $?"; stty -a`;
    const env = { BUN: process.execPath, PATH: '/usr/local/bin:/usr/bin:/bin', TMPDIR: place.temp };
    await using terminal = Terminal.shell(place, line, { env });
    if (name === 'in a key') {
      await terminal.waitFor('running');
      await terminal.type('d');
    }
    await terminal.ended;
    expectGivenBack(terminal);
    const screen = await terminal.history();
    expect(screen).toContain('exit code 70\n');
    expect(screen).toContain('failed a fault of this program: it was broken');
    expect(screen.replaceAll(/\s+/g, ' ')).toContain('fix run it again with --debug and report what it prints');
    expect(screen).toMatch(/ icanon .* echo /s);
    expect(place.leftovers(demo).filter((left) => /^\d+$/.test(left))).toEqual([]);
  });
});
