import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { shortHash } from '../../ports/hash.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import { readOutput } from '../agents/cli/output-file.ts';
import { copyTree } from '../copy-tree.ts';

/** A skill as Harbor is given it. */
export type LaidSkill = {
  /** A folder named as the skill: Harbor takes the folder's name for the skill's. */
  readonly dir: string;
  /** Harbor's digest of it, which stands in each trial's lock. */
  readonly digest: string;
};

/** Layings under way, by their place: jobs that begin side by side have skills in common. */
const laying = new Map<string, Promise<LaidSkill>>();

/** Lays a skill out for Harbor, once: its text beside the bundled files, below `root`. */
export function laySkill(skill: MountedSkill, root: string): Promise<LaidSkill> {
  const place = join(root, shortHash(JSON.stringify([skill.hash, skill.name, skill.bundleDir])));
  const known = laying.get(place);
  if (known !== undefined) return known;
  const fresh = layAt(place, skill).finally(() => laying.delete(place));
  laying.set(place, fresh);
  return fresh;
}

async function layAt(place: string, skill: MountedSkill): Promise<LaidSkill> {
  const dir = join(place, skill.name);
  const digest = await skillDigest(dir).catch(() => null);
  const text = await readFile(join(dir, 'SKILL.md'), 'utf8').catch(() => null);
  if (digest !== null && text === skill.text) return { dir, digest };
  const fresh = `${place}.new`;
  await rm(fresh, { recursive: true, force: true });
  const inside = join(fresh, skill.name);
  await mkdir(inside, { recursive: true });
  if (skill.bundleDir !== null) await copyTree(skill.bundleDir, inside, { except: ['SKILL.md'] });
  await writeFile(join(inside, 'SKILL.md'), skill.text);
  await rm(place, { recursive: true, force: true });
  await mkdir(dirname(place), { recursive: true });
  await rename(fresh, place);
  return { dir, digest: await skillDigest(dir) };
}

/**
 * Harbor's digest of a skill's folder (`compute_skill_digest`): SHA-256 over each file's path and the SHA-256 of its bytes.
 * A link to a file counts as the file, one to a folder not at all.
 */
export async function skillDigest(dir: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of (await filesBelow(dir)).toSorted(byParts)) {
    const bytes = createHash('sha256')
      .update(await readFile(join(dir, file)))
      .digest('hex');
    hash.update(`${file}\0${bytes}\0`);
  }
  return `sha256:${hash.digest('hex')}`;
}

async function filesBelow(dir: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(join(dir, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry): Promise<readonly string[]> => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(dir, path);
      if (entry.isSymbolicLink()) return (await stat(join(dir, path)).catch(() => null))?.isFile() ? [path] : [];
      return entry.isFile() ? [path] : [];
    }),
  );
  return found.flat();
}

/** As Python sorts paths: part by part, by code points. */
function byParts(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (const [at, part] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (part !== other) return Buffer.compare(Buffer.from(part), Buffer.from(other));
  }
  return left.length - right.length;
}

const lock = z.object({ skills: z.array(z.object({ digest: z.string() })).nullish() });

/** Does a trial's lock name the skill under test, byte for byte? Null = it says nothing of skills. */
export async function isInjected(trial: string, { digest }: LaidSkill): Promise<boolean | null> {
  try {
    const { skills } = lock.parse(JSON.parse(await readOutput(join(trial, 'lock.json'))));
    return skills == null ? null : skills.some((skill) => skill.digest === digest);
  } catch {
    return null;
  }
}
