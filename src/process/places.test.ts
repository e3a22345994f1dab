import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { liesIn, type Mark, type MarkedPlace } from './mark.ts';
import { hasProcFiles } from './process-table.ts';
import { findMarked, reapLeftovers } from './reap-leftovers.ts';
import { runProcess } from './run-process.ts';

let base: string;
let count = 0;
const started: number[] = [];
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'places-test-')));
});
afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {}
  }
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A job in a session of its own, without any environment, that works in a new folder. */
async function hiddenJob(): Promise<{ readonly folder: string; readonly pid: number }> {
  const folder = join(base, `room-${++count}`);
  mkdirSync(join(folder, 'deep'), { recursive: true });
  const pidFile = `${folder}.pid`;
  const script = `cd deep; env -i setsid bash -c 'echo $$ > ${pidFile}; exec sleep 300' >/dev/null 2>&1 & until [ -s ${pidFile} ]; do sleep 0.01; done`;
  await runProcess({
    command: ['bash', '-c', script],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    timeoutMs: 20_000,
  });
  const pid = Number(readFileSync(pidFile, 'utf8'));
  started.push(pid);
  return { folder, pid };
}

const markAt = (...places: readonly MarkedPlace[]): Mark => ({
  name: 'PLACES_TEST',
  match: 'exact',
  value: 'x',
  places,
});
const pidsAt = async (place: MarkedPlace) => (await findMarked(markAt(place))).map((found) => found.pid);

describe.if(hasProcFiles)('a process that threw its environment away', () => {
  test('is known by the folder it works in, and ended', async () => {
    const { folder, pid } = await hiddenJob();
    expect(await pidsAt({ folder: `${folder}-other`, sinceMs: null })).toEqual([]);
    expect(await pidsAt({ folder: folder.slice(0, -1), sinceMs: null })).toEqual([]);
    const ended = await reapLeftovers(markAt({ folder, sinceMs: Date.now() }), 200);
    expect(ended).toEqual([`process ${pid} (sleep 300)`]);
    expect(await pidsAt({ folder, sinceMs: null })).toEqual([]);
  });

  test('also when the folder is gone', async () => {
    const { folder, pid } = await hiddenJob();
    rmSync(folder, { recursive: true });
    expect(await pidsAt({ folder, sinceMs: null })).toEqual([pid]);
    expect(await pidsAt({ folder: join(folder, 'deep'), sinceMs: null })).toEqual([pid]);
  });

  test('is spared when it was started before the rollout', async () => {
    const { folder, pid } = await hiddenJob();
    expect(await pidsAt({ folder, sinceMs: Date.now() + 60_000 })).toEqual([]);
    expect(await pidsAt({ folder, sinceMs: Date.now() - 60_000 })).toEqual([pid]);
  });

  test('is spared when it sits at a terminal: a user who looks into the folder', async () => {
    const { folder, pid } = await hiddenJob();
    const shell = Bun.spawn(['sleep', '300'], { cwd: folder, env: {}, terminal: { cols: 80, rows: 24 } });
    started.push(shell.pid);
    expect(await pidsAt({ folder, sinceMs: null })).toEqual([pid]);
  });

  test('is spared when it is this process', async () => {
    expect(await pidsAt({ folder: process.cwd(), sinceMs: null })).not.toContain(process.pid);
  });
});

test('a place is a folder and what lies in it', () => {
  const place = { folder: '/t/a', sinceMs: null };
  const inside = ['/t/a', '/t/a/b', '/t/a (deleted)', '/t/a/b (deleted)'];
  const outside = ['/t', '/t/ab', '/t/a2/b', '/', '/t/a (deleted)x'];
  expect(inside.filter((folder) => !liesIn(folder, place))).toEqual([]);
  expect(outside.filter((folder) => liesIn(folder, place))).toEqual([]);
});
