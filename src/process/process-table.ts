import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { shownBeginning } from './half-words.ts';
import { carriesMark, liesIn, type Mark, type MarkedPlace } from './mark.ts';
import { errorCode, isSystemRefusal } from './system-refusal.ts';

/** A process as people are told of it. */
export type FoundProcess = { readonly pid: number; readonly command: string };

/** Where this machine's kernel shows its processes as files (Linux). */
export const hasProcFiles = process.platform === 'linux';

let buffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads a small kernel file whole into the shared buffer; null = gone or not ours to read. Valid until the next call.
 * Throws when the system has no room to open it: that a process carries no mark would then be a guess.
 */
function readKernelFile(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (isSystemRefusal(errorCode(error))) throw error;
    return null;
  }
  try {
    let length = 0;
    for (;;) {
      const count = readSync(fd, buffer, length, buffer.length - length, null);
      if (count === 0) return buffer.subarray(0, length);
      length += count;
      if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    }
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

function listPids(): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (Number.isInteger(pid) && pid > 0) pids.push(pid);
  }
  return pids;
}

type Stat = {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** Number of its controlling terminal; 0 = none. */
  readonly terminal: number;
  /** Hundredths of a second since the machine started. */
  readonly startedAt: number;
};

/** The command's name stands in brackets and may hold anything, so the fields count from the last bracket. */
function readStat(pid: number): Stat | null {
  const text = readKernelFile(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const number = (index: number) => Number(fields[index]);
  return { state: fields[0] ?? '', parent: number(1), group: number(2), terminal: number(4), startedAt: number(19) };
}

const isDead = (stat: Stat | null): boolean => stat === null || stat.state === 'Z' || stat.state === 'X';

/** Does the process run, or could it? The dead that nobody has collected yet do not (Linux). */
export function isAlive(pid: number): boolean {
  return !isDead(readStat(pid));
}

/** Was the process started at the head of a group of its own (Linux)? */
export function leadsGroup(pid: number): boolean {
  return readStat(pid)?.group === pid;
}

/** This process and all above it: never ended, whatever marks they carry. */
export function ourselvesAndAncestors(): ReadonlySet<number> {
  const pids = new Set<number>([process.pid]);
  let pid = process.ppid;
  while (pid > 0 && !pids.has(pid)) {
    pids.add(pid);
    pid = hasProcFiles ? (readStat(pid)?.parent ?? 0) : 0;
  }
  return pids;
}

/**
 * Every living process of ours that carries one of the marks or works in one of their places (Linux). About 15 µs a
 * process of the machine. Throws when the system has no room to look.
 */
export function findMarkedInProc(marks: readonly Mark[]): readonly FoundProcess[] {
  const spared = ourselvesAndAncestors();
  const uid = process.getuid?.() ?? 0;
  const places = marks.flatMap((mark) => mark.places ?? []);
  const found: FoundProcess[] = [];
  for (const pid of listPids()) {
    if (spared.has(pid)) continue;
    // Asking for the owner first spares an exception for each process of another user.
    if (uid !== 0 && statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid !== uid) continue;
    if (!carriesOneOf(pid, marks) && !worksInOneOf(pid, places)) continue;
    if (isDead(readStat(pid))) continue;
    found.push({ pid, command: commandLine(pid) });
  }
  return found;
}

function carriesOneOf(pid: number, marks: readonly Mark[]): boolean {
  const environment = readKernelFile(`/proc/${pid}/environ`);
  return environment !== null && marks.some((mark) => carriesMark(environment, mark));
}

/** Times of processes and of files are by different clocks, which may be this far apart. */
const clockSlackMs = 1_000;

function worksInOneOf(pid: number, places: readonly MarkedPlace[]): boolean {
  if (places.length === 0) return false;
  let folder: string;
  try {
    folder = readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return false;
  }
  const place = places.find((one) => liesIn(folder, one));
  const stat = place === undefined ? null : readStat(pid);
  if (place === undefined || stat === null || stat.terminal !== 0) return false;
  return place.sinceMs === null || startedMs(stat) + clockSlackMs >= place.sinceMs;
}

/** When a process was started, in milliseconds since 1970. */
function startedMs(stat: Stat): number {
  const upSec = Number(readKernelFile('/proc/uptime')?.toString('latin1').split(' ')[0]);
  return Date.now() - upSec * 1000 + stat.startedAt * 10;
}

function commandLine(pid: number): string {
  return shownBeginning(readKernelFile(`/proc/${pid}/cmdline`)?.toString().replaceAll('\0', ' ') ?? '', 80);
}

/** True while a process of the group lives. The dead that nobody has collected yet do not count (where that can be seen). */
export function groupLives(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    // EPERM: there is one, but it is not ours to signal.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  if (!hasProcFiles) return true;
  try {
    return listPids().some((pid) => {
      const stat = readStat(pid);
      return stat?.group === group && !isDead(stat);
    });
  } catch {
    // There is no room to look: what cannot be told from the living is not given up.
    return true;
  }
}
