import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sendSignal } from './live.ts';
import { errorCode } from './system-refusal.ts';
import { waitUntil } from './wait.ts';

/**
 * A control group of the kernel that bounds how many processes (each thread counts) are in it. Whoever writes `0` into
 * its `cgroup.procs` is in it with all that it starts, whatever they do to their environment, group or session.
 */
export class PidsCell {
  constructor(readonly folder: string) {}

  /** File that takes a process in. */
  get door(): string {
    return join(this.folder, 'cgroup.procs');
  }

  /** How often a process was refused so far, because there were as many as may be. */
  refused(): number {
    const [, count] = /^max (\d+)$/m.exec(textOf(join(this.folder, 'pids.events'))) ?? [];
    return Number(count ?? 0);
  }

  pids(): readonly number[] {
    return textOf(this.door)
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0);
  }

  /** Kills what is in it until nothing is. Returns what would not go within the time. */
  async empty(limitMs: number): Promise<readonly number[]> {
    const isEmpty = () => {
      const left = this.pids();
      for (const pid of left) sendSignal(pid, 'SIGKILL');
      return left.length === 0;
    };
    return (await waitUntil(isEmpty, limitMs)) ? [] : this.pids();
  }

  /**
   * Takes the group away. One with something in it stays, be it dead and not yet collected: it is tried again while this
   * process lives, and once more at its end.
   */
  remove(): void {
    if (!removed(this.folder)) removeLater(this.folder);
  }
}

function removed(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
}

const toRemove = new Set<string>();
const againMs = 500;
let again: ReturnType<typeof setInterval> | null = null;
let atExit = false;

function removeLater(folder: string): void {
  toRemove.add(folder);
  if (again === null) {
    again = setInterval(removeAgain, againMs);
    // what is left to do keeps nobody from ending
    again.unref();
  }
  if (atExit) return;
  atExit = true;
  process.on('exit', removeAgain);
}

function removeAgain(): void {
  for (const folder of toRemove) if (removed(folder)) toRemove.delete(folder);
  if (toRemove.size > 0 || again === null) return;
  clearInterval(again);
  again = null;
}

/** Makes a group below `parent` (see `findPidsParent`) for at most so many processes. Throws errors of the file system. */
export function makePidsCell(parent: string, name: string, most: number): PidsCell {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  writeExisting(join(folder, 'pids.max'), String(most));
  return new PidsCell(folder);
}

/** When a group was made, in milliseconds since 1970; null = it is gone. */
export function madeMs(cell: PidsCell): number | null {
  return statSync(cell.folder, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

/** The groups below `parent` whose names are wanted: what an earlier process left. */
export function pidsCellsIn(parent: string, isWanted: (name: string) => boolean): readonly PidsCell[] {
  return namesIn(parent)
    .filter(isWanted)
    .map((name) => new PidsCell(join(parent, name)));
}

let parentOfCells: string | null | undefined;

/** Where this process may make such groups, tried once with one; null = nowhere, on this machine or as this user. */
export function findPidsParent(): string | null {
  if (parentOfCells === undefined) parentOfCells = lookForParent();
  return parentOfCells;
}

function lookForParent(): string | null {
  const own = textOf('/proc/self/cgroup');
  const candidates = mountsOf(textOf('/proc/self/mountinfo')).flatMap((mount) => parentsIn(mount, own));
  return candidates.find(takesGroups) ?? null;
}

type CgroupMount = { readonly root: string; readonly at: string; readonly version: 1 | 2 };

/** The mounts of `/proc/self/mountinfo` that hold groups of processes. */
export function mountsOf(mountinfo: string): readonly CgroupMount[] {
  return mountinfo.split('\n').flatMap((line): readonly CgroupMount[] => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', at = ''] = before.split(' ');
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') return [{ root, at, version: 2 }];
    return type === 'cgroup' && options.split(',').includes('pids') ? [{ root, at, version: 1 }] : [];
  });
}

/** Folders of the mount below which a group for this process could stand; `own` is `/proc/self/cgroup`. */
export function parentsIn({ root, at, version }: CgroupMount, own: string): readonly string[] {
  const line = own.split('\n').find((one) => {
    const [id, controllers = ''] = one.split(':');
    return version === 2 ? id === '0' : controllers.split(',').includes('pids');
  });
  const path = line?.split(':').slice(2).join(':');
  if (path === undefined) return [];
  const below = path === root ? '' : root !== '/' && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
  const here = join(at, below);
  if (version === 1) return [here];
  // A group that holds processes gives its children no bounds, so a sibling is what can be had.
  return here === at.replace(/\/$/, '') ? [at] : [dirname(here)];
}

function takesGroups(parent: string): boolean {
  const folder = join(parent, `skillopt-probe-${process.pid}`);
  try {
    mkdirSync(folder);
  } catch {
    return false;
  }
  try {
    writeExisting(join(folder, 'pids.max'), '1000');
    return true;
  } catch {
    return false;
  } finally {
    new PidsCell(folder).remove();
  }
}

/** Writes into a file that the kernel made; none is made where there is none. */
function writeExisting(path: string, text: string): void {
  const fd = openSync(path, 'r+');
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
