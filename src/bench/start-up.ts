import { statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../e2e/built-binary.ts';
import { type Figure, median } from './figure.ts';
import { inScratch, plainEnvironment } from './scratch.ts';
import { paintedOnScreen, startInTerminal } from './terminal.ts';

const versionRuns = 41;
const frameRuns = 11;

/** `--version`: the binary against the bare runtime. The floor is a program that does nothing, built in the same way. */
export async function versionFigure(binary: string, runtime: string): Promise<Figure> {
  return inScratch(async (folder) => {
    const nothing = join(folder, 'nothing');
    build('--entry=src/bench/nothing.ts', `--outfile=${nothing}`);
    const ms = { binary: [] as number[], runtime: [] as number[], nothing: [] as number[] };
    for (let run = 0; run < versionRuns; run++) {
      ms.binary.push(runMs([binary, '--version'], folder));
      ms.runtime.push(runMs([runtime, '--version'], folder));
      ms.nothing.push(runMs([nothing], folder));
    }
    const [binaryMs, runtimeMs, nothingMs] = [median(ms.binary), median(ms.runtime), median(ms.nothing)];
    return {
      name: 'version',
      what: 'skillopt --version against bun --version',
      value: binaryMs / runtimeMs,
      unit: '×',
      target: { atMost: 1.5 },
      floor: nothingMs / runtimeMs,
      n: versionRuns,
      measured: { skilloptMs: binaryMs, bunMs: runtimeMs, emptyProgramMs: nothingMs },
      note: `bun prints its version before it starts its engine; a program that does nothing, built alike, takes ${(nothingMs / runtimeMs).toFixed(2)} ×, skillopt ${(binaryMs / nothingMs).toFixed(2)} × of that`,
    };
  });
}

function runMs(command: readonly string[], folder: string): number {
  const startedAt = performance.now();
  const end = Bun.spawnSync([...command], {
    env: plainEnvironment(folder),
    cwd: folder,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const ms = performance.now() - startedAt;
  if (!end.success) throw new Error(`${command.join(' ')} failed: ${end.stderr}`);
  return ms;
}

/** From the start to the first frame: the live screen of a new demo against one line by Ink, built in the same way. */
export async function firstFrameFigure(binary: string): Promise<Figure> {
  return inScratch(async (folder) => {
    const oneLine = join(folder, 'one-line');
    build('--entry=src/bench/one-line.tsx', `--outfile=${oneLine}`);
    const ms = { screen: [] as number[], line: [] as number[] };
    for (let run = 0; run < frameRuns; run++) {
      ms.screen.push(await frameMs([binary, 'demo', join(folder, `demo-${run}`)], 'skillopt', folder));
      ms.line.push(await frameMs([oneLine], 'one line', folder));
    }
    const [screenMs, lineMs] = [median(ms.screen), median(ms.line)];
    return {
      name: 'first frame',
      what: 'the live screen of a new skillopt demo against one line by Ink',
      value: screenMs / lineMs,
      unit: '×',
      target: { atMost: 1.3 },
      n: frameRuns,
      measured: { screenMs, oneLineMs: lineMs },
      note: '',
    };
  });
}

async function frameMs(command: readonly string[], text: string, folder: string): Promise<number> {
  const program = startInTerminal(command, { cwd: folder, env: plainEnvironment(folder) });
  try {
    return await program.until(paintedOnScreen(text));
  } finally {
    await program.end();
  }
}

/** Bytes of the binary against the runtime that is in it. */
export function sizeFigure(binary: string, runtime: string): Figure {
  const [binaryBytes, runtimeBytes] = [statSync(binary).size, statSync(runtime).size];
  return {
    name: 'size',
    what: 'the binary against the bare runtime',
    value: binaryBytes / runtimeBytes,
    unit: '×',
    target: { atMost: 1.15 },
    n: 1,
    measured: { skilloptMb: binaryBytes / 1e6, bunMb: runtimeBytes / 1e6 },
    note: '',
  };
}
