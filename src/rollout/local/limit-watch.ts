import { statfs } from 'node:fs/promises';
import { bytesOfDeleted, inhabitantsOf, type PidNamespace } from '../../process/namespaces.ts';
import type { PidsCell } from '../../process/pids-cell.ts';
import type { Folders } from './folders.ts';
import { type Held, heldIn } from './held.ts';
import { megabyte } from './sandbox/bounded-start.ts';
import type { Limits } from './sandbox.ts';

const everyMs = 1_000;
/** Looking takes at most this share of the time, for all that is watched together. */
const share = 0.1;
let watches = 0;
/** A file may end a little before its limit, by the size of a block that did not fit. */
const blockBytes = 4_096;

/** What a phase of a rollout ran into, as sentences for people. */
export type Reached = readonly string[];

type Inside = () => PidNamespace | null;

/**
 * Watches what a phase of a rollout uses up: about once a second what its folders hold (files that it deleted and keeps
 * open too, where it lives in a PID namespace), whether a file is as large as one may be, and whether it has as many
 * processes as it may. Time is bounded elsewhere.
 */
export class LimitWatch {
  readonly #over = new AbortController();
  readonly #inside = new Set<Inside>();
  readonly #full: ReadonlySet<string>;
  readonly #refusedBefore: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #hadMostProcesses = false;
  #fullFile: string | null = null;

  private constructor(
    private readonly o: WatchOptions,
    private readonly before: Held,
    private readonly freeBefore: number,
  ) {
    this.#full = new Set(before.fullFiles);
    this.#refusedBefore = o.cell?.refused() ?? 0;
    watches++;
    this.#wait(everyMs);
  }

  /** Begins with what is there: the phase answers for what comes to it. */
  static async begin(o: WatchOptions): Promise<LimitWatch> {
    return new LimitWatch(o, await held(o), await freeBytes(o.folders.root));
  }

  /** Aborted when the phase holds more than it may; its reason is a sentence for people. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** For `InsideOptions.onStart`. */
  readonly onStart = (namespace: Inside): void => {
    this.#inside.add(namespace);
  };

  /** Ends the watch with a last look. What it says of a file or of processes is said even if the phase went on. */
  async end(): Promise<Reached> {
    this.stop();
    const { limits, cell } = this.o;
    await this.#look();
    const refused = (cell?.refused() ?? 0) - this.#refusedBefore;
    const processes = `the limit of ${limits.processes} processes`;
    return [
      ...(this.#over.signal.aborted ? [String(this.#over.signal.reason)] : []),
      ...(this.#fullFile === null
        ? []
        : [`The limit of ${limits.fileMb} MB for a file was reached, by ${this.#fullFile}.`]),
      ...(refused > 0 ? [`${capital(processes)} was reached: ${refused} could not be started.`] : []),
      ...(refused <= 0 && this.#hadMostProcesses ? [`${capital(processes)} was reached.`] : []),
    ];
  }

  /** Looks no more by itself: a watch that nobody stops looks for ever. What was reached is told by `end` all the same. */
  stop(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    watches--;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(async () => {
      const startedAt = performance.now();
      await this.#look();
      if (this.#timer !== null && !this.over.aborted)
        this.#wait(Math.max(everyMs, ((performance.now() - startedAt) * watches) / share));
    }, ms);
  }

  async #look(): Promise<void> {
    const { limits } = this.o;
    const now = await held(this.o);
    this.#fullFile ??= now.fullFiles.find((path) => !this.#full.has(path)) ?? null;
    // to look through the machine's processes takes long, and is done only where they are bounded by their count
    const inside = () => [...this.#inside].flatMap((namespace) => namespace() ?? []).map(inhabitantsOf);
    if (this.o.countsThreads) this.#hadMostProcesses ||= inside().some(({ threads }) => threads >= limits.processes);
    const most = limits.diskMb * megabyte;
    let grown = now.bytes - this.before.bytes;
    // What is deleted and still open shows in the free space alone; only then it is looked for.
    if (grown <= most && this.freeBefore - (await freeBytes(this.o.folders.root)) > most)
      grown += bytesOfDeleted(inside().flatMap(({ pids }) => pids));
    if (grown > most && !this.over.aborted)
      this.#over.abort(`The limit of ${limits.diskMb} MB was reached: it held ${Math.round(grown / megabyte)} MB.`);
  }
}

/** What is watched, and against which limits. */
export type WatchOptions = {
  readonly folders: Folders;
  readonly limits: Limits;
  readonly cell: PidsCell | null;
  /** Processes are bounded by something that tells of no refusal: as many as may be are taken for one. */
  readonly countsThreads: boolean;
};

function held({ folders, limits }: WatchOptions): Promise<Held> {
  const { workspace, home, temp, shared, logs } = folders;
  return heldIn([workspace, home, temp, shared, logs], limits.fileMb * megabyte - blockBytes);
}

async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder).catch(() => null);
  return found === null ? Number.POSITIVE_INFINITY : found.bfree * found.bsize;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
