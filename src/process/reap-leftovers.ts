import { fail } from '../ports/failure.ts';
import { shownBeginning } from './half-words.ts';
import { forgetMark, sendSignal } from './live.ts';
import { lineCarriesMark, type Mark } from './mark.ts';
import {
  type FoundProcess,
  findMarkedInProc,
  hasProcFiles,
  isAlive,
  leadsGroup,
  ourselvesAndAncestors,
} from './process-table.ts';
import { runProcess } from './run-process.ts';
import { waitUntil } from './wait.ts';

const defaultGraceMs = 2_000;
const killedMs = 5_000;

/**
 * Ends every process that is known by the mark, TERM and then KILL after `graceMs`, and looks again until none is
 * left; never this process or one above it. Returns a line for each, for people. A process that threw its environment
 * away and left the mark's places is not found. Throws when the system has no room to look.
 */
export async function reapLeftovers(mark: Mark, graceMs = defaultGraceMs): Promise<readonly string[]> {
  const seen = new Map<number, FoundProcess>();
  const startedAt = performance.now();
  for (let pause = 5; ; pause = Math.min(40, pause * 2)) {
    const alive = await findMarked(mark);
    const elapsed = performance.now() - startedAt;
    if (alive.length === 0) break;
    for (const found of alive) {
      if (elapsed > graceMs) sendSignal(found.pid, 'SIGKILL');
      else if (!seen.has(found.pid)) sendSignal(found.pid, 'SIGTERM');
      seen.set(found.pid, found);
    }
    if (elapsed > graceMs + killedMs) {
      const stuck = alive.map((found) => `${describe(found)}: still there after SIGKILL`);
      return [...[...seen.values()].filter((found) => !alive.some((a) => a.pid === found.pid)).map(describe), ...stuck];
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  if (mark.match === 'exact') forgetMark(mark);
  return [...seen.values()].map(describe);
}

/**
 * As `reapLeftovers`, for programs that wind down what they started: those at the head of their groups are asked first,
 * alone, with INT, and have `graceMs` for it. Where the kernel shows no processes as files all are sent a TERM.
 */
export async function windDownLeftovers(mark: Mark, graceMs: number): Promise<readonly string[]> {
  if (!hasProcFiles) return reapLeftovers(mark, graceMs);
  const heads = (await findMarked(mark)).filter(({ pid }) => leadsGroup(pid));
  for (const { pid } of heads) sendSignal(pid, 'SIGINT');
  await waitUntil(() => !heads.some(({ pid }) => isAlive(pid)), graceMs);
  const rest = await reapLeftovers(mark);
  return [...new Set([...heads.map(describe), ...rest])];
}

/** Every living process that is known by the mark, this one and those above it left out. */
export async function findMarked(mark: Mark): Promise<readonly FoundProcess[]> {
  return hasProcFiles ? findMarkedInProc([mark]) : findMarkedByPs(mark);
}

function describe(found: FoundProcess): string {
  return `process ${found.pid} (${found.command})`;
}

/** macOS and the BSDs: `ps -E` appends each process's environment to its command line; only our own are shown. */
async function findMarkedByPs(mark: Mark): Promise<readonly FoundProcess[]> {
  const end = await runProcess({
    command: ['/bin/ps', '-E', '-ww', '-x', '-o', 'pid=,command='],
    cwd: '/',
    env: { LC_ALL: 'C' },
    timeoutMs: 10_000,
    maxOutputBytes: 64_000_000,
  });
  if (end.systemRefused) {
    throw fail('environment-down', end.detail, '/bin/ps', 'raise the limits (ulimit -n, ulimit -u)', {
      retryable: true,
    });
  }
  return markedLines(end.stdout, mark, ourselvesAndAncestors());
}

/** The processes among lines of `PID COMMAND ENVIRONMENT` that carry the mark. */
export function markedLines(text: string, mark: Mark, spared: ReadonlySet<number>): readonly FoundProcess[] {
  return text.split('\n').flatMap((line) => {
    const parts = /^\s*(\d+)\s(.*)$/.exec(line);
    if (parts === null || !lineCarriesMark(line, mark)) return [];
    const pid = Number(parts[1]);
    return spared.has(pid) ? [] : [{ pid, command: shownBeginning(parts[2]!, 80) }];
  });
}
