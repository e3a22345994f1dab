import { afterAll, describe, expect, test } from 'bun:test';
import { closeSync, cpSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { atEnd, expectFailure, Place, removePlaces, until } from './binary.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';

afterAll(removePlaces);

/** A small disk of its own in `disk/` of a place; null where this user may not mount one. */
function smallDisk(megabytes: number): { readonly place: Place; readonly remount: (mode: 'ro' | 'rw') => void } | null {
  const place = new Place();
  const dir = place.path('disk');
  mkdirSync(dir);
  const mount = (...args: string[]) => Bun.which('mount') !== null && Bun.spawnSync(['mount', ...args, dir]).success;
  if (!mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none')) return null;
  atEnd(() => Bun.spawnSync(['umount', dir]));
  const remount = (mode: 'ro' | 'rw') => {
    if (!mount('-o', `remount,${mode}`)) throw new Error(`the disk could not be made ${mode}`);
  };
  return { place, remount };
}

const canMount = process.platform === 'linux' && smallDisk(1) !== null;

/** Takes all space that is left. */
function fill(path: string): void {
  const fd = openSync(path, 'w');
  try {
    for (const size of [1 << 16, 1 << 10]) {
      const piece = Buffer.alloc(size);
      try {
        while (writeSync(fd, piece) === size);
      } catch (e) {
        if ((e as { code?: string }).code !== 'ENOSPC') throw e;
      }
    }
  } finally {
    closeSync(fd);
  }
}

const session = 'disk/demo';
const halfWritten = (place: Place) =>
  readdirSync(place.path(session), { recursive: true, encoding: 'utf8' }).filter((name) => /\.tmp$|partial/.test(name));

/** A demo on a small disk that becomes full while it is at work. */
async function filledUp() {
  const disk = smallDisk(8);
  if (disk === null) throw new Error('no disk');
  const { place } = disk;
  const run = place.start(['demo', session]);
  await until('a part of it is done', () => place.lines(session) >= 60);
  fill(place.path('disk/ballast'));
  return { place, end: await run.ended };
}

describe.skipIf(!canMount)('a full disk', () => {
  test('ends the run with what is finished kept; with space again it goes on to the same result', async () => {
    const { place, end } = await filledUp();
    expectFailure(end, { code: 7, what: /\(ENOSPC\)$/, where: /\/work\/disk\/demo\//, fix: /^free some space/ });
    expect(place.leftovers(session)).toEqual([]);
    const kept = place.events(session);
    const again = await place.run(['demo', session]);
    expect(again.code).toBe(7);
    expect(place.events(session).slice(0, kept.length)).toEqual([...kept]);
    rmSync(place.path('disk/ballast'));
    await place.succeed(['demo', session]);
    expect(await essence(place, session)).toEqual(await essence((await finishedDemo()).place, 'skillopt-demo'));
    expect(performedAgain(place.events(session))).toEqual([]);
    await place.succeed(['verify', session]);
  });

  test('leaves no half-written file', async () => {
    const { place, end } = await filledUp();
    expect(end.code).toBe(7);
    expect(halfWritten(place)).toEqual([]);
  });

  test('from the start is refused, and nothing looks like a session', async () => {
    const disk = smallDisk(1);
    if (disk === null) throw new Error('no disk');
    const { place } = disk;
    fill(place.path('disk/ballast'));
    const end = await place.run(['demo', session]);
    expectFailure(end, { code: 7, what: /\(ENOSPC\)$/, where: /\/work\/disk\/demo/, fix: /^free some space/ });
    rmSync(place.path('disk/ballast'));
  });
});

describe.skipIf(!canMount)('a read-only directory', () => {
  const refused = { code: 7, what: /\(EROFS\)/, where: /\/work\/disk\/demo/, fix: /^make the directory writable/ };

  /** A copy of the finished demo on a disk that can only be read. */
  async function readOnlyDemo(): Promise<Place> {
    const disk = smallDisk(20);
    if (disk === null) throw new Error('no disk');
    cpSync((await finishedDemo()).place.path('skillopt-demo'), disk.place.path(session), { recursive: true });
    disk.remount('ro');
    return disk.place;
  }

  test('is refused for a new session', async () => {
    const disk = smallDisk(1);
    if (disk === null) throw new Error('no disk');
    disk.remount('ro');
    expectFailure(await disk.place.run(['demo', session]), refused);
    expect(readdirSync(disk.place.path('disk'))).toEqual([]);
  });

  test('is refused for going on; a finished session in it can still be read', async () => {
    const place = await readOnlyDemo();
    const before = place.read(session, 'skillopt.jsonl');
    expectFailure(await place.run(['run', session]), refused);
    for (const command of ['demo', 'finalize', 'status', 'verify']) await place.succeed([command, session]);
    expect(place.read(session, 'skillopt.jsonl')).toBe(before);
  });

  test('is refused for a fresh demo, and the old one stays', async () => {
    const place = await readOnlyDemo();
    expectFailure(await place.run(['demo', session, '--fresh']), refused);
    await place.succeed(['verify', session]);
  });
});

describe('a place that is no directory', () => {
  test.each([
    ['a file in its place', 'file', /'file' .*it is a file: name a directory, such as .*\/work$/],
    ['a file above it', 'file/demo', /'file\/demo' .*\/work\/file is a file: name a directory, such as .*\/work$/],
  ])('%s: refused, and the file is as it was', async (_name, dir, what) => {
    const place = new Place();
    writeFileSync(place.path('file'), 'mine');
    expectFailure(await place.run(['demo', dir]), {
      code: 2,
      what,
      where: /^the command line$/,
      fix: /skillopt demo --help/,
    });
    expect(place.read('file')).toBe('mine');
    expect(readdirSync(place.dir)).toEqual(['file']);
  });

  test.skipIf(process.platform !== 'linux')('a place where nobody can make one: refused', async () => {
    const end = await new Place().run(['demo', '/proc/skillopt-demo']);
    expectFailure(end, {
      code: 7,
      what: /directory can’t be made/,
      where: /^\/proc\/skillopt-demo$/,
      fix: /directory/,
    });
  });

  test('a temp folder that is not there: refused before anything is spent', async () => {
    const place = new Place();
    const env = { TMPDIR: place.path('nowhere') };
    expectFailure(await place.run(['demo'], { env }), {
      code: 4,
      what: /^rollouts cannot be written there/,
      where: /\/work\/nowhere$/,
      fix: /^set TMPDIR/,
    });
    expect(place.lines('skillopt-demo')).toBe(0);
  });
});
