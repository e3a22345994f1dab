import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Layers } from '../config/layers.ts';
import { CONFIG_FILE, readConfigFile } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { RunState } from '../events/run-state.ts';
import { diskFailure } from '../journal/journal.ts';
import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { checkPackCopy, checkSkillCopy } from '../session/copies.ts';
import { effectiveConfig } from '../session/effective-config.ts';
import type { EvalWanted } from '../session/eval-copies.ts';
import { type SeedSkill, splitsOfPack } from '../session/first-lines.ts';
import { loggedOf } from '../session/logged-of.ts';
import { sessionPaths } from '../session/paths.ts';
import { recordLook } from '../session/second-look.ts';
import { copyTree } from '../taskpack/copy.ts';
import { copyAnyPack, readAnyPack } from '../taskpack/read-any-pack.ts';
import type { EvalOverrides } from './eval-config.ts';
import type { EvalOptions } from './eval-options.ts';
import { fileAndEnvironmentIfThere } from './layered-config.ts';
import { readState, shownDir } from './read-state.ts';
import { renderSession } from './render-session.ts';
import { bundleOf, sources } from './sources.ts';

/** What an eval stands on: a session, or nothing but the flags. */
export type Ground = {
  /** Folder that relative paths of the ground's config start from. */
  readonly base: string;
  readonly layers: Layers;
  readonly config: Config;
  readonly state: RunState | null;
  readonly split: 'train' | 'selection' | 'test';
  readonly dir: string;
};

/** Is a session meant? */
export function isInSession(dir: string | undefined, o: Pick<EvalOptions, 'pack'>): boolean {
  return dir !== undefined || (o.pack === undefined && existsSync(resolve(CONFIG_FILE)));
}

/**
 * The session that is meant: the directory that is named, or this one when a config lies here and no pack is named.
 * Null = there is none. Throws `usage` for a test split that is still sealed.
 */
export function groundOf(
  dir: string | undefined,
  o: Pick<EvalOptions, 'pack' | 'split'>,
  overrides: EvalOverrides,
): Ground | null {
  const path = resolve(dir ?? '.');
  const paths = sessionPaths(path);
  if (!isInSession(dir, o)) {
    if (o.split === undefined) return null;
    throw fail(
      'usage',
      'splits are a session’s, and none is named',
      '--split',
      o.pack === undefined
        ? 'name the session’s directory: skillopt eval DIR --split NAME'
        : 'leave --split out, or name a session’s directory in place of --pack',
    );
  }
  if (o.pack !== undefined)
    throw fail(
      'usage',
      'in a session the pack is the session’s',
      '--pack',
      'leave --pack out, or leave the directory out to measure outside of the session',
    );
  const state = existsSync(paths.log) ? readState(path).state : null;
  const begun = state?.session ? state : null;
  const logged = loggedOf(paths);
  const file = fileAndEnvironmentIfThere(paths.config);
  if (file === null && logged.created === null) readConfigFile(paths.config); // tells that there is none
  const { config, layers } = effectiveConfig(file, overrides, logged, paths);
  const split = o.split ?? 'selection';
  if (split === 'test' && (begun === null || begun.finalized === null)) throw sealed(path, begun);
  return { base: path, layers, config, state: begun, split, dir: path };
}

function sealed(path: string, state: RunState | null) {
  const at = shownDir(path);
  const dir = at === '.' ? '' : ` ${shellWord(at)}`;
  return fail(
    'usage',
    'the test split is sealed: a number from it before the end would steer the search, and then say nothing',
    '--split test',
    state?.ended
      ? `open it once with \`skillopt finalize${dir}\`; until then measure on --split selection`
      : `go on with \`skillopt run${dir}\`, then \`skillopt finalize${dir}\`; until then measure on --split selection`,
  );
}

/** What a session gives to an eval: its pack, its split, and for `--split test` the record of another look. */
export function sessionPart(
  g: Ground,
  now: () => string,
): Pick<EvalWanted, 'importPack' | 'packFrom' | 'session' | 'look' | 'tasksOf'> {
  const { state, split } = g;
  const paths = sessionPaths(g.dir);
  const created = state?.session ?? null;
  return {
    packFrom: created?.pack.from ?? g.config.pack,
    session: { id: created?.session ?? null, split },
    look: split === 'test' ? (id) => recordLook(g.dir, id, { render: renderSession, now }) : null,
    async importPack(to) {
      if (created === null) return sources(g.base, () => {}).importPack(g.config, to);
      await checkPackCopy(created, paths.pack, readAnyPack(paths.pack));
      await copyAnyPack(paths.pack, to);
    },
    tasksOf(pack) {
      const ids = state?.splits ? state.tasks[split] : splitsOfPack(pack, g.config)[split].map((t) => t.id);
      const tasks = ids.flatMap((id) => pack.tasks.find((t) => t.id === id) ?? []);
      return { of: tasks.length, tasks };
    },
  };
}

/** The best skill of a session that has begun, with its bundled files, copied as a seed is; null = it has not begun. */
export function bestOf(
  g: Ground,
): { readonly from: string; readonly import: (to: string) => Promise<SeedSkill> } | null {
  const { state } = g;
  const created = state?.session;
  if (!state || !created) return null;
  const best = state.skills.get(state.incumbent);
  const version = best?.version ?? 0;
  const text = best?.text ?? created.skill.text;
  const { name } = created.skill;
  return {
    from: `${version === 0 ? 'the seed' : `version ${version}`} of session ${created.session}`,
    async import(to) {
      const copy = sessionPaths(g.dir).skill(name);
      await checkSkillCopy(created, copy, bundleOf(copy));
      await copyTree(copy, join(to, name), { code: 'skill', named: 'SKILL.md' });
      try {
        writeFileSync(join(to, name, 'SKILL.md'), text);
      } catch (cause) {
        throw diskFailure('the skill can’t be copied', to, cause);
      }
      const from = `${version === 0 ? 'the seed' : `version ${version}`} of session ${created.session}`;
      return { name, text, ...(await bundleOf(join(to, name))), from };
    },
  };
}
