import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { carriesMark, type Mark } from './mark.ts';

/** A process as people are told of it. */
export type FoundProcess = { readonly pid: number; readonly command: string };

/** Where this machine's kernel shows its processes as files (Linux). */
export const hasProcFiles = process.platform === 'linux';

let buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Reads a small kernel file whole into the shared buffer; null = gone or not ours to read. Valid until the next call. */
function readKernelFile(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
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

type Stat = { readonly state: string; readonly parent: number; readonly group: number };

/** The command's name stands in brackets and may hold anything, so the fields count from the last bracket. */
function readStat(pid: number): Stat | null {
  const text = readKernelFile(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return null;
  const [state, parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: state ?? '', parent: Number(parent), group: Number(group) };
}

const isDead = (stat: Stat | null): boolean => stat === null || stat.state === 'Z' || stat.state === 'X';

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

/** Every living process of ours that carries one of the marks (Linux). About 10 µs a process of the machine. */
export function findMarkedInProc(marks: readonly Mark[]): readonly FoundProcess[] {
  const spared = ourselvesAndAncestors();
  const uid = process.getuid?.() ?? 0;
  const found: FoundProcess[] = [];
  for (const pid of listPids()) {
    if (spared.has(pid)) continue;
    // Asking for the owner first spares an exception for each process of another user.
    if (uid !== 0 && statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid !== uid) continue;
    const environment = readKernelFile(`/proc/${pid}/environ`);
    if (environment === null || !marks.some((mark) => carriesMark(environment, mark))) continue;
    if (isDead(readStat(pid))) continue;
    found.push({ pid, command: commandLine(pid) });
  }
  return found;
}

function commandLine(pid: number): string {
  const text = readKernelFile(`/proc/${pid}/cmdline`)?.toString().replaceAll('\0', ' ').trim() ?? '';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
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
  for (const pid of listPids()) {
    const stat = readStat(pid);
    if (stat?.group === group && !isDead(stat)) return true;
  }
  return false;
}
