import { lstat, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fail, SkilloptError } from '../../ports/failure.ts';
import { growFolder } from '../copy.ts';
import { readAnyPack } from '../read-any-pack.ts';
import { detect, type Source } from './detect.ts';
import { findTaskFolders } from './harbor.ts';
import { type ImportReport, REPORT_FILE, reportText, shownLosses } from './import-report.ts';
import type { FolderImport, ImportFormat, Loss, PromptImport } from './imported.ts';
import { Losses } from './losses.ts';
import { readPromptfoo } from './promptfoo.ts';
import { type EvalsSource, readSkillCreator } from './skill-creator.ts';
import { readSkillOptSplits } from './skillopt-splits.ts';
import { namedFrom, SourceFiles } from './source-files.ts';
import { writeFolders } from './write-folders.ts';
import { SPLITS_FILE, writePrompts } from './write-prompts.ts';

export type ImportOptions = {
  /** Where the pack is made; null: beside the working directory's files, named after the source. */
  readonly to: string | null;
  /** null: by what the source holds. */
  readonly format: ImportFormat | null;
  /** Which folders of a dataset are tasks; null: all that are. */
  readonly glob: string | null;
  /** Whatever is not carried over as it is becomes a failure, and nothing is made. */
  readonly strict: boolean;
};

/**
 * Makes a pack of ours of tasks in another format. The source is only read. The pack is whole or absent, and passes our
 * own reader. Everything of the source that it does not say is in `losses`, and in the file IMPORT.md of the pack.
 *
 * Throws `usage` for a source that is not clear, `pack` for one that can't be read, of which no task is left, or, with
 * `strict`, of which anything is not carried over, and `disk` where the pack can't be written or something is there.
 */
export async function importPack(given: string, options: ImportOptions): Promise<ImportReport> {
  if (options.glob !== null && options.format !== null && options.format !== 'harbor')
    throw fail('usage', `--glob names task folders, and ${options.format} has none`, '--glob', 'leave --glob out');
  const source = await detect(given, options.format ?? (options.glob === null ? null : 'harbor'));
  const target = resolve(options.to ?? `${nameOf(given, source)}-pack`);
  await refuseInside(given, target);
  if (await lstat(target).catch(() => null))
    throw fail(
      'usage',
      'something is there already, and nothing is written over',
      target,
      'name another place: --to DIR',
    );
  const found = await namedFrom(source.root, () => read(source, options.glob));
  const losses = new Losses();
  let report: ImportReport | null = null;
  await growFolder(target, async (growing) => {
    const made =
      found.kind === 'folders'
        ? { tasks: await writeFolders(growing, found, losses), splits: false }
        : await writePrompts(growing, basename(target), found, losses);
    const all = [...found.losses, ...losses.all()];
    refuse(made.tasks.length, all, given, options.strict);
    const whole: ImportReport = {
      format: source.format,
      source: given,
      pack: target,
      tasks: made.tasks,
      entries: found.entries,
      losses: all.toSorted((a, b) => order[a.kind] - order[b.kind]),
      splits: made.splits ? SPLITS_FILE : null,
    };
    await requireValid(growing, given);
    await writeFile(join(growing, REPORT_FILE), reportText(whole), { flag: 'wx' });
    report = whole;
  });
  if (report === null) throw fail('internal', 'an import without a report', target, 'report this');
  return report;
}

/** A pack that our own reader refuses is a fault of this program, and is not left behind. */
async function requireValid(pack: string, given: string): Promise<void> {
  try {
    await readAnyPack(pack);
  } catch (cause) {
    if (!(cause instanceof SkilloptError)) throw cause;
    const what = `the pack that was made of it is not valid, a fault of this program: ${cause.failure.what}`;
    throw fail('internal', what, given, 'report it with the entry that it names; nothing was written', { cause });
  }
}

const order = { left: 0, changed: 1, unused: 2 } as const;

async function read(source: Source, glob: string | null): Promise<PromptImport | FolderImport> {
  const files = await SourceFiles.of(source.root);
  const read = async (name: string) => {
    const reading = await files.read(name);
    if (!reading.ok) throw fail('pack', reading.why, join(source.root, name), 'name a text file');
    return reading;
  };
  switch (source.format) {
    case 'harbor':
      return findTaskFolders(source.root, glob);
    case 'skillopt':
      return readSkillOptSplits(source.root, files);
    case 'promptfoo': {
      const { name, text } = await read(source.files[0] ?? '');
      return readPromptfoo(name, text, files);
    }
    case 'skill-creator': {
      const sources: EvalsSource[] = [];
      for (const file of source.files) {
        const { name, text } = await read(file);
        // names start from the skill’s folder; some write them from the file’s own
        sources.push({ file: name, text, bases: [...new Set(['', dirname(name).replace(/^\.$/, '')])] });
      }
      return readSkillCreator(sources, files);
    }
    default:
      return source.format satisfies never;
  }
}

/** What mends it that nothing could be carried over. */
const steps: readonly (readonly [RegExp, string])[] = [
  [
    /it is made by a program/,
    'write the prompts out as texts with {{variables}} in a copy of the config, and import that',
  ],
  [
    /list of ids/,
    'put question and answer into the items, as SkillOpt’s loaders do when they make a split, and import that',
  ],
  [/judge|judging/, 'write down what has to stand in the answers, as checks: docs/prompt-packs.md'],
];

function nextStep(left: readonly Loss[]): string {
  const fits = ([reason]: (typeof steps)[number]) => left.some(({ why }) => reason.test(why));
  return steps.find(fits)?.[1] ?? 'see docs/imports.md for what can be carried over';
}

function refuse(tasks: number, losses: readonly Loss[], given: string, strict: boolean): void {
  if (tasks === 0) {
    const left = losses.filter((loss) => loss.kind === 'left');
    if (left.length === 0)
      throw fail('pack', 'there is no task in it', given, 'see docs/imports.md for what a task is');
    throw fail('pack', 'no task could be carried over', shownLosses(left).join('\n'), nextStep(left));
  }
  const told = losses.filter((loss) => loss.kind !== 'unused');
  const where = shownLosses(told).join('\n');
  if (strict && told.length > 0) {
    const what = `${told.length} ${told.length === 1 ? 'thing is' : 'things are'} not carried over as ${told.length === 1 ? 'it is' : 'they are'}, and --strict asks for all`;
    throw fail('pack', what, where, 'leave --strict out to have the rest, with a list of these');
  }
}

function nameOf(given: string, source: Source): string {
  const name = basename(resolve(given)).replace(/\.(?:json|jsonl|ndjson|ya?ml|csv)$/i, '');
  return (source.format === 'skill-creator' && source.files.length > 0 ? basename(source.root) : name) || 'imported';
}

/** A pack inside of the folder that it is made of would change that folder. */
async function refuseInside(given: string, target: string): Promise<void> {
  const source = await realpath(resolve(given)).catch(() => resolve(given));
  let existing = dirname(target);
  while (dirname(existing) !== existing && (await realpath(existing).catch(() => null)) === null)
    existing = dirname(existing);
  const parent = await realpath(existing);
  if (parent === source || parent.startsWith(source + sep))
    throw fail(
      'usage',
      'the pack would lie inside of its source, which is never changed',
      target,
      `name another place, such as --to ../${basename(target)}`,
    );
}
