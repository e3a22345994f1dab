import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { holdsTasks } from './harbor.ts';
import type { ImportFormat } from './imported.ts';
import { located } from './located.ts';
import { isPromptfoo, promptfooNames } from './promptfoo.ts';
import { isSkillCreator } from './skill-creator.ts';
import { hasSplits } from './skillopt-splits.ts';
import { namedFrom, SourceFiles } from './source-files.ts';

/** A source that has been looked at. */
export type Source = {
  readonly format: ImportFormat;
  /** Absolute: the folder from which its files are named. */
  readonly root: string;
  /** Files with tasks, from the root, with `/`; none for folders of tasks or splits. */
  readonly files: readonly string[];
};

/** Where the evals of a skill lie in its folder. */
const evalPlaces = ['evals/evals.json', 'evals.json'];

const FORMS =
  'the evals.json of a skill, a promptfooconfig.yaml, a folder with train/, val/ and test/, or a dataset of task folders';

/**
 * Finds out what a source is, by what it holds, or takes `wanted` for it. Throws `usage` when that is not clear or there
 * is nothing of the kind, and `pack` for a file that can't be read.
 */
export async function detect(given: string, wanted: ImportFormat | null): Promise<Source> {
  const path = resolve(given);
  const info = await stat(path).catch(() => null);
  if (info === null) throw fail('usage', 'there is no such source', path, 'check the path');
  return info.isDirectory() ? ofFolder(path, wanted) : ofFile(path, wanted);
}

async function ofFolder(root: string, wanted: ImportFormat | null): Promise<Source> {
  const names = await readdir(root).catch(() => {
    throw fail('usage', 'the folder can not be read', root, 'check its permissions');
  });
  const found: Source[] = [];
  const config = promptfooNames.find((name) => names.includes(name));
  if (config !== undefined) found.push({ format: 'promptfoo', root, files: [config] });
  const evals = await evalFiles(root);
  if (evals.length > 0) found.push({ format: 'skill-creator', root, files: evals });
  if (hasSplits(names)) found.push({ format: 'skillopt', root, files: [] });
  if (wanted === 'harbor' || (found.length === 0 && (await holdsTasks(root))))
    found.push({ format: 'harbor', root, files: [] });
  return one(found, wanted, root);
}

/** `evals.json` of a skill's folder, and lists of prompts beside it that say should_trigger. */
async function evalFiles(root: string): Promise<readonly string[]> {
  const files = await SourceFiles.of(root);
  const found: string[] = [];
  for (const name of evalPlaces) if ((await files.read(name)).ok) found.push(name);
  for (const name of await files.matching('evals/*.json')) {
    if (found.includes(name)) continue;
    const reading = await files.read(name);
    if (reading.ok && fits(isSkillCreator, name, reading.text)) found.push(name);
  }
  return found;
}

async function ofFile(path: string, wanted: ImportFormat | null): Promise<Source> {
  const [root, name] = [dirname(path), basename(path)];
  const reading = await (await SourceFiles.of(root)).read(name);
  if (!reading.ok) throw fail('pack', reading.why, path, 'name a text file');
  const evalsRoot = basename(root) === 'evals' ? dirname(root) : root;
  const evalsName = evalsRoot === root ? name : `evals/${name}`;
  const evals: Source = { format: 'skill-creator', root: evalsRoot, files: [evalsName] };
  const promptfoo: Source = { format: 'promptfoo', root, files: [name] };
  if (wanted === 'skillopt' || wanted === 'harbor')
    throw fail('usage', `${wanted} is a folder, and this is a file`, path, 'name the folder');
  if (wanted !== null) return wanted === 'promptfoo' ? promptfoo : evals;
  if (!/\.(?:json|jsonl|ndjson|ya?ml|csv)$/i.test(name))
    throw fail('usage', 'this is no file that tasks are brought from', path, `name one of: ${FORMS}`);
  const { value } = await namedFrom(root, async () => located(name, reading.text));
  const found = [...(isSkillCreator(value) ? [evals] : []), ...(isPromptfoo(value, name) ? [promptfoo] : [])];
  return one(found, null, path);
}

function one(found: readonly Source[], wanted: ImportFormat | null, path: string): Source {
  const fitting = wanted === null ? found : found.filter((source) => source.format === wanted);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  if (fitting.length > 1) {
    const formats = fitting.map((source) => source.format);
    throw fail(
      'usage',
      `this can be read as ${formats.join(' and as ')}`,
      path,
      `say which: ${formats.map((format) => `--format ${format}`).join(' or ')}`,
    );
  }
  const what =
    wanted === null ? 'nothing here looks like tasks that can be brought' : `it holds nothing in the form of ${wanted}`;
  throw fail('usage', what, path, `name one of: ${FORMS}`);
}

function fits(form: (value: unknown) => boolean, file: string, text: string): boolean {
  try {
    return form(located(file, text).value);
  } catch {
    return false;
  }
}
