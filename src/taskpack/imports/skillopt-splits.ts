import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import type { SplitName } from '../../ports/task.ts';
import { instructionHash } from '../instruction.ts';
import type { PromptDraft, PromptImport } from './imported.ts';
import { type Located, located, locatedJson, locatedJsonLines, type Path } from './located.ts';
import { Losses } from './losses.ts';
import { ANSWER_FORM, readItem } from './skillopt-item.ts';
import type { SourceFiles } from './source-files.ts';
import { isRecord, scalarText } from './texts.ts';

/** The folders of a source and the splits that they are, in the order in which one content may stand in only one. */
const folders: readonly (readonly [string, SplitName])[] = [
  ['train', 'train'],
  ['val', 'selection'],
  ['test', 'test'],
];

/** Whether a folder is parted like that. */
export function hasSplits(names: readonly string[]): boolean {
  return names.includes('train') && (names.includes('val') || names.includes('test'));
}

/**
 * Reads a folder of `train`, `val` and `test` (val is our selection), each with a file of items. What asks the same in
 * two splits is kept in the first of them alone: it has been learned from there.
 */
export async function readSkillOptSplits(root: string, files: SourceFiles): Promise<PromptImport> {
  const losses = new Losses();
  const tasks: PromptDraft[] = [];
  const home = new Map<string, { readonly folder: string; readonly where: string }>();
  let entries = 0;
  losses.changed(
    'train, val, test',
    'how answers are scored',
    'the program that scores them is not in the folder; here what stands in the last <answer>, or else on the last line, is compared without case, punctuation of words and a first article',
  );
  for (const [folder, split] of folders) {
    const source = await readFolder(root, folder, files, losses);
    if (source === null) continue;
    for (const [path, item] of itemsOf(source.found.value)) {
      entries++;
      const where = source.found.place(path);
      const id = (isRecord(item) ? scalarText(item.id ?? item.uid ?? item.questionId) : null) ?? `${folder}-${entries}`;
      const name = `item ${id} of ${folder}`;
      const reading = isRecord(item) ? readItem(item) : { ok: false as const, why: 'it is no object' };
      if (!reading.ok) {
        losses.left(where, name, reading.why);
        continue;
      }
      const asked = instructionHash(reading.prompt);
      const other = home.get(asked);
      if (other !== undefined && other.folder !== folder) {
        losses.left(where, name, `a leak: ${other.folder} asks the same (${other.where}), and it is kept there alone`);
        continue;
      }
      home.set(asked, other ?? { folder, where });
      tasks.push({ id, where, prompt: reading.prompt, checks: [reading.check], split });
    }
  }
  return { kind: 'prompts', tasks, files: [], losses: losses.all(), entries, system: ANSWER_FORM };
}

/** The first file of items in the folder of a split; others are told. Null = there is none. */
async function readFolder(
  root: string,
  folder: string,
  files: SourceFiles,
  losses: Losses,
): Promise<{ readonly found: Located } | null> {
  const names = await readdir(join(root, folder)).catch(() => null);
  if (names === null) {
    losses.changed(folder, `the split ${folder}`, 'there is no such folder: the splits are drawn by ratio');
    return null;
  }
  const sources = ['.json', '.jsonl', '.csv'].flatMap((ending) => names.filter((name) => name.endsWith(ending)).sort());
  const [first, ...more] = sources;
  if (first === undefined) {
    losses.changed(folder, `the split ${folder}`, 'it holds no .json, .jsonl or .csv: the splits are drawn by ratio');
    return null;
  }
  for (const name of more) losses.left(`${folder}/${name}`, 'a file of items', `only ${first} of a folder is read`);
  const reading = await files.read(`${folder}/${first}`);
  if (!reading.ok) throw fail('pack', reading.why, join(root, folder, first), 'put a readable file there');
  return { found: itemsSource(reading.name, reading.text) };
}

/** A .json may also hold one item a line. */
function itemsSource(file: string, text: string): Located {
  if (!/\.json$/i.test(file)) return located(file, text);
  try {
    return locatedJson(file, text);
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    if (lines.length < 2 || !lines.slice(0, 2).every(isJson)) throw error;
    return locatedJsonLines(file, text);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A list, a list under `data`, or the values of an object. */
function itemsOf(value: unknown): readonly (readonly [Path, unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => [[index], item] as const);
  if (!isRecord(value)) return [];
  if (Array.isArray(value.data)) return value.data.map((item: unknown, index) => [['data', index], item] as const);
  return Object.entries(value).map(([key, item]) => [[key], item] as const);
}
