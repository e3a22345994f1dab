import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { configOfLayers, type Layers, layersOf, type Override, withOverrides } from '../config/layers.ts';
import { parseConfig } from '../config/load.ts';
import { withMovedPaths } from '../config/preload-paths.ts';
import type { Config } from '../config/schema.ts';
import type { Bounds } from '../events/shapes.ts';
import { bounds, boundsOf, effectiveConfig } from './effective-config.ts';
import type { Parent } from './fork-parent.ts';
import type { SessionPaths } from './paths.ts';

/** What a fork is configured with. */
export type ForkConfig = {
  /** Paths as the parent's directory sees them; as the fork's does. Budget and limits as they are wanted. */
  readonly ofParent: Config;
  readonly rebased: Config;
  /** Where its values come from. */
  readonly layers: Layers;
  /** Budget and limits as the fork's file has them. */
  readonly file: Bounds;
  /** The text of the fork's config file. */
  readonly text: string;
};

/**
 * The parent's config file as it is now, else the one in its log, with what flags have set and set now written into it;
 * relative paths made those of the fork.
 */
export function configOfFork(
  from: SessionPaths,
  target: string,
  parent: Parent,
  o: { readonly config: Layers | null; readonly flags: readonly Override[] },
): ForkConfig {
  const there = o.config !== null && existsSync(from.config) ? readFileSync(from.config, 'utf8') : null;
  const { config: ofParent, layers, set } = effectiveConfig(o.config, o.flags, parent.logged, from);
  const raw = there === null ? parent.created.config : parseConfig(there, from.config);
  const source = { kind: 'file', path: from.config } as const;
  const ofFlags = o.flags.filter((flag) => !set.some(({ key }) => key === flag.key));
  const written = [...set.map(({ key, value }) => ({ key, value, source })), ...ofFlags];
  const paths = rebasedPaths(ofParent, from.dir, target);
  const moved = Object.entries(paths).map(([key, value]) => ({ key, value, source }));
  const own = withOverrides(layersOf(raw, source, from.config), [...written, ...moved]);
  const base = withOverrides(o.config ?? layersOf(raw, source, from.config), written);
  return {
    ofParent,
    rebased: { ...ofParent, ...paths },
    layers,
    file: boundsOf(base) ?? bounds(configOfLayers(base)),
    text:
      written.length + moved.length === 0 && there !== null
        ? there.replace(/^\uFEFF/, '')
        : `${JSON.stringify(own.data, null, 2)}\n`,
  };
}

/** The keys of a config that are relative paths, or hold some, with those of another directory. */
export function rebasedPaths(
  config: Pick<Config, 'skill' | 'pack' | '$schema' | 'preloads'>,
  from: string,
  to: string,
): Readonly<Partial<Pick<Config, 'skill' | 'pack' | '$schema' | 'preloads'>>> {
  const moved: Record<string, unknown> = {};
  for (const key of ['skill', 'pack', '$schema'] as const) {
    const path = config[key];
    if (path !== undefined && movedPath(key, path, from, to) !== path) moved[key] = movedPath(key, path, from, to);
  }
  const preloads = movedPreloads('preloads', config.preloads, from, to);
  if (JSON.stringify(preloads) !== JSON.stringify(config.preloads)) moved.preloads = preloads;
  return moved;
}

/** The value of `preloads`, or of a key below it, with its relative paths made those of another directory. */
export function movedPreloads(key: string, value: unknown, from: string, to: string): unknown {
  return withMovedPaths(key, value, (path) => movedPath('skill', path, from, to));
}

/** The value of a key, made that of another directory if it is a relative path. */
export function movedPath(key: string, path: string, from: string, to: string): string {
  const isPath = key === 'skill' || key === 'pack' || key === '$schema';
  return isPath && isRelative(key, path) ? relative(to, resolve(from, path)) || '.' : path;
}

/** `example:NAME` and URLs are no paths; a schema is one only when it is written as one. */
function isRelative(key: string, path: string): boolean {
  return !isAbsolute(path) && !/^[a-z][a-z0-9+.-]*:/i.test(path) && (key !== '$schema' || path.startsWith('.'));
}
