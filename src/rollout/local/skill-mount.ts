import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { sha256 } from '../../ports/hash.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { SkillMount } from '../agents/agent.ts';
import { copyTree } from '../copy-tree.ts';
import type { Folders } from './folders.ts';
import { plainFile } from './plain-file.ts';

/** A skill as it lies in a rollout. */
export type Mount = {
  readonly dir: string;
  /** What it was when it was mounted. */
  readonly tree: Tree;
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
  makeReadOnly(dir);
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
  return { dir, tree: treeOf(dir, anySize), links, madeFolders };
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
  for (const link of mount.links) if (isLink(link)) await rm(link);
  for (const folder of mount.madeFolders) {
    try {
      rmdirSync(folder);
    } catch {
      // something else has come into it, or it is gone
    }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** True when the agent changed, added or removed anything in the skill's folder. */
export function skillChanged(mount: Mount): boolean {
  try {
    return treeOf(mount.dir, mount.tree).digest !== mount.tree.digest;
  } catch {
    return true;
  }
}

/** Deepest first. */
function foldersBetween(first: string, last: string): readonly string[] {
  const all: string[] = [];
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) all.push(folder);
  return all;
}

function makeReadOnly(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadOnly(path);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o555);
  }
  chmodSync(folder, readOnlyFolder);
}

/** A folder as it is: a digest over every path, kind, permission and byte, and how much there is to look at. */
type Tree = { readonly digest: string; readonly entries: number; readonly largestBytes: number };
type Size = Omit<Tree, 'digest'>;

const anySize: Size = { entries: Number.POSITIVE_INFINITY, largestBytes: Number.POSITIVE_INFINITY };

/** Throws at what goes beyond `most`: no agent makes us read more than was mounted. */
function treeOf(folder: string, most: Size): Tree {
  const lines: string[] = [];
  let largestBytes = 0;
  const visit = (path: string, name: string): void => {
    const stat = lstatSync(path);
    if (stat.isFile()) largestBytes = Math.max(largestBytes, stat.size);
    if (lines.length >= most.entries || largestBytes > most.largestBytes) throw new Error('more than was mounted');
    const kind = `${name}\0${stat.mode.toString(8)}\0`;
    if (stat.isDirectory()) {
      lines.push(kind);
      for (const entry of readdirSync(path).sort()) visit(join(path, entry), `${name}/${entry}`);
    } else if (stat.isSymbolicLink()) {
      lines.push(kind + readlinkSync(path));
    } else {
      lines.push(kind + (stat.isFile() ? sha256(readFileSync(path, { flag: plainFile })) : ''));
    }
  };
  visit(folder, '');
  return { digest: sha256(lines.join('\n')), entries: lines.length, largestBytes };
}
