import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readOutput } from '../agents/cli/output-file.ts';
import { cellOf } from './jobs.ts';
import { ENTRY_VARIABLE, entryOf, readTrial, type TrialResult } from './trial.ts';

/** A trial's folder and what its result file says; null = it has not ended, or died. */
export type FoundTrial = { readonly folder: string; readonly name: string; readonly result: TrialResult | null };

/** The trials of a job as its folder shows them now. Files that are being written are read again later. */
export async function trialsIn(jobFolder: string): Promise<readonly FoundTrial[]> {
  const entries = await readdir(jobFolder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.map(async (name) => {
      const folder = join(jobFolder, name);
      return { folder, name, result: readTrial(await readOutput(join(folder, 'result.json'))) };
    }),
  );
}

/** What stands for a trial among the requests of its job; null = it is none of ours. */
export function cellOfTrial(result: TrialResult): string | null {
  const entry = entryOf(result);
  return entry === null ? null : cellOf(result.task_id.path, entry);
}

/** The cell of a trial that still runs, by the config that Harbor writes at its start. */
export async function cellByConfig(folder: string): Promise<string | null> {
  try {
    const config = JSON.parse(await Bun.file(join(folder, 'config.json')).text()) as {
      readonly task?: { readonly path?: string };
      readonly agent?: { readonly env?: Readonly<Record<string, string>> };
    };
    const entry = config.agent?.env?.[ENTRY_VARIABLE];
    const path = config.task?.path;
    return entry === undefined || path === undefined ? null : cellOf(path, entry);
  } catch {
    return null;
  }
}

const planShape = z.object({
  job: z.string(),
  /** Key of the rollout by its cell. */
  keys: z.record(z.string(), z.string()),
});
/** What a job was for: written before it starts, so that what it finished can be told from what it did not. */
export type JobPlan = z.output<typeof planShape>;

/** The files of all jobs of a session. */
export class JobsPlace {
  readonly jobs: string;
  readonly skills: string;
  readonly #plans: string;

  constructor(dir: string) {
    this.jobs = join(dir, 'jobs');
    this.skills = join(dir, 'skills');
    this.#plans = join(dir, 'plans');
  }

  folderOf(job: string): string {
    return join(this.jobs, job);
  }

  /** A file of a job beside its folder, which is Harbor's alone. */
  file(job: string, what: 'config.json' | 'overlay.yaml'): string {
    return join(this.#plans, `${job}.${what}`);
  }

  async begin(plan: JobPlan): Promise<void> {
    await mkdir(this.#plans, { recursive: true });
    await mkdir(this.jobs, { recursive: true });
    const file = join(this.#plans, `${plan.job}.json`);
    await writeFile(`${file}.new`, JSON.stringify(plan));
    await rename(`${file}.new`, file);
  }

  /** Jobs that were begun and are not put away. */
  async plans(): Promise<readonly JobPlan[]> {
    const names = await readdir(this.#plans).catch(() => []);
    const found = await Promise.all(
      names
        .filter((name) => /^[A-Za-z0-9-]+\.json$/.test(name))
        .sort()
        .map(async (name) => readPlan(await readFile(join(this.#plans, name), 'utf8').catch(() => ''))),
    );
    return found.filter((plan) => plan !== null);
  }

  /** Takes away what a job left, its own folder too. */
  async putAway(job: string): Promise<void> {
    await rm(this.folderOf(job), { recursive: true, force: true });
    for (const what of ['config.json', 'overlay.yaml'] as const) await rm(this.file(job, what), { force: true });
    await rm(join(this.#plans, `${job}.json`), { force: true });
  }
}

function readPlan(text: string): JobPlan | null {
  try {
    return planShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
