import { realpathSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { builtBinary } from '../e2e/built-binary.ts';
import { asJson, asLines, isFigure, isMet, type Measured, standing } from './figure.ts';
import { gatewayFigure } from './gateway.ts';
import { idleFigures } from './idle.ts';
import { replayFigures } from './replay.ts';
import { sandboxFigures } from './sandbox-start.ts';
import { firstFrameFigure, sizeFigure, versionFigure } from './start-up.ts';
import { poolFigure, speedUpFigure } from './workers.ts';
import { loopFigures } from './world/loop-figures.ts';

/**
 * `npm run bench [-- --json] [NAME…]`: what the program promises about speed and size, measured side by side on this
 * machine, some minutes. With names, only the figures of those groups. Exit code 1 when a target is not met that
 * could be.
 */
const args = process.argv.slice(2);
const json = args.includes('--json');
const wanted = args.filter((arg) => !arg.startsWith('--'));

const binary = builtBinary();
/** The bare runtime that is in the binary: the program itself, not what a package manager puts before it. */
const runtime = realpathSync(join(import.meta.dir, '../../node_modules/bun/bin/bun.exe'));

const groups: Readonly<Record<string, () => Promise<readonly Measured[]>>> = {
  version: async () => [await versionFigure(binary, runtime)],
  'first-frame': async () => [await firstFrameFigure(binary)],
  size: async () => [sizeFigure(binary, runtime)],
  replay: replayFigures,
  idle: () => idleFigures(binary),
  workers: async () => [await speedUpFigure(binary)],
  pool: async () => [await poolFigure(binary)],
  loop: () => loopFigures(binary),
  sandbox: () => sandboxFigures(binary),
  gateway: async () => [await gatewayFigure()],
  // loaded when they are called: they look for what this machine has
  harbor: async () => (await import('./harbor.ts')).harborFigures(),
  agent: async () => (await import('./agent.ts')).agentFigures(binary),
};

const unknown = wanted.filter((name) => !(name in groups));
if (unknown.length > 0) {
  console.error(`there is no figure ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}`);
  process.exit(2);
}

const measured: Measured[] = [];
for (const [name, measure] of Object.entries(groups)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const found = await measure();
  measured.push(...found);
  if (!json) for (const line of asLines(found)) console.log(line);
}

const { length: cores, 0: core } = cpus();
const machine = `${process.platform} ${process.arch}, ${cores} × ${core?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
const figures = measured.filter(isFigure);
if (json) console.log(JSON.stringify(asJson(measured, machine), null, 2));
else console.log(`\n${machine} · ${figures.filter(isMet).length} of ${figures.length} targets met`);
if (figures.some((f) => standing(f) === 'not met')) process.exitCode = 1;
