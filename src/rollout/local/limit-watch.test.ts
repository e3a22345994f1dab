import { expect, test } from 'bun:test';
import {
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../../process/wait.ts';
import { type Folders, foldersIn } from './folders.ts';
import { heldIn } from './held.ts';
import { LimitWatch } from './limit-watch.ts';

async function withFolders(body: (folders: Folders) => Promise<void>): Promise<void> {
  const folders = foldersIn(mkdtempSync(join(tmpdir(), 'limit-watch-')));
  for (const folder of [folders.workspace, folders.home, folders.temp, folders.logs]) mkdirSync(folder);
  try {
    await body(folders);
  } finally {
    rmSync(folders.root, { recursive: true, force: true });
  }
}

const megabyte = Buffer.alloc(1_000_000, 1);
const limits = { processes: 100, fileMb: 3, diskMb: 4 };

test('what folders hold is counted as it lies on the disk: each file once, no holes, nothing behind links', () =>
  withFolders(async ({ workspace, home, root }) => {
    mkdirSync(join(workspace, 'deep', 'er'), { recursive: true });
    writeFileSync(join(workspace, 'deep', 'er', 'file'), megabyte);
    linkSync(join(workspace, 'deep', 'er', 'file'), join(home, 'again'));
    writeFileSync(join(root, 'outside'), megabyte);
    symlinkSync(join(root, 'outside'), join(workspace, 'link'));
    symlinkSync(workspace, join(workspace, 'round'));
    const sparse = openSync(join(home, 'sparse'), 'w');
    ftruncateSync(sparse, 50_000_000);
    closeSync(sparse);
    const { bytes, fullFiles } = await heldIn([workspace, home, join(root, 'none')], 40_000_000);
    expect(bytes).toBeGreaterThanOrEqual(1_000_000);
    expect(bytes).toBeLessThan(1_300_000);
    expect(fullFiles).toEqual([join(home, 'sparse')]);
  }));

test('a phase answers for what comes to it, not for what it found', () =>
  withFolders(async (folders) => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) writeFileSync(join(folders.workspace, name), megabyte);
    writeFileSync(join(folders.workspace, 'full'), Buffer.concat([megabyte, megabyte, megabyte]));
    const watch = await LimitWatch.begin({ folders, limits, cell: null, countsThreads: false });
    writeFileSync(join(folders.home, 'more'), megabyte);
    expect(await watch.end()).toEqual([]);
    expect(watch.over.aborted).toBe(false);
  }));

test('more than it may is told as it happens, and once more at the end', () =>
  withFolders(async (folders) => {
    const watch = await LimitWatch.begin({ folders, limits, cell: null, countsThreads: false });
    for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(join(folders.temp, name), megabyte);
    writeFileSync(join(folders.temp, 'full'), Buffer.concat([megabyte, megabyte, megabyte]));
    expect(await waitUntil(() => watch.over.aborted, 20_000)).toBe(true);
    expect(await watch.end()).toEqual([
      'The limit of 4 MB was reached: it held 8 MB.',
      `The limit of 3 MB for a file was reached, by ${join(folders.temp, 'full')}.`,
    ]);
  }));

test('what came after the last look is found at the end', () =>
  withFolders(async (folders) => {
    const watch = await LimitWatch.begin({ folders, limits, cell: null, countsThreads: false });
    for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(join(folders.logs, name), megabyte);
    expect(await watch.end()).toEqual(['The limit of 4 MB was reached: it held 5 MB.']);
  }));
