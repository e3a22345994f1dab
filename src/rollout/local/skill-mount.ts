import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { sha256 } from '../../ports/hash.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { SkillMount } from '../agents/agent.ts';
import { copyTree } from '../copy-tree.ts';
import type { Folders } from './folders.ts';
import { plainFile } from './plain-file.ts';
import type { InsidePlaces, Placeholder, SandboxView } from './sandbox.ts';
import { makeFolder, type Stand } from './stand.ts';

/** A skill as it lies in a rollout. */
export type Mount = {
  readonly dir: string;
  /** Where the agent's processes find it. */
  readonly inside: string;
  /** What it was when it was mounted. */
  readonly tree: Tree;
  /** How it is shown in walls that have paths of their own; empty elsewhere. */
  readonly readOnly: SandboxView['readOnly'];
  /** Links to it where the agent looks for skills; taken away before the verifier. */
  readonly stand: Stand;
};

const readOnlyFolder = 0o555;

/**
 * Lays the candidate's bytes and the bundled files into the rollout, read-only, and has them found where the agent looks:
 * shown there (`inside`: the places of walls that have their own), else by links.
 */
export async function mountSkill(
  skill: MountedSkill,
  folders: Folders,
  mounts: readonly SkillMount[],
  inside: InsidePlaces | null = null,
): Promise<Mount> {
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
  const tree = treeOf(dir, anySize);
  const at = (places: { readonly home: string; readonly workspace: string }, { base, path }: SkillMount) =>
    join(base === 'home' ? places.home : places.workspace, path, skill.name);
  // A task may bring a skill of the same name: only the one under test may be found there.
  for (const mount of mounts) await rm(at(folders, mount), { recursive: true, force: true });
  if (inside !== null) {
    const shown = mounts.length === 0 ? [join(inside.skills, skill.name)] : mounts.map((mount) => at(inside, mount));
    const readOnly = shown.map((to) => ({ from: dir, to }));
    return { dir, inside: shown[0] ?? dir, tree, readOnly, stand: { links: [], made: [] } };
  }
  const made: Placeholder[] = [];
  const links: string[] = [];
  for (const mount of mounts) {
    const link = settled(at(folders, mount));
    made.push(...makeFolder(folders.root, dirname(link)));
    await symlink(dir, link);
    links.push(link);
  }
  return { dir, inside: dir, tree, readOnly: [], stand: { links, made } };
}

/** The path without the links that a task's own folders may hold on the way to it. */
function settled(path: string): string {
  const above = dirname(path);
  return join(existsSync(above) ? realpathSync(above) : settled(above), basename(path));
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

/** True when the agent changed, added or removed anything in the skill's folder. */
export function skillChanged(mount: Mount): boolean {
  try {
    return treeOf(mount.dir, mount.tree).digest !== mount.tree.digest;
  } catch {
    return true;
  }
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
