import { join } from 'node:path';
import { kindOf } from '../events/events.ts';
import { type Figure, median } from './figure.ts';
import { growLog, layOut } from './grown-log.ts';
import { inScratch } from './scratch.ts';

const events = 100_000;
const fewerEvents = 25_000;
const runs = 5;

type What = 'verify' | 'parse' | 'hold';
type Child = { readonly ms: number; readonly peakMb: number; readonly heldBytes: number };

/** Replay of a long log: its time against parsing and hashing the same lines, and what it holds against their size. */
export async function replayFigures(): Promise<readonly Figure[]> {
  return inScratch(async (folder) => {
    const long = join(folder, 'long');
    const short = join(folder, 'short');
    const lines = await growLog(events);
    layOut(long, lines);
    layOut(short, lines.slice(0, fewerEvents));
    const verified: Child[] = [];
    const parsed: Child[] = [];
    for (let run = 0; run < runs; run++) {
      verified.push(child('verify', long));
      parsed.push(child('parse', long));
    }
    const peakShortMb = child('verify', short).peakMb;
    // the collector leaves more or less behind by what the machine has: counted is what is alive after it
    const heldLong = child('hold', long).heldBytes;
    const heldShort = child('hold', short).heldBytes;
    const bytesOf = (some: readonly string[]) => some.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const bytesMore = bytesOf(lines.slice(fewerEvents));
    return [
      {
        name: 'replay',
        what: `verify of ${events} events against JSON.parse and sha256 of their lines`,
        // each run against the one beside it
        value: median(verified.map((v, run) => v.ms / (parsed[run]?.ms ?? Number.NaN))),
        unit: '×',
        target: { atMost: 3 },
        n: runs,
        measured: { verifyMs: median(verified.map((c) => c.ms)), parseMs: median(parsed.map((c) => c.ms)) },
        note: `the log alone, without the trajectories beside it: ${contents(lines, bytesOf(lines))}`,
      },
      {
        name: 'replay memory',
        what: `what is held for each event after the first ${fewerEvents}, against its line`,
        value: (heldLong - heldShort) / bytesMore,
        unit: '×',
        // flat but for the outcomes by key and the edits: no line, no text of a candidate
        target: { atMost: 0.75 },
        n: 1,
        measured: {
          heldBytesAnEvent: (heldLong - heldShort) / (events - fewerEvents),
          peakMb: median(verified.map((c) => c.peakMb)),
          peakShortMb,
        },
        note: 'alive after a collection while log, fold and replay are at hand; the peak holds what is not collected yet',
      },
    ];
  });
}

/** What a log holds, for people. */
function contents(lines: readonly string[], bytes: number): string {
  const types = lines.map((line) => (JSON.parse(line) as { readonly type: string }).type);
  const many = (wanted: (type: string) => boolean) => types.filter(wanted).length;
  const rollouts = many((type) => type === 'rollout.finished');
  const reflections = many((type) => type === 'reflection.finished');
  const decisions = many((type) => kindOf(type) === 'decision');
  return `${rollouts} rollouts, ${reflections} reflections, ${decisions} decisions, ${(bytes / lines.length).toFixed(0)} bytes a line`;
}

function child(what: What, dir: string): Child {
  const end = Bun.spawnSync([process.execPath, join(import.meta.dir, 'replay-child.ts'), what, dir], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  if (!end.success) throw new Error(`${what} ${dir} failed:\n${end.stderr}`);
  return JSON.parse(end.stdout.toString()) as Child;
}
