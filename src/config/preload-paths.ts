import { basename } from 'node:path';
import type { Preloads } from './preloads.ts';

/**
 * The path that a package is given by, a folder or an archive of this machine, as it stands in the spec; null = it comes
 * from a registry or from elsewhere.
 */
export function localPath(spec: string): string | null {
  const [, path] = /^file:(?:\/\/(?=\/))?(.+)$/.exec(spec) ?? [];
  if (path !== undefined) return path;
  if (/^(?:\.{1,2}$|\.{0,2}\/)/.test(spec)) return spec;
  return /^[^:@]+\.(?:tgz|tar\.gz|whl|zip)$/i.test(spec) ? spec : null;
}

/** A spec with its path replaced; one without a path as it is. */
function movedSpec(spec: string, moved: (path: string) => string): string {
  const path = localPath(spec);
  if (path === null) return spec;
  const to = moved(path);
  return localPath(to) === null ? `./${to}` : to;
}

const pathKeys = ['skills', 'npm', 'pip', 'apt'] as const;

/** The value of `preloads`, or of a key below it, with each path in it replaced, as far as it has the form; else as it is. */
export function withMovedPaths(key: string, value: unknown, moved: (path: string) => string): unknown {
  if (key === 'preloads') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, v]) => [name, withMovedPaths(`preloads.${name}`, v, moved)]),
    );
  }
  const name = pathKeys.find((k) => key === `preloads.${k}`);
  if (name === undefined || !Array.isArray(value)) return value;
  return value.map((text: unknown) => {
    if (typeof text !== 'string') return text;
    return name === 'skills' ? moved(text) : movedSpec(text, moved);
  });
}

/**
 * Preloads without where things lie: of each path the last name. What is in the files is told by the versions that stand
 * in outcomes.
 */
export function withoutPlaces(preloads: Preloads): Preloads {
  const lastName = (path: string) => basename(path.replace(/\/SKILL\.md$/, '')) || path;
  return withMovedPaths('preloads', preloads, lastName) as Preloads;
}
