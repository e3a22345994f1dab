import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { SeedSkill } from '../session/first-lines.ts';
import { decodeSkill, readSkill } from '../skill/document.ts';
import { seedWarnings } from '../skill/seed-warnings.ts';
import { copyTree } from '../taskpack/copy.ts';
import { copyAnyPack } from '../taskpack/read-any-pack.ts';
import { hashFiles, requireTree } from '../taskpack/tree.ts';
import { exampleName, exampleText, writeExample } from './bundled.ts';
import { secretsOf } from './secrets.ts';
import { lookAt, readSkillFile } from './skill-file.ts';

/** Copies skill and pack into the session. The sources are only read. */
export type Sources = {
  readonly importSkill: (config: Pick<Config, 'skill'> & Partial<Config>, to: string) => Promise<SeedSkill>;
  readonly importPack: (config: Pick<Config, 'pack'>, to: string) => Promise<void>;
};

/**
 * `base` is the folder that relative paths of the config start from; `onWarning` hears what is odd about the seed. The
 * values of secrets must not stand in it.
 */
export function sources(base: string, onWarning: (text: string) => void): Sources {
  return {
    async importSkill(config, to) {
      const example = exampleName(config.skill);
      const folder = example === null ? skillFolder(base, config.skill) : null;
      const shownAs = folder === null ? config.skill : join(folder, 'SKILL.md');
      const text =
        folder === null
          ? decodeSkill(Buffer.from(exampleText(example ?? '', `${example}/SKILL.md`)), shownAs)
          : readSkillFile(shownAs);
      const document = readSkill(text, shownAs);
      const leaked = secretsOf(config.preloads).find((s) => text.includes(s.value));
      if (leaked)
        throw fail(
          'skill',
          `the skill holds the value of ${leaked.name}`,
          shownAs,
          'take the secret out of the skill; name the variable instead',
        );
      for (const w of seedWarnings(document, folder === null ? (example ?? '') : basename(folder))) onWarning(w);
      const copy = join(to, document.name);
      if (folder === null) writeExample(example ?? '', example ?? '', copy);
      else await copyTree(folder, copy, { code: 'skill', named: 'SKILL.md' });
      return { name: document.name, text, ...(await bundleOf(copy)), from: config.skill };
    },
    async importPack(config, to) {
      const example = exampleName(config.pack);
      if (example !== null) writeExample(example, 'tasks', to);
      else {
        // faults are told of the user's own files
        await copyAnyPack(resolve(base, config.pack), to);
      }
    },
  };
}

/** Whether the source of a skill still holds what a session began with; of a bundled one the text alone is compared. */
export async function skillSource(
  base: string,
  config: Config,
  began: { readonly text: string; readonly bundle: string },
): Promise<'same' | 'changed' | 'gone'> {
  const example = exampleName(config.skill);
  if (example !== null) return exampleText(example, `${example}/SKILL.md`) === began.text ? 'same' : 'changed';
  try {
    const folder = skillFolder(base, config.skill);
    const text = readSkillFile(join(folder, 'SKILL.md'));
    return text === began.text && (await bundleOf(folder)).bundle === began.bundle ? 'same' : 'changed';
  } catch {
    return existsSync(resolve(base, config.skill)) ? 'changed' : 'gone';
  }
}

/** The folder of a skill that is given by its folder or by its SKILL.md. */
export function skillFolder(base: string, given: string): string {
  const path = resolve(base, given);
  const found = lookAt(path);
  if (found === null)
    throw fail('skill', 'there is no such skill', path, 'give the path of a SKILL.md or of its folder');
  const folder = found.isDirectory() ? path : dirname(path);
  const file = found.isDirectory() ? join(path, 'SKILL.md') : path;
  if (basename(file) !== 'SKILL.md' || !existsSync(file))
    throw fail('skill', 'there is no SKILL.md', file, 'a skill is a folder with a file SKILL.md');
  return folder;
}

/** Hash and names of the files of a skill beside its SKILL.md. */
export async function bundleOf(dir: string): Promise<{ readonly bundle: string; readonly files: readonly string[] }> {
  const { files } = await requireTree(dir, 'skill');
  const bundled = files.filter((f) => f.path !== 'SKILL.md');
  return { bundle: (await hashFiles(bundled)).slice(0, 16), files: bundled.map((f) => f.path) };
}
