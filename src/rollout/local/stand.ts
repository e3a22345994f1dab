import { lstatSync, mkdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlainFolder } from './plain-below.ts';
import type { Placeholder } from './sandbox.ts';

/** What stands in the rollout's folders during one phase alone: links, and what was made for them and for what is shown. */
export type Stand = { readonly links: readonly string[]; readonly made: readonly Placeholder[] };

/**
 * Makes what has to stand in the rollout's folders so that something can be shown in its place. Throws an error of the file
 * system, with its path, where something else stands in the way.
 */
export function makePlaceholders(root: string, placeholders: readonly Placeholder[]): Stand {
  const made: Placeholder[] = [];
  for (const { path, kind } of placeholders) {
    made.push(...makeFolder(root, kind === 'folder' ? path : dirname(path)));
    if (kind === 'folder' || lstatSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    writeFileSync(path, '', { flag: 'wx' });
    made.push({ path, kind });
  }
  return { links: [], made };
}

/** Makes a folder below `root`, and those above it; returns those that were not there. Never through a link. */
export function makeFolder(root: string, path: string): readonly Placeholder[] {
  const made: Placeholder[] = [];
  let at = root;
  for (const name of path.slice(root.length + 1).split('/')) {
    at = join(at, name);
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) continue;
    mkdirSync(at);
    made.push({ path: at, kind: 'folder' });
  }
  return made;
}

/**
 * Takes away again what stood there for one phase, where nothing else has come into it. Never through a link that an
 * agent planted: what it leads to is not the rollout's.
 */
export function clearStand(root: string, stand: Stand): void {
  for (const path of stand.links)
    if (isPlainFolder(root, dirname(path))) ignoring(() => isLink(path) && unlinkSync(path));
  for (const { path, kind } of stand.made.toReversed()) {
    if (!isPlainFolder(root, dirname(path))) continue;
    // something else may have come into it, or it is gone
    ignoring(() => (kind === 'folder' ? rmdirSync(path) : lstatSync(path).size === 0 && unlinkSync(path)));
  }
}

const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink();

function ignoring(work: () => unknown): void {
  try {
    work();
  } catch {}
}
