import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type SplitName, splitNames } from '../../ports/task.ts';
import { PROMPT_PACK_FILE } from '../prompt-pack.ts';
import { Ids } from './ids.ts';
import type { PromptDraft, PromptImport } from './imported.ts';
import type { Losses } from './losses.ts';

/** Name of the file in which the splits of a source stand, as a config has them. */
export const SPLITS_FILE = 'splits.json';

/** A task that was made, and where it comes from. */
export type Made = { readonly id: string; readonly from: string };

/** Most checks of a task, and fewest tasks of a split, as packs and configs have them. */
const MOST_CHECKS = 100;
const FEWEST_IN_SPLIT = 2;

/**
 * Writes a prompt pack into a folder: tasks.json, the files it names, and the splits if the source has usable ones. What
 * says the same twice is kept once.
 */
export async function writePrompts(
  dir: string,
  name: string,
  found: PromptImport,
  losses: Losses,
): Promise<{
  readonly tasks: readonly Made[];
  /** Whether SPLITS_FILE was written. */
  readonly splits: boolean;
}> {
  const ids = new Ids();
  const kept: (PromptDraft & { readonly wish: string })[] = [];
  const seen = new Map<string, string>();
  const tasks: Readonly<Record<string, unknown>>[] = [];
  for (const draft of found.tasks) {
    if (draft.checks.length > MOST_CHECKS) {
      losses.left(draft.where, draft.id, `it has ${draft.checks.length} checks; ${MOST_CHECKS} is the most of a task`);
      continue;
    }
    const entry = entryOf(draft);
    if (!isWellFormed(entry)) {
      losses.left(draft.where, draft.id, 'it holds half a character, which can not be saved as UTF-8');
      continue;
    }
    const twin = seen.get(JSON.stringify(entry));
    if (twin !== undefined) {
      losses.left(draft.where, draft.id, `the same as ${twin}: it would count twice`);
      continue;
    }
    const id = ids.take(draft.id);
    seen.set(JSON.stringify(entry), id);
    kept.push({ ...draft, id, wish: draft.id });
    tasks.push({ id, ...entry });
  }
  const pack = { version: 1, name, ...(found.system === undefined ? {} : { system: found.system }), tasks };
  await writeFile(join(dir, PROMPT_PACK_FILE), jsonText(pack), { flag: 'wx' });
  const named = new Set(kept.flatMap((task) => task.files ?? []));
  for (const file of found.files.filter((one) => named.has(one.name))) {
    await mkdir(dirname(join(dir, file.name)), { recursive: true });
    await writeFile(join(dir, file.name), file.bytes, { flag: 'wx' });
  }
  const splits = splitsOf(kept, losses);
  if (splits !== null) await writeFile(join(dir, SPLITS_FILE), jsonText({ splits }), { flag: 'wx' });
  return { tasks: kept.map(({ id, where }) => ({ id, from: where })), splits: splits !== null };
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value !== 'object' || value === null || Object.entries(value).flat().every(isWellFormed);
}

function entryOf(draft: PromptDraft): Readonly<Record<string, unknown>> {
  return {
    prompt: draft.prompt,
    ...(draft.system === undefined ? {} : { system: draft.system }),
    ...(draft.files === undefined ? {} : { files: draft.files }),
    ...(draft.shouldTrigger === undefined ? {} : { should_trigger: draft.shouldTrigger }),
    ...(draft.checks.length === 0 ? {} : { checks: draft.checks }),
  };
}

/** The lists of a config; null = the source has no splits, or one that is too small to be one. */
function splitsOf(
  tasks: readonly PromptDraft[],
  losses: Losses,
): Readonly<Record<SplitName, readonly string[]>> | null {
  if (!tasks.some((task) => task.split !== undefined)) return null;
  const of = (split: SplitName) => tasks.flatMap((task) => (task.split === split ? [task.id] : []));
  const splits = { train: of('train'), selection: of('selection'), test: of('test') };
  const small = splitNames.filter((name) => splits[name].length < FEWEST_IN_SPLIT);
  if (small.length === 0) return splits;
  const why = `fewer than ${FEWEST_IN_SPLIT} tasks are left for ${small.join(' and ')}: the splits are drawn by ratio`;
  losses.changed('train, val, test', 'the splits', why);
  return null;
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
