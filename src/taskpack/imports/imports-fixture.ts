import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pack, PromptTask } from '../../ports/task.ts';
import { runCheck, softScore, type TextCheck } from '../../rollout/checks/run-check.ts';
import { type Files, temporaryFolder } from '../pack-fixture.ts';
import { readAnyPack } from '../read-any-pack.ts';
import { type ImportOptions, importPack } from './import-pack.ts';
import type { ImportReport } from './import-report.ts';

/** For tests: what an import of some files made. */
export type Imported = {
  readonly report: ImportReport;
  /** The pack as our own reader takes it. */
  readonly pack: Pack;
  /** The score of an answer to a task: 1 = all its checks pass. */
  readonly score: (id: string, answer: string) => number;
  readonly task: (id: string) => PromptTask;
  /** Losses of a kind, a line each. */
  readonly told: (kind: 'left' | 'changed' | 'unused') => readonly string[];
  /** The folder with `source` and `pack`. */
  readonly dir: string;
};

const folders: string[] = [];

/** For tests: imports `source/PATH` from some files into `pack`, and reads that. */
export async function imported(
  files: Files,
  options: Partial<ImportOptions> & { readonly path?: string } = {},
): Promise<Imported> {
  const { path = '', ...rest } = options;
  const { dir } = await temporaryFolder(
    Object.fromEntries(Object.entries(files).map(([name, content]) => [`source/${name}`, content])),
  );
  folders.push(dir);
  const report = await importPack(join(dir, 'source', path), {
    to: join(dir, 'pack'),
    format: null,
    glob: null,
    strict: false,
    ...rest,
  });
  const pack = await readAnyPack(report.pack);
  const task = (id: string): PromptTask => {
    const found = pack.tasks.find((one) => one.id === id);
    if (found?.kind !== 'prompt') throw new Error(`no task ${id} among ${pack.tasks.map((one) => one.id).join(', ')}`);
    return found;
  };
  return {
    report,
    pack,
    task,
    dir,
    score: (id, answer) =>
      softScore(
        task(id).checks.map((check) => ({
          weight: check.weight,
          passed: runCheck(check as TextCheck, answer),
        })),
      ),
    told: (kind) =>
      report.losses.filter((loss) => loss.kind === kind).map(({ where, what, why }) => `${where} ${what}: ${why}`),
  };
}

/** For tests: the failure of an import, as a record. */
export async function refused(
  files: Files,
  options: Partial<ImportOptions> & { readonly path?: string } = {},
): Promise<unknown> {
  return imported(files, options).then(
    ({ report }) => report,
    (error: { readonly failure?: unknown }) => error.failure ?? error,
  );
}

/** For tests: removes what was imported. */
export async function removeImported(): Promise<void> {
  for (const dir of folders.splice(0)) await rm(dir, { recursive: true, force: true });
}
