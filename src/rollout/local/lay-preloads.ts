import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import type { Agent } from '../agents/agent.ts';
import { nothingPrepared, type Prepared } from '../preloads/prepared.ts';
import type { Folders } from './folders.ts';
import type { LocalOptions } from './options.ts';
import type { InsidePlaces } from './sandbox.ts';
import { type Mount, mountSkill } from './skill-mount.ts';

/** What was preloaded for rollouts of a backend. */
export function preparedOf({ preloads }: Pick<LocalOptions, 'preloads'>): Prepared {
  return preloads === null ? nothingPrepared : preloads.prepared;
}

/** Lays the user's instructions into the home, and the other skills where the agent looks for skills. Returns these. */
export async function layPreloads(
  { homeFiles, otherSkills }: Prepared,
  folders: Folders,
  agent: Pick<Agent, 'takesSkill' | 'skillMounts'>,
  inside: InsidePlaces | null,
): Promise<readonly Mount[]> {
  for (const [path, text] of Object.entries(homeFiles)) {
    const file = join(folders.home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const mounts: Mount[] = [];
  if (!agent.takesSkill) return mounts;
  for (const { name, dir } of otherSkills) {
    const text = readFileSync(join(dir, 'SKILL.md'), 'utf8');
    mounts.push(await mountSkill({ name, hash: '', text, bundleDir: dir }, folders, agent.skillMounts, inside));
  }
  return mounts;
}

/** A rollout that changed what all share spoils every later one: this is never an outcome. Throws `environment-down`. */
export function demandUnchanged({ changed, show }: Prepared): void {
  const what = changed();
  if (what === null) return;
  throw fail(
    'environment-down',
    `${what} by a rollout, so what follows would be measured with something else`,
    show[0] ?? 'preloads',
    'start it again: it is installed anew; within a sandbox no rollout can change it',
  );
}
