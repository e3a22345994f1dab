import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import { installs } from './build.ts';
import { sourceHash } from './local-source.ts';
import { changedSince, type Material } from './material.ts';
import type { PreloadOptions } from './options.ts';
import { minorOf, versionOfPython } from './pip.ts';
import { type PreloadPlaces, type PreloadRecord, preloadPlaces, readRecord } from './record.ts';
import { treeDigest } from './tree-digest.ts';

/** What there is of what is wanted. */
export type State =
  /** It stands, and is used as it is. */
  | { readonly kind: 'stands'; readonly record: PreloadRecord; readonly places: PreloadPlaces }
  /** The copies stand, in `kept`; the rest is made from them and by the versions of before. */
  | {
      readonly kind: 'again';
      readonly record: PreloadRecord;
      readonly places: PreloadPlaces;
      readonly kept: string;
      readonly why: string;
    }
  | { readonly kind: 'new'; readonly places: PreloadPlaces };

/** Looks at what there is. Throws `session-mismatch` where a copy was changed that outcomes were made with. */
export async function stateOf(o: PreloadOptions, material: Material, wanted: string): Promise<State> {
  const places = preloadPlaces(o.dir, wanted);
  const own = await found(o, places, o.isNew);
  if (own !== null && !(o.isNew && changedSince(own.record, material).length > 0)) return own;
  if (o.lender === null || own !== null) return { kind: 'new', places };
  const lent = await found(o, preloadPlaces(o.lender, wanted), false);
  return lent === null ? { kind: 'new', places } : lent.kind === 'again' ? { ...lent, places } : lent;
}

async function found(
  o: PreloadOptions,
  places: PreloadPlaces,
  isNew: boolean,
): Promise<Exclude<State, { kind: 'new' }> | null> {
  const record = readRecord(places.record);
  if (record === null || record.wanted !== wantedOf(places)) return null;
  const changed = await changedCopy(record, places, o);
  if (changed !== null) {
    if (isNew) return null;
    throw fail(
      'session-mismatch',
      `the session’s copy of ${changed} was changed`,
      places.kept,
      `restore it; without ${places.dir} it is taken from its source again, and all is measured anew if that is another one`,
    );
  }
  if (!installs(o)) return { kind: 'stands', record, places };
  const why = await whyNotUsable(record, places);
  return why === null ? { kind: 'stands', record, places } : { kind: 'again', record, places, kept: places.kept, why };
}

const wantedOf = ({ prefix }: PreloadPlaces) => prefix.split('/').at(-1) ?? '';

/** A copy that is not what it was; null = all are. */
async function changedCopy(
  { skills, sources, memory }: PreloadRecord,
  places: PreloadPlaces,
  o: PreloadOptions,
): Promise<string | null> {
  const is = async (hash: string, look: () => string | Promise<string>) => {
    try {
      return (await look()) === hash;
    } catch {
      return false;
    }
  };
  for (const { name, hash } of skills)
    if (!(await is(hash, () => o.skills.hashOf(join(places.skills, name))))) return `the other skill ${name}`;
  for (const { name, kept, hash } of sources)
    if (!(await is(hash, () => sourceHash(join(places.sources, kept))))) return `the package ${name}`;
  for (const { to, hash } of memory)
    if (!(await is(hash, () => shortHash(readFileSync(join(places.home, to), 'utf8'))))) return to;
  return null;
}

/** Why what was installed can't be used; null = it can. */
async function whyNotUsable(
  { at, digest, python, versions }: PreloadRecord,
  places: PreloadPlaces,
): Promise<string | null> {
  if (at === null || digest === null || !existsSync(places.prefix)) return 'what was installed is gone';
  if (at !== places.prefix) return 'the session was moved, and what is installed names its place';
  if (!isSame(places.prefix, digest)) return 'what was installed was changed';
  if (python === null || versions.python === undefined) return null;
  const now = await versionOfPython(python);
  if (now === null) return 'the Python that it was made of is gone';
  return minorOf(now) === minorOf(versions.python) ? null : `Python is ${now} now, and was ${versions.python}`;
}

/** Is a folder still what the digest tells? */
export function isSame(folder: string, digest: string): boolean {
  try {
    return treeDigest(folder) === digest;
  } catch {
    return false;
  }
}
