import { join } from 'node:path';
import { type Figure, median } from './figure.ts';
import { growLog, layOut } from './grown-log.ts';
import { inScratch } from './scratch.ts';

const events = 100_000;
const fewerEvents = 25_000;
const runs = 5;

type Child = { readonly ms: number; readonly peakMb: number };

/** Replay of a long log: its time against parsing and hashing the same lines, and its memory against a shorter log. */
export async function replayFigures(): Promise<readonly Figure[]> {
  return inScratch(async (folder) => {
    const long = join(folder, 'long');
    const short = join(folder, 'short');
    const lines = await growLog(events);
    layOut(long, lines);
    layOut(short, lines.slice(0, fewerEvents));
    const verified: Child[] = [];
    const parsed: Child[] = [];
    const verifiedShort: Child[] = [];
    for (let run = 0; run < runs; run++) {
      verified.push(child('verify', long));
      parsed.push(child('parse', long));
      verifiedShort.push(child('verify', short));
    }
    const verifyMs = median(verified.map((c) => c.ms));
    const parseMs = median(parsed.map((c) => c.ms));
    const peakMb = median(verified.map((c) => c.peakMb));
    const peakShortMb = median(verifiedShort.map((c) => c.peakMb));
    return [
      {
        name: 'replay',
        what: `verify of ${events} events against JSON.parse and sha256 of their lines`,
        value: verifyMs / parseMs,
        unit: '×',
        target: { atMost: 3 },
        n: runs,
        measured: { verifyMs, parseMs },
        note: 'the log alone, without the trajectories beside it',
      },
      {
        name: 'replay memory',
        what: `peak of ${events} events against that of ${fewerEvents}`,
        value: peakMb / peakShortMb,
        unit: '×',
        // what stays by event (the outcomes by key, what the screens tell) is small: far from four times as much
        target: { atMost: 2.5 },
        n: runs,
        measured: { peakMb, peakShortMb },
        note: 'four times the log; what grows is the outcomes by key and what screens tell',
      },
    ];
  });
}

function child(what: 'verify' | 'parse', dir: string): Child {
  const end = Bun.spawnSync([process.execPath, join(import.meta.dir, 'replay-child.ts'), what, dir], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  if (!end.success) throw new Error(`${what} ${dir} failed:\n${end.stderr}`);
  return JSON.parse(end.stdout.toString()) as Child;
}
