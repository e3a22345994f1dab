import { describe, expect, test } from 'bun:test';
import { closeSync, existsSync, mkdtempSync, openSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOfDeleted, inhabitantsOf, livesIn } from './namespaces.ts';
import { findPidsParent, makePidsCell, mountsOf, parentsIn, pidsCellsIn } from './pids-cell.ts';
import { hasProcFiles } from './process-table.ts';
import { runProcess } from './run-process.ts';
import { waitUntil } from './wait.ts';

const mounts = `\
24 23 0:22 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:1 - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
`;

describe('where groups of processes could be made', () => {
  test('is read from the mounts', () => {
    expect(mountsOf(mounts)).toEqual([
      { root: '/', at: '/sys/fs/cgroup/unified', version: 2 },
      { root: '/', at: '/sys/fs/cgroup/pids', version: 1 },
    ]);
  });

  test.each([
    ['of version 1: in our own', 1, '/', '/c', '8:pids:/user.slice\n', ['/c/user.slice']],
    ['of version 1, in a container', 1, '/docker/ab', '/c', '8:pids:/docker/ab\n', ['/c']],
    ['of version 1, several controllers', 1, '/', '/c', '3:cpu,pids:/x\n', ['/c/x']],
    ['of version 2: beside our own', 2, '/', '/c', '0::/user.slice/session-1.scope\n', ['/c/user.slice']],
    ['of version 2, at the top', 2, '/', '/c', '0::/\n', ['/c']],
    ['where we are in none', 1, '/', '/c', '0::/\n', []],
  ] as const)('%s', (_name, version, root, at, own, want) => {
    expect(parentsIn({ root, at, version }, own)).toEqual([...want]);
  });
});

const parent = findPidsParent();
describe.if(parent !== null)('a group of processes', () => {
  test('bounds its processes, knows those that left everything, and ends them', async () => {
    const cell = makePidsCell(parent ?? '', `skillopt-test-${process.pid}`, 20);
    try {
      const script = `echo 0 > ${cell.door}
for i in $(seq 30); do env -i setsid sh -c 'cd /; exec sleep 300' >/dev/null 2>&1 & done; wait`;
      const end = await runProcess({
        command: ['bash', '-c', script],
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        timeoutMs: 3_000,
        graceMs: 100,
      });
      expect(end.cause).toBe('timeout');
      expect(cell.pids().length).toBeGreaterThan(5);
      expect(cell.pids().length).toBeLessThanOrEqual(20);
      expect(cell.refused()).toBeGreaterThan(0);
      expect(pidsCellsIn(parent ?? '', (name) => name === `skillopt-test-${process.pid}`)).toHaveLength(1);
      expect(await cell.empty(20_000)).toEqual([]);
    } finally {
      await cell.empty(20_000);
      cell.remove();
    }
    // the dead are collected by and by
    expect(await waitUntil(() => !existsSync(cell.folder), 60_000)).toBe(true);
  });
});

describe.if(hasProcFiles)('namespaces of processes', () => {
  test('our own has us in it, another has not, and a dead process lives in none', async () => {
    const own = Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]);
    expect(inhabitantsOf(own).pids).toContain(process.pid);
    expect(inhabitantsOf(own).threads).toBeGreaterThan(1);
    expect(livesIn(process.pid, own)).toBe(true);
    expect(livesIn(process.pid, own + 1)).toBe(false);
    expect(inhabitantsOf(1)).toEqual({ pids: [], threads: 0 });
    const dead = Bun.spawnSync(['sh', '-c', 'echo $$']);
    expect(livesIn(Number(dead.stdout.toString()), own)).toBe(false);
  });

  test('count what is deleted and still open, each file once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deleted-'));
    const before = bytesOfDeleted([process.pid]);
    writeFileSync(join(folder, 'f'), Buffer.alloc(300_000, 1));
    const open = [openSync(join(folder, 'f'), 'r'), openSync(join(folder, 'f'), 'r')];
    expect(bytesOfDeleted([process.pid])).toBe(before);
    rmSync(folder, { recursive: true });
    const grown = bytesOfDeleted([process.pid]) - before;
    for (const fd of open) closeSync(fd);
    expect(grown).toBeGreaterThanOrEqual(300_000);
    expect(grown).toBeLessThan(600_000);
  });
});
