import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { placeOf } from '../config/layers.ts';
import type { Config } from '../config/schema.ts';
import { Fold } from '../events/fold.ts';
import { SkilloptError } from '../ports/failure.ts';
import type { Finding } from '../ports/preflight.ts';
import { effectiveConfig } from '../session/effective-config.ts';
import { loggedOf } from '../session/logged-of.ts';
import { type SessionPaths, sessionPaths } from '../session/paths.ts';
import type { SessionParts } from '../session/session-parts.ts';
import { exampleName } from './bundled.ts';
import { flagsOf, type KeyFlags } from './layered-config.ts';
import type { OverrideOptions } from './override-options.ts';
import { shownDir } from './read-state.ts';
import { sessionChecks } from './session-checks.ts';
import { sessionPlace } from './session-place.ts';
import { sessionParts, type Wirable, wired } from './wiring.ts';

export type SessionLookOptions = OverrideOptions & KeyFlags & { readonly allowUnsandboxed?: boolean };

/** What a session would find here; `findings` null = there is no session and no config. */
export type SessionLook = { readonly dir: string; readonly findings: readonly Finding[] | null };

/**
 * All that `run` looks at before it spends anything, without a session being opened: nothing is written to its directory,
 * no lock is taken, no model is called. What ends `run` at once is one finding.
 */
export async function sessionFindings(given: string, options: SessionLookOptions): Promise<SessionLook> {
  const dir = shownDir(resolve(given));
  const temp = await mkdtemp(join(tmpdir(), 'skillopt-doctor-'));
  try {
    return { dir, findings: await look(given, options, temp) };
  } catch (error) {
    if (!(error instanceof SkilloptError)) throw error;
    const { what, where, fix } = error.failure;
    return { dir, findings: [{ level: 'error', what, where, fix }] };
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

async function look(given: string, options: SessionLookOptions, temp: string): Promise<readonly Finding[] | null> {
  const flags = flagsOf(options);
  const place = sessionPlace(given, flags);
  const paths = sessionPaths(place.dir);
  const logged = loggedOf(paths);
  if (place.config === null && logged.created === null) return null;
  const { config, layers } = effectiveConfig(place.config, place.flags, logged, paths);
  const odd: Finding[] = [];
  const parts = sessionParts(place.dir, (what) =>
    odd.push({ level: 'warning', what, where: config.skill, fix: 'see `skillopt lint`' }),
  );
  await parts.refuseSecrets(config, (key) => placeOf(layers, key));
  const { created } = logged;
  const begun = created === null ? null : { skill: created.skill, paths };
  const state = new Fold({ feed: false }).state;
  const session: Wirable = {
    ...(await sourcesOf(config, place.dir, parts, begun, temp)),
    config,
    id: 'doctor',
    paths,
    isNew: begun === null,
    state,
    onEvent: () => () => {},
  };
  const made = await wired(session, place.dir, {
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    rehearsalDelayMs: 0,
  });
  try {
    const checked = await Promise.all(sessionChecks(session, made).map((check) => check.preflight()));
    return [...odd, ...checked.flat()];
  } finally {
    await made.gateway?.close();
  }
}

/** Skill and pack: a session's own copies; of one that has not begun the sources, which are only read. */
async function sourcesOf(
  config: Config,
  base: string,
  parts: SessionParts,
  begun: { readonly skill: Wirable['skill']; readonly paths: SessionPaths } | null,
  temp: string,
): Promise<Pick<Wirable, 'skill' | 'pack'>> {
  if (begun !== null) return { skill: begun.skill, pack: await parts.readPack(begun.paths.pack) };
  const skill = await parts.importSkill(config, join(temp, 'skill'));
  if (exampleName(config.pack) === null) return { skill, pack: await parts.readPack(resolve(base, config.pack)) };
  await parts.importPack(config, join(temp, 'pack'));
  return { skill, pack: await parts.readPack(join(temp, 'pack')) };
}
