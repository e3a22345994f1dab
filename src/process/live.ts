import type { Mark } from './mark.ts';
import { findMarkedInProc, groupLives, hasProcFiles } from './process-table.ts';

/** Groups of this process that may still live, and marks not yet reaped: what must end when this process ends. */
const liveGroups = new Set<number>();
const liveMarks = new Map<string, Mark>();
let exitHandlerInstalled = false;

/** Remembers a group, so that it ends with this process. */
export function rememberGroup(group: number): void {
  liveGroups.add(group);
  if (exitHandlerInstalled) return;
  exitHandlerInstalled = true;
  process.on('exit', () => endAllNow());
}

export function forgetGroup(group: number): void {
  liveGroups.delete(group);
}

export function rememberMark(mark: Mark): void {
  liveMarks.set(`${mark.name}=${mark.value}`, mark);
}

export function forgetMark(mark: Mark): void {
  liveMarks.delete(`${mark.name}=${mark.value}`);
}

/** Sends a signal; a process or group that is gone, or not ours, is not an error. */
export function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {}
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Ends every group that this process has started, TERM and then KILL after `graceMs`, and (Linux) whatever else
 * is known by a mark that was not reaped. Blocks meanwhile: for the moment before this process ends, and nothing else.
 */
export function endAllNow(graceMs = 200): void {
  for (const group of liveGroups) sendSignal(-group, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && [...liveGroups].some(groupLives)) sleepSync(10);
  for (const group of liveGroups) sendSignal(-group, 'SIGKILL');
  liveGroups.clear();
  if (hasProcFiles && liveMarks.size > 0) killMarked([...liveMarks.values()]);
  liveMarks.clear();
}

/** Looks again until none is left: one may have started another while we looked, or there was no room to look. */
function killMarked(marks: readonly Mark[]): void {
  for (let round = 0; round < 50; round++) {
    try {
      const alive = findMarkedInProc(marks);
      if (alive.length === 0) return;
      for (const found of alive) sendSignal(found.pid, 'SIGKILL');
    } catch {}
    sleepSync(2);
  }
}
