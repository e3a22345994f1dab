import { readFileSync } from 'node:fs';
import { sha256 } from '../ports/hash.ts';
import { renderDocument } from '../report/markdown.ts';
import { sessionPaths } from '../session/paths.ts';

/**
 * `verify DIR` or `parse DIR`: replays a session's log, or only parses and hashes its lines. Prints the milliseconds
 * (without those of loading the program) and the peak of its memory as JSON.
 */
const [what = '', dir = ''] = process.argv.slice(2);

async function verify(): Promise<number> {
  const { verifySession } = await import('../session/verify.ts');
  const startedAt = performance.now();
  const report = await verifySession(dir, renderDocument);
  const ms = performance.now() - startedAt;
  // the trajectories are not laid out: only the log is replayed
  const problem = report.problems.find((p) => p.kind !== 'missing text');
  if (problem) throw new Error(`${problem.kind} ${problem.where}: ${problem.what}`);
  return ms;
}

function parse(): number {
  const startedAt = performance.now();
  let last = '';
  let events = 0;
  for (const line of readFileSync(sessionPaths(dir).log, 'utf8').split('\n')) {
    if (line === '') continue;
    events = (JSON.parse(line) as { readonly seq: number }).seq;
    last = sha256(line);
  }
  const ms = performance.now() - startedAt;
  if (events === 0 || last === '') throw new Error('there was nothing to parse');
  return ms;
}

const ms = what === 'verify' ? await verify() : parse();
/** Linux counts what the parent had into `maxRSS`, so the kernel's own mark is read there. */
function peakMb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kb) / 1024;
}

console.log(JSON.stringify({ ms, peakMb: peakMb() }));
