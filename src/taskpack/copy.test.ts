import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, truncate, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Failure, SkilloptError } from '../ports/failure.ts';
import { copyTree } from './copy.ts';
import { temporaryFolder, writeFiles } from './pack-fixture.ts';
import { hashTree } from './tree.ts';

let dir: string;
let remove: () => Promise<void>;
let from: string;
let to: string;

beforeEach(async () => {
  ({ dir, remove } = await temporaryFolder());
  from = join(dir, 'a folder');
  to = join(dir, 'session/copy');
});
afterEach(() => remove());

async function refusal(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof SkilloptError) return error.failure;
  throw error ?? new Error('was not refused');
}

const entries = async (path: string) => (await readdir(path, { recursive: true })).toSorted();

describe('copyTree', () => {
  test('copies all but .DS_Store and a .git at the top, and leaves the source as it is', async () => {
    await writeFiles(from, {
      'SKILL.md': 'text',
      '.hidden': 'x',
      'scripts/run.sh*': '#!/bin/sh\n',
      'node_modules/p/index.js': 'x',
      'fixtures/repo/.git/HEAD': 'x',
      'empty/folder': null,
      'é 汉/🦀': Uint8Array.from([0, 255]),
      '.git/HEAD': 'x',
      '.DS_Store': 'x',
      'scripts/.DS_Store': 'x',
    });
    await chmod(join(from, '.hidden'), 0o400);
    await chmod(join(from, 'scripts'), 0o555);
    const before = await entries(from);
    await copyTree(from, to);
    await chmod(join(from, 'scripts'), 0o755);
    expect(await entries(to)).toEqual(
      before.filter((path) => !path.endsWith('.DS_Store') && path !== '.git' && !path.startsWith('.git/')),
    );
    expect(await entries(from)).toEqual(before);
    expect(await hashTree(to)).toBe(await hashTree(from));
    expect(new Uint8Array(await readFile(join(to, 'é 汉/🦀')))).toEqual(Uint8Array.from([0, 255]));
    const modes = ['SKILL.md', '.hidden', 'scripts', 'scripts/run.sh'].map(
      async (path) => (await stat(join(to, path))).mode & 0o777,
    );
    expect(await Promise.all(modes)).toEqual([0o644, 0o644, 0o755, 0o755]);
    expect(await readdir(join(dir, 'session'))).toEqual(['copy']);
  });

  test('links that stay inside become what they lead to, the folder itself may be a link', async () => {
    await writeFiles(from, { 'a/x*': 'bytes', 'b/y': 'y' });
    await symlink('../a/x', join(from, 'b/link'));
    await symlink('a', join(from, 'folder-link'));
    await symlink(join(from, 'b/y'), join(from, 'absolute'));
    await symlink('a folder', join(dir, 'alias'));
    await copyTree(join(dir, 'alias'), to);
    expect(await entries(to)).toEqual(['a', 'a/x', 'absolute', 'b', 'b/link', 'b/y', 'folder-link', 'folder-link/x']);
    expect(await readFile(join(to, 'b/link'), 'utf8')).toBe('bytes');
    expect((await lstat(join(to, 'b/link'))).isSymbolicLink()).toBe(false);
    expect((await stat(join(to, 'folder-link/x'))).mode & 0o777).toBe(0o755);
    expect(await hashTree(to)).toBe(await hashTree(from));
  });

  test('refuses links that lead out and says so for each, and nothing is written', async () => {
    await writeFiles(from, { x: 'x' });
    await symlink('/etc', join(from, 'one'));
    await symlink('../other', join(from, 'two'));
    const failure = await refusal(copyTree(from, to, { code: 'skill' }));
    expect(failure.code).toBe('skill');
    expect(failure.where).toBe(
      `${from}/one: a symbolic link that leads out of the folder\n${from}/two: a link that leads nowhere, or a name that is not UTF-8`,
    );
    expect(await readdir(dir)).toEqual(['a folder']);
  });

  test('takes the one file that the user has named through a link that leads out, and no other', async () => {
    await writeFiles(from, { x: 'x' });
    await writeFiles(dir, { 'elsewhere/real.md': 'the text' });
    await symlink('../elsewhere/real.md', join(from, 'SKILL.md'));
    await copyTree(from, to, { named: 'SKILL.md' });
    expect(await readFile(join(to, 'SKILL.md'), 'utf8')).toBe('the text');
    expect((await lstat(join(to, 'SKILL.md'))).isSymbolicLink()).toBe(false);
    expect((await refusal(copyTree(from, join(dir, 'other'), {}))).where).toStartWith(`${from}/SKILL.md: `);
    await symlink('../elsewhere', join(from, 'folder'));
    expect((await refusal(copyTree(from, join(dir, 'other'), { named: 'folder' }))).where).toContain(
      `${from}/folder: `,
    );
  });

  test('lists twenty of many such links, and how many more', async () => {
    await writeFiles(from, { x: 'x' });
    for (let n = 0; n < 30; n++) await symlink('/etc', join(from, `l${n}`));
    const lines = (await refusal(copyTree(from, to))).where.split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([21, 'and 10 more']);
  });

  test('a folder whose name begins like the root does not lie in it', async () => {
    await writeFiles(dir, { 'a folder/x': 'x', 'a folder and more/y': 'y' });
    await symlink('../a folder and more/y', join(from, 'link'));
    expect((await refusal(copyTree(from, to))).what).toMatch(/leads out/);
  });

  test('refuses a target that exists, and leaves it as it is', async () => {
    await writeFiles(dir, { 'a folder/x': 'new', 'session/copy/x': 'old' });
    expect((await refusal(copyTree(from, to))).code).toBe('disk');
    expect(await readFile(join(to, 'x'), 'utf8')).toBe('old');
    expect(await readdir(join(dir, 'session'))).toEqual(['copy']);
  });

  test('refuses a target inside the source, also by way of a link', async () => {
    await writeFiles(from, { x: 'x' });
    await symlink('a folder', join(dir, 'alias'));
    for (const inside of [join(from, 'session/copy'), join(from, 'copy'), join(dir, 'alias/copy')]) {
      expect((await refusal(copyTree(from, inside))).what).toMatch(
        /the copy would lie inside the folder that is copied/,
      );
    }
    expect(await readdir(from)).toEqual(['x']);
  });

  test('leaves nothing behind when it fails on the way', async () => {
    await writeFiles(from, { x: 'x' });
    await writeFiles(dir, { session: 'a file where a folder is needed' });
    expect((await refusal(copyTree(from, to))).code).toBe('disk');
    expect((await readdir(dir)).toSorted()).toEqual(['a folder', 'session']);
  });

  test('stops at its bounds', async () => {
    await writeFiles(from, { a: '', b: '', c: '' });
    expect((await refusal(copyTree(from, to, { limits: { maxBytes: 10, maxFiles: 2 } }))).what).toMatch(/over 2 files/);
    await truncate(join(from, 'a'), 3_000_000);
    expect((await refusal(copyTree(from, to, { limits: { maxBytes: 2_000_000, maxFiles: 9 } }))).what).toMatch(
      /over 2 MB/,
    );
  });

  test('refuses a folder that is not there, and a file', async () => {
    expect((await refusal(copyTree(from, to))).what).toMatch(/can not be read/);
    await writeFiles(dir, { 'a folder': 'x' });
    expect((await refusal(copyTree(from, to))).what).toMatch(/not readable/);
  });
});

describe('hashTree', () => {
  test('sees paths, exec bits and bytes, and nothing else', async () => {
    await writeFiles(from, { 'a/x': 'x', b: 'y' });
    const before = await hashTree(from);
    await utimes(join(from, 'b'), 1, 1);
    await chmod(join(from, 'b'), 0o600);
    await mkdir(join(from, 'empty'));
    expect(await hashTree(from)).toBe(before);
    await chmod(join(from, 'b'), 0o700);
    expect(await hashTree(from)).not.toBe(before);
  });

  test('does not confuse where a name ends and a content begins', async () => {
    await writeFiles(dir, { 'one/a': 'bc', 'two/ab': 'c', 'three/a': 'b', 'three/b': 'c' });
    const hashes = await Promise.all(['one', 'two', 'three'].map((name) => hashTree(join(dir, name))));
    expect(new Set(hashes).size).toBe(3);
  });
});
