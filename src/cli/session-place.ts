import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { differences } from '../config/differences.ts';
import { configOfLayers, fileLayers, type Layers, type Override, withOverrides } from '../config/layers.ts';
import { readConfigFile } from '../config/load.ts';
import { diskFailure } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { differenceTexts } from '../session/effective-config.ts';
import { movedPath, movedPreloads } from '../session/fork-config.ts';
import { sessionPaths } from '../session/paths.ts';
import { environment, type Flags, fileAndEnvironmentIfThere } from './layered-config.ts';
import { shownDir } from './read-state.ts';

/** Where a command works, and with what. */
export type SessionPlace = {
  /** The session's directory. */
  readonly dir: string;
  /** Its config file with the environment above it; null: there is none. */
  readonly config: Layers | null;
  readonly flags: readonly Override[];
};

/**
 * The session of a directory, or the one that `env.out_root` lays out elsewhere: there stands a copy of the directory's
 * config, whose relative paths mean the same; with `layOut` it is written if it is not there yet. A config there that says
 * something else is refused, never overwritten.
 */
export function sessionPlace(given: string, flags: Flags, layOut = false): SessionPlace {
  const from = resolve(given);
  const dir = flags.outRoot === null ? from : resolve(flags.outRoot);
  const own = sessionPaths(dir).config;
  const source = sessionPaths(from).config;
  if (dir === from || !existsSync(source))
    return { dir, config: fileAndEnvironmentIfThere(own), flags: flags.overrides };
  const move = (o: Override): Override => ({ ...o, value: movedValue(o.key, o.value, from, dir) });
  const there = fileLayers(source);
  const data = Object.fromEntries(
    Object.entries(there.data).map(([key, value]) => [key, movedValue(key, value, from, dir)]),
  );
  const config = withOverrides({ ...there, data }, environment().map(move));
  const moved = flags.overrides.map(move);
  configOfLayers(withOverrides(config, moved));
  if (existsSync(own)) refuseOwn(readConfigFile(own), data, own, from, dir);
  else if (layOut) writeThere(data, from, dir);
  return { dir, config, flags: moved };
}

/** A value of a key as another directory sees it: paths, those of preloads, and those among a command's words. */
function movedValue(key: string, value: unknown, from: string, to: string): unknown {
  if (/^preloads(\.|$)/.test(key)) return movedPreloads(key, value, from, to);
  if (typeof value === 'string') return movedPath(key, value, from, to);
  if (/^(model|optimizer)(\.command)?$/.test(key) && typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) return value.map((word) => movedWord(word, from, to));
    const { command } = value as { readonly command?: unknown };
    return Array.isArray(command) ? { ...value, command: command.map((word) => movedWord(word, from, to)) } : value;
  }
  return value;
}

function movedWord(word: unknown, from: string, to: string): unknown {
  const isPath = typeof word === 'string' && !isAbsolute(word) && existsSync(resolve(from, word));
  if (!isPath || (!word.includes('/') && !/\.\w+$/.test(word))) return word;
  const path = relative(to, resolve(from, word));
  return path.startsWith('.') ? path : `./${path}`;
}

function refuseOwn(existing: unknown, data: object, own: string, from: string, dir: string): void {
  const { inPlace, fork } = differences(existing, data);
  const all = [...inPlace, ...fork];
  if (all.length === 0) return;
  throw fail(
    'session-mismatch',
    `env.out_root holds a config of its own, and the one of ${shownDir(from)} says something else: ${differenceTexts(all).join(', ')}`,
    own,
    `go on with \`skillopt run ${shellWord(shownDir(dir))}\`, or name another directory`,
  );
}

function writeThere(data: object, from: string, dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
    const edits = join(from, 'rehearsal.json');
    if (existsSync(edits) && !existsSync(join(dir, 'rehearsal.json'))) copyFileSync(edits, join(dir, 'rehearsal.json'));
    writeWhole(sessionPaths(dir).config, `${JSON.stringify(data, null, 2)}\n`);
  } catch (cause) {
    throw diskFailure('the session’s directory can’t be laid out', dir, cause);
  }
}
