import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { sha256 } from '../../ports/hash.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { SkillMount } from '../agents/agent.ts';
import { copyTree } from '../copy-tree.ts';
import type { Folders } from './folders.ts';

/** A skill as it lies in a rollout. */
export type Mount = {
  readonly dir: string;
  /** Over every path, kind, permission and byte, taken when it was mounted. */
  readonly digest: string;
  /** Links to it where the agent looks for skills, and folders that were made for them; taken away before the verifier. */
  readonly links: readonly string[];
  readonly madeFolders: readonly string[];
};

const readOnlyFolder = 0o555;

/** Lays the candidate's bytes and the bundled files into the rollout, read-only, and links them where the agent looks. */
export async function mountSkill(skill: MountedSkill, folders: Folders, places: readonly SkillMount[]): Promise<Mount> {
  const why = whyNoFolderName(skill.name);
  if (why !== null) {
    const what = `the name of the skill, ${JSON.stringify(skill.name)}, cannot be the name of a folder: ${why}`;
    throw fail('skill', what, 'SKILL.md', 'name it with lower-case letters, digits and hyphens');
  }
  const dir = join(folders.skills, skill.name);
  await mkdir(dir, { recursive: true });
  if (skill.bundleDir !== null) await copyTree(skill.bundleDir, dir, { except: ['SKILL.md'] });
  await writeFile(join(dir, 'SKILL.md'), skill.text, { mode: 0o444 });
  await makeReadOnly(dir);
  const links: string[] = [];
  const madeFolders: string[] = [];
  for (const place of places) {
    const parent = join(place.base === 'home' ? folders.home : folders.workspace, place.path);
    const first = await mkdir(parent, { recursive: true });
    if (first !== undefined) madeFolders.push(...foldersBetween(first, parent));
    const link = join(parent, skill.name);
    // A task may bring a skill of the same name: only the one under test may be found there.
    await rm(link, { recursive: true, force: true });
    await symlink(dir, link);
    links.push(link);
  }
  return { dir, digest: await treeDigest(dir), links, madeFolders };
}

/** File systems take 255 bytes; what is made beside the folder may need a few. */
const maxNameBytes = 200;

/** Why a skill of this name could not be mounted in a folder of its name; null = it can. */
function whyNoFolderName(name: string): string | null {
  if (name === '') return 'it is empty';
  if (name.startsWith('.')) return 'it begins with a dot';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[/\\\u0000-\u001f\u007f]/.test(name)) return 'it holds a slash, a backslash or a control character';
  const bytes = Buffer.byteLength(name);
  return bytes > maxNameBytes ? `it has ${bytes} bytes, more than ${maxNameBytes}` : null;
}

/** Takes the links away again, and the folders made for them where nothing else has come into them. */
export async function unlinkSkill(mount: Mount): Promise<void> {
  for (const link of mount.links) {
    const stat = await lstat(link).catch(() => null);
    if (stat?.isSymbolicLink()) await rm(link);
  }
  for (const folder of mount.madeFolders) await rmdir(folder).catch(() => {});
}

/** True when the agent changed, added or removed anything in the skill's folder. */
export async function skillChanged(mount: Mount): Promise<boolean> {
  return (await treeDigest(mount.dir).catch(() => '')) !== mount.digest;
}

/** Deepest first. */
function foldersBetween(first: string, last: string): readonly string[] {
  const all: string[] = [];
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) all.push(folder);
  return all;
}

async function makeReadOnly(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadOnly(path);
    else if (entry.isFile()) await chmod(path, (await lstat(path)).mode & 0o555);
  }
  await chmod(folder, readOnlyFolder);
}

async function treeDigest(folder: string): Promise<string> {
  const lines: string[] = [];
  const visit = async (path: string, name: string): Promise<void> => {
    const stat = await lstat(path);
    const kind = `${name}\0${stat.mode.toString(8)}\0`;
    if (stat.isDirectory()) {
      lines.push(kind);
      for (const entry of (await readdir(path)).sort()) await visit(join(path, entry), `${name}/${entry}`);
    } else if (stat.isSymbolicLink()) {
      lines.push(kind + (await readlink(path)));
    } else {
      lines.push(kind + (stat.isFile() ? sha256(await readFile(path)) : ''));
    }
  };
  await visit(folder, '');
  return sha256(lines.join('\n'));
}
