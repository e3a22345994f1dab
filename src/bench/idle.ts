import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sessionPaths } from '../session/paths.ts';
import type { Figure } from './figure.ts';
import { inScratch, plainEnvironment } from './scratch.ts';
import { paintedOnScreen, startInTerminal } from './terminal.ts';

const watchedMs = 20_000;
/** By then what a start leaves behind has come to rest, and the screen has gone over to its slower clock. */
const settleMs = 16_000;

/** Processor time of the live screen while nothing happens: paused, and with rollouts that take minutes. Linux alone. */
export async function idleFigures(binary: string): Promise<readonly Figure[]> {
  const [paused, waiting] = await Promise.all([idle(binary, 'paused'), idle(binary, 'waiting')]);
  return [
    figure('idle, paused', 'the live screen of a paused session', paused),
    figure('idle, waiting', 'the live screen while every worker waits for a long rollout', waiting),
  ];
}

function figure(name: string, what: string, percent: number): Figure {
  return {
    name,
    what: `${what}, over ${watchedMs / 1000} s`,
    value: percent,
    unit: '% of a core',
    target: { atMost: 1 },
    n: 1,
    measured: { processorMs: (percent * watchedMs) / 100 },
    note: '',
  };
}

/** Percent of a core. */
function idle(binary: string, how: 'paused' | 'waiting'): Promise<number> {
  return inScratch(async (folder) => {
    const dir = join(folder, 'session');
    const delayMs = how === 'paused' ? 300 : 600_000;
    const program = startInTerminal([binary, 'demo', dir, '--delay', String(delayMs)], {
      cwd: folder,
      env: plainEnvironment(folder),
    });
    try {
      await program.until(paintedOnScreen('skillopt'));
      await holds(() => typesIn(dir).includes('rollout.started'), 'a rollout was started');
      if (how === 'paused') {
        program.press('p');
        await holds(() => isQuiet(typesIn(dir)), 'the session was paused and nothing ran any more');
      }
      await Bun.sleep(settleMs);
      const bytes = statSync(sessionPaths(dir).log).size;
      const before = processorMs(program.pid);
      const startedAt = performance.now();
      await Bun.sleep(watchedMs);
      const spent = processorMs(program.pid) - before;
      const elapsed = performance.now() - startedAt;
      if (statSync(sessionPaths(dir).log).size !== bytes) throw new Error(`something happened while it was ${how}`);
      return (spent / elapsed) * 100;
    } finally {
      await program.end();
    }
  });
}

/** The session says that it is paused, and what ran has come to its end. */
function isQuiet(types: readonly string[]): boolean {
  const count = (type: string) => types.filter((t) => t === type).length;
  return types.includes('session.paused') && count('rollout.started') === count('rollout.finished');
}

function typesIn(dir: string): readonly string[] {
  try {
    const lines = readFileSync(sessionPaths(dir).log, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as { readonly type: string }).type);
  } catch {
    return []; // it is not there yet
  }
}

async function holds(condition: () => boolean, what: string): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
    await Bun.sleep(20);
  }
}

/** User and system time of a process so far. The kernel counts hundredths of a second. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
