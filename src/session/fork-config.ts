import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { checkConfig, parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Bounds } from '../events/shapes.ts';
import { bounds, effectiveConfig } from './effective-config.ts';
import type { Parent } from './fork-parent.ts';
import type { SessionPaths } from './paths.ts';

/** What a fork is configured with. */
export type ForkConfig = {
  /** Paths as the parent's directory sees them; as the fork's does. Budget and limits as they are wanted. */
  readonly ofParent: Config;
  readonly rebased: Config;
  /** Budget and limits as the file has them. */
  readonly file: Bounds;
  /** The text of the fork's config file. */
  readonly text: string;
};

/** The parent's config file as it is now, else the one in its log; relative paths made those of the fork. */
export function configOfFork(from: SessionPaths, target: string, parent: Parent): ForkConfig {
  const there = existsSync(from.config) ? readFileSync(from.config, 'utf8').replace(/^\uFEFF/, '') : null;
  const file = there === null ? null : parseConfig(there, from.config);
  const ofParent = effectiveConfig(file, {}, parent.logged, from);
  const raw = (there === null ? parent.created.config : JSON.parse(there)) as Readonly<Record<string, unknown>>;
  const moved: Record<string, string> = {};
  for (const key of ['skill', 'pack', '$schema'] as const) {
    const path = ofParent[key];
    if (path !== undefined && isRelative(key, path)) moved[key] = relative(target, resolve(from.dir, path)) || '.';
  }
  const data = { ...raw, ...moved };
  return {
    ofParent,
    rebased: { ...ofParent, ...moved },
    file: bounds(checkConfig(data, from.config)),
    text: Object.keys(moved).length === 0 && there !== null ? there : `${JSON.stringify(data, null, 2)}\n`,
  };
}

/** `example:NAME` and URLs are no paths; a schema is one only when it is written as one. */
function isRelative(key: string, path: string): boolean {
  return !isAbsolute(path) && !/^[a-z][a-z0-9+.-]*:/i.test(path) && (key !== '$schema' || path.startsWith('.'));
}
