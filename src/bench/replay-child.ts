import { readFileSync } from 'node:fs';
import { renderSession } from '../cli/render-session.ts';
import { sha256 } from '../ports/hash.ts';
import { sessionPaths } from '../session/paths.ts';
import { VERSION } from '../version.ts';

/**
 * `verify DIR`, `parse DIR` or `hold DIR`: replays a session's log, only parses and hashes its lines, or counts what a
 * replay holds at its end. Prints the milliseconds (without those of loading the program), the peak of its memory and
 * the bytes held as JSON.
 */
const [what = '', dir = ''] = process.argv.slice(2);

async function verify(): Promise<void> {
  const { verifySession } = await import('../session/verify.ts');
  startedAt = performance.now();
  const report = await verifySession(dir, renderSession, VERSION);
  // the trajectories are not laid out: only the log is replayed
  const problem = report.problems.find((p) => p.kind !== 'missing text');
  if (problem) throw new Error(`${problem.kind} ${problem.where}: ${problem.what}`);
}

function parse(): void {
  let last = '';
  let events = 0;
  for (const line of readFileSync(sessionPaths(dir).log, 'utf8').split('\n')) {
    if (line === '') continue;
    events = (JSON.parse(line) as { readonly seq: number }).seq;
    last = sha256(line);
  }
  if (events === 0 || last === '') throw new Error('there was nothing to parse');
}

/** As `verify` does it, with all of it still at hand when it is counted. */
async function hold(): Promise<void> {
  const { Fold } = await import('../events/fold.ts');
  const { readLog } = await import('../journal/journal.ts');
  const { Logged } = await import('../session/logged.ts');
  const { replayLog } = await import('../session/replay.ts');
  const before = aliveBytes();
  const path = sessionPaths(dir).log;
  const fold = new Fold({ feed: false });
  const { logged } = Logged.read(readLog(path), ({ event }) => fold.add(event));
  const { created, splits, plan } = logged;
  if (!created || !splits || !plan) throw new Error('the log has no beginning');
  const replayed = await replayLog(logged, { created, splits, plan }, path);
  heldBytes = aliveBytes() - before;
  if (replayed.difference !== null) throw replayed.difference;
  if (fold.state.lines !== logged.lines) throw new Error('the fold has missed a line');
}

function aliveBytes(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

/** Linux counts what the parent had into `maxRSS`, so the kernel's own mark is read there. */
function peakMb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kb) / 1024;
}

let startedAt = performance.now();
let heldBytes = 0;
if (what === 'verify') await verify();
else if (what === 'hold') await hold();
else parse();
const ms = performance.now() - startedAt;
console.log(JSON.stringify({ ms, peakMb: peakMb(), heldBytes }));
