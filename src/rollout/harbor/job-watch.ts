import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readOutput } from '../agents/cli/output-file.ts';
import { cellByConfig, cellOfTrial } from './job-folder.ts';
import { readTrial, type TrialResult } from './trial.ts';

/** Where a running trial stands, by its files. An agent that writes nothing is seen when it has ended. */
export type RunningPhase = 'prepare' | 'agent' | 'verifier';

/** A trial at one look. `cell` stands for its request; null = it is not known yet, or none of ours. */
export type SeenTrial = { readonly folder: string; readonly cell: string | null } & (
  | { readonly result: null; readonly phase: RunningPhase }
  | { readonly result: TrialResult }
);

/**
 * What the folder of a running job shows, look by look: a trial that has ended is shown once and never read again, of one
 * that runs only what says where it stands is looked at.
 */
export class JobWatch {
  readonly #ended = new Set<string>();
  readonly #running = new Map<string, { cell: string | null; phase: RunningPhase }>();

  constructor(private readonly folder: string) {}

  /** Names of all trials that were ever seen, also of those whose folder is gone by now. */
  get trials(): readonly string[] {
    return [...this.#ended, ...this.#running.keys()];
  }

  /** `over`: Harbor has ended, so that nothing is being written any more. */
  async look(over: boolean): Promise<readonly SeenTrial[]> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isDirectory() && !this.#ended.has(entry.name));
    const toldAt = over ? Number.POSITIVE_INFINITY : await changedAt(join(this.folder, 'result.json'));
    return Promise.all(names.map(({ name }) => this.#lookAt(name, toldAt)));
  }

  /**
   * Harbor tells the job of a trial's end after it has taken secrets out of the trial's files: until the job's own file is
   * as new as the trial's, they may be in the making.
   */
  async #lookAt(name: string, toldAt: number): Promise<SeenTrial> {
    const folder = join(this.folder, name);
    const writtenAt = await changedAt(join(folder, 'result.json'));
    const result =
      writtenAt > 0 && writtenAt <= toldAt ? readTrial(await readOutput(join(folder, 'result.json'))) : null;
    if (result !== null) {
      this.#ended.add(name);
      this.#running.delete(name);
      return { folder, cell: cellOfTrial(result), result };
    }
    const known = this.#running.get(name) ?? { cell: null, phase: 'prepare' };
    this.#running.set(name, known);
    known.cell ??= await cellByConfig(folder);
    known.phase = await phaseOf(folder, known.phase);
    return { folder, cell: known.cell, result: null, phase: known.phase };
  }
}

/** When a file with anything in it was last written, in milliseconds since 1970; 0 = there is none. */
async function changedAt(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  return found === null || found.size === 0 ? 0 : found.mtimeMs;
}

/** Harbor collects what the agent leaves before the verifier begins, and writes a list of it. */
async function phaseOf(folder: string, before: RunningPhase): Promise<RunningPhase> {
  const isThere = async (...path: string[]) => (await changedAt(join(folder, ...path))) > 0;
  if (before === 'verifier') return 'verifier';
  if (await isThere('artifacts', 'manifest.json')) return 'verifier';
  if (before === 'agent') return 'agent';
  const logs = await readdir(join(folder, 'agent')).catch(() => []);
  return logs.some((name) => name !== 'setup') ? 'agent' : 'prepare';
}
