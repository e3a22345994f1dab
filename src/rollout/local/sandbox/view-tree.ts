import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Placeholder } from '../sandbox.ts';

/** One thing that stands at a path inside. */
export type Part =
  /** A file or folder of this machine. */
  | { readonly kind: 'bind'; readonly at: string; readonly from: string; readonly writable: boolean }
  | { readonly kind: 'link'; readonly at: string; readonly target: string }
  /** A file with these bytes, which lies nowhere on this machine. */
  | { readonly kind: 'file'; readonly at: string; readonly bytes: Uint8Array }
  /** An empty folder. */
  | { readonly kind: 'folder'; readonly at: string }
  /** An empty folder in place of what a shown one holds there. */
  | { readonly kind: 'cover'; readonly at: string }
  | { readonly kind: 'proc' | 'dev'; readonly at: string };

/** Where a path leads inside. `missing` = what of it is not there. */
type Walked = {
  readonly at: string;
  readonly part: Part | null;
  readonly host: string | null;
  readonly missing: readonly string[];
};

/** Links that lead to links, and folders that are opened for one thing in them: more are a circle. */
const mostTurns = 40;
/** Entries of a folder that are shown one by one so that something can stand among them; each costs time at each start. */
const mostEntries = 500;

/**
 * The file tree that a sandbox builds, before it is built: what stands where, in an order in which it can be mounted, and
 * which file of this machine a path leads to. Everything is put in from the outside inwards. What has to stand in a
 * shown folder that lacks the place for it is made room for: the folder is then shown entry by entry.
 */
export class ViewTree {
  readonly #parts = new Map<string, Part>();
  readonly #placeholders = new Map<string, Placeholder['kind']>();

  /** Later parts win over earlier ones at the same path. Parts whose file is gone are left out. */
  static of(parts: readonly Part[]): ViewTree {
    const tree = new ViewTree();
    for (const part of inOrder(parts)) tree.#add(part);
    return tree;
  }

  /** In an order in which each finds the place where it stands. */
  get parts(): readonly Part[] {
    return inOrder([...this.#parts.values()]);
  }

  /**
   * Files and folders of this machine, in folders that can be written, that have to exist (empty) so that something can
   * stand there. Whoever makes them takes them away again.
   */
  get placeholders(): readonly Placeholder[] {
    return [...this.#placeholders].map(([path, kind]) => ({ path, kind }));
  }

  /** Points at which something stands in a folder that can be written: paths of this machine. */
  get pointsInWritable(): readonly string[] {
    return [...this.#parts.values()].flatMap((part) => {
      const above = this.#above(part.at);
      return above?.kind === 'bind' && above.writable ? [hostBelow(above, part.at)] : [];
    });
  }

  /** The file or folder of this machine that a path leads to; null = none of this machine, or nothing at all. */
  hostOf(path: string): string | null {
    const { host, missing } = this.#walk(path);
    return missing.length === 0 ? host : null;
  }

  /** Does a path lead to this file already, read-only? */
  #leadsTo(path: string, file: string): boolean {
    const { part, host, missing } = this.#walk(path);
    if (missing.length > 0 || host === null || part?.kind !== 'bind' || part.writable) return false;
    return realOf(host) === realOf(file);
  }

  /** Does anything stand at a path, be it made for the tree? */
  has(path: string): boolean {
    return this.#walk(path).missing.length === 0;
  }

  #add(part: Part): void {
    if (part.kind === 'cover') this.#cover(part.at);
    else this.#place(part);
  }

  #place(given: Exclude<Part, { kind: 'cover' }>): void {
    let part = given;
    const stat = part.kind === 'bind' ? statOf(part.from) : null;
    if (part.kind === 'bind' && stat === null) return;
    // by a link that is shown, or by a folder around it
    if (part.kind === 'bind' && !part.writable && this.#leadsTo(part.at, part.from)) return;
    const isFolder = part.kind === 'bind' ? stat?.isDirectory() === true : part.kind !== 'link' && part.kind !== 'file';
    for (let turn = 0; turn < mostTurns; turn++) {
      const parent = this.#walk(dirname(part.at));
      const at = join(parent.at, ...parent.missing, basename(part.at));
      const around = parent.part;
      if (around?.kind === 'bind') {
        // a file is made, not mounted: it would be made on this machine
        if (part.kind === 'file') return;
        const host = hostBelow(around, at);
        if (around.writable) {
          if (!hasPlace(host, isFolder)) this.#placeholders.set(host, isFolder ? 'folder' : 'file');
        } else if (part.kind === 'bind' && !part.writable && isSameEntry(part.from, host) && hasPlace(host, isFolder)) {
          // it is shown already, where nothing covers it
          this.#parts.delete(at);
          return;
        } else if (part.kind === 'bind' && isLink(host) && isSameEntry(part.from, host)) {
          // the link is shown already: what it leads to stands there
          const { at: end, missing } = this.#walk(part.at);
          part = { ...part, at: join(end, ...missing), from: realOf(part.from) ?? part.from };
          continue;
        } else if (!hasPlace(host, isFolder)) {
          if (this.#open(around)) continue;
          return;
        }
      }
      this.#set({ ...part, at });
      return;
    }
  }

  #cover(path: string): void {
    const { at, host, missing } = this.#walk(path);
    if (host === null || missing.length > 0) return;
    // of a device in a place without devices nothing can be read
    const isFolder = statOf(host)?.isDirectory() === true;
    this.#set(isFolder ? { kind: 'cover', at } : { kind: 'bind', at, from: '/dev/null', writable: false });
  }

  #set(part: Part): void {
    this.#parts.set(part.at, part);
  }

  /** Shows a folder entry by entry from now on. False: it has too many, can't be read, or is a file. */
  #open(folder: Extract<Part, { kind: 'bind' }>): boolean {
    let entries: readonly Dirent[];
    try {
      entries = readdirSync(folder.from, { withFileTypes: true });
    } catch {
      return false;
    }
    if (entries.length > mostEntries) return false;
    this.#set({ kind: 'folder', at: folder.at });
    for (const entry of entries) {
      const at = join(folder.at, entry.name);
      const from = join(folder.from, entry.name);
      if (this.#parts.has(at)) continue;
      if (entry.isSymbolicLink()) this.#set({ kind: 'link', at, target: readlinkSync(from) });
      else if (entry.isDirectory() || entry.isFile()) this.#set({ kind: 'bind', at, from, writable: false });
    }
    return true;
  }

  /** The part that stands nearest above a path. */
  #above(path: string): Part | null {
    for (let at = dirname(path); ; at = dirname(at)) {
      const part = this.#parts.get(at);
      if (part !== undefined || at === '/') return part ?? null;
    }
  }

  #walk(path: string): Walked {
    let todo = namesOf(path);
    let at = '/';
    let part: Part | null = this.#parts.get('/') ?? null;
    let host: string | null = null;
    for (let links = 0; todo.length > 0; ) {
      const [name = '', ...rest] = todo;
      const next = join(at, name);
      const found = this.#parts.get(next);
      const link = found === undefined ? linkIn(host, name) : found.kind === 'link' ? found.target : null;
      if (link !== null) {
        if (++links > mostTurns) return { at, part, host, missing: todo };
        todo = [...namesOf(resolve(at, link)), ...rest];
        at = '/';
        part = this.#parts.get('/') ?? null;
        host = null;
        continue;
      }
      if (found !== undefined) {
        part = found;
        host = found.kind === 'bind' ? realOf(found.from) : null;
      } else if (host !== null && isThere(join(host, name))) {
        host = join(host, name);
      } else if (!this.#leadsOn(next)) {
        return { at, part, host, missing: todo };
      } else {
        // A folder on the way to what stands further in: it is made where it is missing.
        host = host === null ? null : join(host, name);
        if (host === null) part = null;
      }
      at = next;
      todo = rest;
    }
    return { at, part, host, missing: [] };
  }

  /** Is it a folder because something stands further in? */
  #leadsOn(path: string): boolean {
    for (const at of this.#parts.keys()) if (at.startsWith(`${path}/`)) return true;
    return false;
  }
}

const depthOf = (part: Part): number => (part.at === '/' ? 0 : part.at.split('/').length);

function inOrder(parts: readonly Part[]): readonly Part[] {
  return [...parts].sort((a, b) => depthOf(a) - depthOf(b));
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '');

const hostBelow = (part: Extract<Part, { kind: 'bind' }>, at: string): string =>
  join(part.from, at.slice(part.at === '/' ? 0 : part.at.length));

/** Can something be mounted there? A link would lead it elsewhere. */
function hasPlace(host: string, isFolder: boolean): boolean {
  const there = lookAt(host);
  if (there === null || there.isSymbolicLink()) return false;
  return there.isDirectory() === isFolder;
}

const isLink = (path: string): boolean => lookAt(path)?.isSymbolicLink() === true;

/** Do both paths name the same entry of the same folder? A link is not what it leads to. */
function isSameEntry(a: string, b: string): boolean {
  return a === b || (basename(a) === basename(b) && realOf(dirname(a)) === realOf(dirname(b)));
}

const isThere = (path: string): boolean => lookAt(path) !== null;

/** What may not be looked at is as good as not there. */
function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

function linkIn(host: string | null, name: string): string | null {
  if (host === null) return null;
  try {
    return readlinkSync(join(host, name));
  } catch {
    return null;
  }
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
