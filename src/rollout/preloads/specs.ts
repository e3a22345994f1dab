import { basename, resolve } from 'node:path';
import { localPath } from '../../config/preload-paths.ts';

/** A package as the config names it. */
export type Spec = {
  readonly kind: 'npm' | 'pip';
  /** As it stands there. */
  readonly text: string;
  /** Its name; null = only its files tell. */
  readonly name: string | null;
  /** Where it comes from: an index by its name, a folder or archive of this machine (absolute), or an address. */
  readonly from: 'index' | 'address' | { readonly path: string };
  /** The text itself says which version it is. */
  readonly pinned: boolean;
  /** Its files can only be had by running code of its own: a Python package that is no wheel. */
  readonly runsItsOwn: boolean;
};

export type SpecReading =
  | { readonly ok: true; readonly spec: Spec }
  | { readonly ok: false; readonly what: string; readonly fix: string };

const exactVersion = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;

/** Reads what names an npm package. `base` = the folder that paths start from. */
export function npmSpec(text: string, base: string): SpecReading {
  const refused = refusedText(text, 'npm');
  if (refused !== null) return refused;
  const common = { kind: 'npm', text, runsItsOwn: false } as const;
  const path = localPath(text);
  if (path !== null)
    return { ok: true, spec: { ...common, name: null, from: { path: resolve(base, path) }, pinned: true } };
  const [, name, version] = /^((?:@[a-z0-9~._-]+\/)?[a-z0-9~._-]+)(?:@(.+))?$/i.exec(text) ?? [];
  const isAddress = name === undefined || /^(?:git|https?|ssh|github|gitlab|bitbucket)[+:]/.test(version ?? '');
  if (isAddress) {
    if (!/^(?:[\w@./-]+@)?(?:(?:git|https?|ssh|github|gitlab|bitbucket)[+:].+|[\w.-]+\/[\w.-]+(?:#.+)?)$/i.test(text))
      return unreadable(text, 'npm', 'write a name with its version, such as "prettier@3.6.2"');
    const pinned = /#(?:[0-9a-f]{7,40}|semver:\d)|\.tgz$/i.test(text);
    return { ok: true, spec: { ...common, name: name ?? null, from: 'address', pinned } };
  }
  const exact = exactVersion.test((version ?? '').replace(/^npm:(?:@[^@]+|[^@]+)@/, '').replace(/^v/, ''));
  return { ok: true, spec: { ...common, name, from: 'index', pinned: exact } };
}

/** Reads what names a Python package. `base` = the folder that paths start from. */
export function pipSpec(text: string, base: string): SpecReading {
  const refused = refusedText(text, 'pip');
  if (refused !== null) return refused;
  const isWheel = (file: string) => /\.whl(?:#.*)?$/i.test(file);
  const common = { kind: 'pip', text } as const;
  const path = localPath(text);
  if (path !== null)
    return {
      ok: true,
      spec: { ...common, name: null, from: { path: resolve(base, path) }, pinned: true, runsItsOwn: !isWheel(path) },
    };
  const [, name, , rest = ''] = /^([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(\[[\w\s,.-]*\])?\s*(.*)$/.exec(text) ?? [];
  const address = /^(?:git|hg|svn|bzr)\+|^https?:/i.test(text) ? text : /^@\s*(\S+)/.exec(rest)?.[1];
  if (address !== undefined) {
    const pinned = isWheel(address) || /@[0-9a-f]{7,40}(?:#|$)|\.(?:zip|tar\.gz)(?:#|$)/i.test(address);
    const named = address === text ? null : (name ?? null);
    return { ok: true, spec: { ...common, name: named, from: 'address', pinned, runsItsOwn: !isWheel(address) } };
  }
  if (name === undefined || !/^(?:$|[<>=!~;])/.test(rest))
    return unreadable(text, 'pip', 'write a name with its version, such as "pandas==2.3.3"');
  const pinned = /^={2,3}\s*[^*,;\s]+\s*(?:;.*)?$/.test(rest);
  return { ok: true, spec: { ...common, name, from: 'index', pinned, runsItsOwn: false } };
}

/** The name of a Python package as indexes compare names. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/** What stands for a package in versions and lines for people. */
export function shownSpec(spec: Spec): string {
  return typeof spec.from === 'object' ? basename(spec.from.path) : spec.text;
}

function refusedText(text: string, kind: 'npm' | 'pip'): SpecReading | null {
  if (text.startsWith('-'))
    return {
      ok: false,
      what: `${JSON.stringify(text)} is an option of ${kind}, and no package`,
      fix: 'name the packages themselves',
    };
  if (text.startsWith('~/'))
    return {
      ok: false,
      what: `${JSON.stringify(text)} starts from a home`,
      fix: 'write the path from the session’s directory',
    };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text) || text.trim() !== text)
    return unreadable(text, kind, 'write it on one line, without blanks around it');
  return null;
}

function unreadable(text: string, kind: 'npm' | 'pip', fix: string): SpecReading {
  return { ok: false, what: `${JSON.stringify(text)} names no ${kind} package`, fix };
}
