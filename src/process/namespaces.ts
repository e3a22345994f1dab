import { readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { hasProcFiles, isAlive } from './process-table.ts';

/** A PID namespace, by the number that the kernel gives it. */
export type PidNamespace = number;

/** Processes of a PID namespace as this machine numbers them, and how many threads they have in all. */
export type Inhabitants = { readonly pids: readonly number[]; readonly threads: number };

const none: Inhabitants = { pids: [], threads: 0 };
const freshMs = 300;
let last: { readonly atMs: number; readonly found: ReadonlyMap<PidNamespace, readonly number[]> } | null = null;

/** What lives in a PID namespace that is not ours (Linux). Several callers within a moment share one look. */
export function inhabitantsOf(namespace: PidNamespace): Inhabitants {
  if (!hasProcFiles) return none;
  if (last === null || performance.now() - last.atMs > freshMs)
    last = { atMs: performance.now(), found: allByNamespace() };
  const pids = last.found.get(namespace) ?? [];
  return { pids, threads: pids.reduce((sum, pid) => sum + threadsOf(pid), 0) };
}

/** Does this process live in that namespace? Ids of processes are given anew, so one alone says nothing. */
export function livesIn(pid: number, namespace: PidNamespace): boolean {
  return namespaceOf(pid) === namespace && isAlive(pid);
}

/** Bytes of files that nothing names any more and that these processes keep open, each file once. */
export function bytesOfDeleted(pids: readonly number[]): number {
  const seen = new Map<string, number>();
  for (const pid of pids)
    for (const name of namesIn(`/proc/${pid}/fd`)) {
      const stat = statOf(`/proc/${pid}/fd/${name}`);
      if (stat?.isFile() && stat.nlink === 0) seen.set(`${stat.dev}:${stat.ino}`, stat.blocks * 512);
    }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function allByNamespace(): ReadonlyMap<PidNamespace, readonly number[]> {
  const found = new Map<PidNamespace, number[]>();
  for (const name of namesIn('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const namespace = namespaceOf(pid);
    if (namespace === null) continue;
    const known = found.get(namespace);
    if (known === undefined) found.set(namespace, [pid]);
    else known.push(pid);
  }
  return found;
}

function namespaceOf(pid: number): PidNamespace | null {
  try {
    const [, number] = /^pid:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/ns/pid`)) ?? [];
    return number === undefined ? null : Number(number);
  } catch {
    return null;
  }
}

function threadsOf(pid: number): number {
  try {
    const [, count] = /^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(count ?? 1);
  } catch {
    return 0;
  }
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
