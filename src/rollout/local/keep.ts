import { lstatSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { shortHash } from '../../ports/hash.ts';
import type { Outcome } from '../../ports/outcome.ts';
import { removeFolder } from './clean.ts';
import { exchangeFile, type Folders } from './folders.ts';
import { plainFile } from './plain-file.ts';

/** Where workspaces of failed rollouts are kept, and how much of them. */
export type KeepOptions = {
  readonly dir: string;
  /** All of them together, in bytes; 0 = none. */
  readonly mostBytes: number;
  /** Takes secrets out of a text before it is written. */
  readonly redact: (text: string) => Promise<string>;
};

/** What is said of a rollout beside its workspace. */
export type KeptRollout = { readonly key: string; readonly task: string; readonly outcome: Outcome };

/** Larger files are left out: nobody looks through them, and they are not looked through for secrets. */
const largestFileBytes = 2_000_000;
const mostEntries = 2_000;

/** Did it fail? Of what passed nothing needs to be looked at. */
export const isWorthKeeping = (outcome: Outcome): boolean => outcome.status === 'unscored' || outcome.hard === 0;

/**
 * Keeps what failed rollouts left, to be looked at: workspace, the agent's logs and the exchange with its model, without
 * secrets, links as links and never followed. The oldest go when there is no room. One at a time.
 */
export class Keeper {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly o: KeepOptions) {}

  /** Never rejects. Returns why it could not be kept, for people; null = it was, or nothing is. */
  keep(folders: Folders, rollout: KeptRollout): Promise<string | null> {
    if (this.o.mostBytes === 0) return Promise.resolve(null);
    const kept = this.#last.then(() => this.#keep(folders, rollout)).catch((e: unknown) => (e as Error).message);
    this.#last = kept;
    return kept;
  }

  async #keep(folders: Folders, { key, task, outcome }: KeptRollout): Promise<string | null> {
    const target = join(this.o.dir, `${safeName(task)}-${shortHash(key)}`);
    const growing = join(this.o.dir, `.${basename(target)}`);
    await mkdir(this.o.dir, { recursive: true, mode: 0o700 });
    await removeFolder(growing);
    try {
      await mkdir(growing, { mode: 0o700 });
      const copy = new Copy(this.o.mostBytes, this.o.redact);
      await copy.entry(folders.workspace, join(growing, 'workspace'));
      await copy.entry(folders.agentLogs, join(growing, 'agent-logs'));
      await copy.entry(folders.verifierLogs, join(growing, 'verifier-logs'));
      await copy.entry(exchangeFile(folders), join(growing, 'exchange.jsonl'));
      const about = { key, task, outcome, keptAt: new Date().toISOString(), leftOut: copy.leftOut };
      writeFileSync(join(growing, 'about.json'), `${JSON.stringify(about, null, 2)}\n`, { mode: 0o600 });
      await this.#makeRoom(copy.bytes, target);
      await removeFolder(target);
      renameSync(growing, target);
      return null;
    } catch (error) {
      await removeFolder(growing);
      return error instanceof TooMuch ? 'it holds more than sandbox.keepMb' : (error as Error).message;
    }
  }

  async #makeRoom(bytes: number, except: string): Promise<void> {
    const all = keptIn(this.o.dir).filter(({ folder }) => folder !== except);
    let held = bytes + all.reduce((sum, one) => sum + one.bytes, 0);
    for (const one of all) {
      if (held <= this.o.mostBytes) return;
      await removeFolder(one.folder);
      held -= one.bytes;
    }
  }
}

/** A kept workspace. */
export type Kept = { readonly folder: string; readonly bytes: number; readonly keptMs: number };

/** What is kept in a folder, the oldest first. */
export function keptIn(dir: string): readonly Kept[] {
  return namesIn(dir)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(dir, name))
    .flatMap((folder) => {
      const stat = lstatSync(folder, { throwIfNoEntry: false });
      return stat?.isDirectory() ? [{ folder, bytes: bytesOf(folder), keptMs: stat.mtimeMs }] : [];
    })
    .sort((a, b) => a.keptMs - b.keptMs);
}

class TooMuch extends Error {}

class Copy {
  bytes = 0;
  #entries = 0;
  readonly leftOut: string[] = [];

  constructor(
    private readonly mostBytes: number,
    private readonly redact: KeepOptions['redact'],
  ) {}

  async entry(from: string, to: string): Promise<void> {
    const stat = lstatSync(from, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (++this.#entries > mostEntries) throw new TooMuch();
    if (stat.isDirectory()) {
      await mkdir(to, { mode: 0o700 });
      for (const name of namesIn(from)) await this.entry(join(from, name), join(to, name));
    } else if (stat.isSymbolicLink()) {
      await symlink(readlinkSync(from), to);
    } else if (!stat.isFile() || stat.size > largestFileBytes) {
      this.leftOut.push(`${basename(from)} (${stat.isFile() ? `${stat.size} bytes` : 'no plain file'})`);
    } else {
      const found = readFileSync(from, { flag: plainFile });
      const text = found.toString('utf8');
      const isText = !found.includes(0) && Buffer.from(text).equals(found);
      // what is no text is kept as it is only where no text in it is a secret
      const clean = await this.redact(isText ? text : found.toString('latin1'));
      if (!isText && clean !== found.toString('latin1')) {
        this.leftOut.push(`${basename(from)} (it holds a secret)`);
        return;
      }
      this.bytes += found.length;
      if (this.bytes > this.mostBytes) throw new TooMuch();
      await writeFile(to, isText ? clean : found, { mode: (stat.mode & 0o700) | 0o600 });
    }
  }
}

/** Removes all that is kept, and what a process that was killed had begun to keep. Returns the bytes. */
export async function removeKept(dir: string): Promise<number> {
  const bytes = keptIn(dir).reduce((sum, one) => sum + one.bytes, 0);
  for (const name of namesIn(dir)) await removeFolder(join(dir, name));
  rmSync(dir, { recursive: true, force: true });
  return bytes;
}

function bytesOf(folder: string): number {
  return namesIn(folder).reduce((sum, name) => {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return sum;
    return sum + (stat.isDirectory() ? bytesOf(path) : stat.isFile() ? stat.size : 0);
  }, 0);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

const safeName = (task: string): string => task.replace(/[^\w.-]+/g, '_').slice(0, 60);
