import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readOutput } from '../agents/cli/output-file.ts';
import { cellOf } from './jobs.ts';
import { ENTRY_VARIABLE, entryOf, readTrial, type TrialResult } from './trial.ts';

/** A trial's folder and what its result file says; null = it has not ended, or died. */
export type FoundTrial = { readonly folder: string; readonly name: string; readonly result: TrialResult | null };

/** The trials of a job that nothing works at any more. */
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
    const config = JSON.parse(await readOutput(join(folder, 'config.json'))) as {
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

/** A trial that ended and whose report nobody took: what it was for, and where it lies. */
export type Unclaimed = {
  readonly key: string;
  readonly job: string;
  readonly folder: string;
  readonly trial: TrialResult;
};

/** Folders of jobs with a rollout that has no score are kept to be read, so many; the oldest go. */
const mostKept = 10;

/**
 * The files of all jobs of a session. A job stands open from its plan on until it is closed; a closed job whose folder is
 * kept is there for people alone, and is never read again.
 */
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
    const file = this.#planOf(plan.job);
    await writeFile(`${file}.new`, JSON.stringify(plan));
    await rename(`${file}.new`, file);
  }

  /** Jobs that were begun and are not closed. */
  async plans(): Promise<readonly JobPlan[]> {
    const names = await readdir(this.#plans).catch(() => []);
    const found = await Promise.all(
      names
        .filter((name) => /^[A-Za-z0-9_-]+\.json$/.test(name))
        .sort()
        .map(async (name) => readPlan(await readFile(join(this.#plans, name), 'utf8').catch(() => ''), name)),
    );
    return found.filter((plan) => plan !== null);
  }

  /** Trials of an open job that ended by themselves, those of `taken` keys left out. */
  async unclaimed({ job, keys }: JobPlan, taken: ReadonlySet<string> = new Set()): Promise<readonly Unclaimed[]> {
    return (await trialsIn(this.folderOf(job))).flatMap(({ folder, result: trial }) => {
      const cell = trial === null ? null : cellOfTrial(trial);
      const key = cell === null ? undefined : keys[cell];
      const wasEnded = trial?.exception_info?.exception_type === 'CancelledError';
      return trial === null || key === undefined || taken.has(key) || wasEnded ? [] : [{ key, job, folder, trial }];
    });
  }

  /** Closes a job: nothing of it is handed over any more. `keep`: its folder stays for a while, to be read. */
  async close(job: string, keep: boolean): Promise<void> {
    await rm(this.#planOf(job), { force: true });
    for (const what of ['config.json', 'overlay.yaml'] as const) await rm(this.file(job, what), { force: true });
    if (!keep) await rm(this.folderOf(job), { recursive: true, force: true });
    else await this.removeKept(mostKept);
  }

  /** Takes away kept folders but the newest. Returns how many. */
  async removeKept(but: number): Promise<number> {
    const open = new Set((await this.plans()).map(({ job }) => job));
    const closed = (await readdir(this.jobs).catch(() => [])).filter((name) => !open.has(name));
    const aged = await Promise.all(
      closed.map(async (name) => ({ name, at: (await stat(this.folderOf(name)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    const old = aged.sort((a, b) => b.at - a.at || a.name.localeCompare(b.name)).slice(but);
    for (const { name } of old) await rm(this.folderOf(name), { recursive: true, force: true });
    return old.length;
  }

  #planOf(job: string): string {
    return join(this.#plans, `${job}.json`);
  }
}

/** A plan that is not whole, or stands under another name, is none. */
function readPlan(text: string, file: string): JobPlan | null {
  try {
    const plan = planShape.parse(JSON.parse(text));
    return `${plan.job}.json` === file ? plan : null;
  } catch {
    return null;
  }
}
