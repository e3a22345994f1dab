import { existsSync } from 'node:fs';
import type { ProcessEnd } from '../../../process/process-end.ts';
import { runProcess } from '../../../process/run-process.ts';
import type { Folders } from '../folders.ts';
import type { InsideOptions, InsidePlaces, Sandbox, SandboxView } from '../sandbox.ts';
import { boundedStart } from './bounded-start.ts';
import { boundGaps, type ProcessBound } from './process-bound.ts';
import { whyNotRunnable } from './runnable.ts';

export type PlainFoldersOptions = {
  /** See `Sandbox.instead`. */
  readonly instead: Sandbox['instead'];
  readonly bound: ProcessBound;
  /** All that will run comes with this program: nothing has to be held back. */
  readonly ownPrograms?: boolean;
};

/**
 * No walls: processes run as this user, in folders of their own. They are bounded in number where this machine has a
 * way, and in the size of a file; known by their mark, their group and their folders.
 */
export class PlainFolders implements Sandbox {
  readonly kind = 'none';
  readonly version = 'none';
  readonly gaps: readonly string[];
  readonly instead: Sandbox['instead'];
  readonly ownPaths = false;
  readonly bound: ProcessBound;

  constructor(o: PlainFoldersOptions) {
    this.instead = o.instead;
    this.bound = o.bound;
    this.gaps = o.ownPrograms
      ? []
      : ['nothing keeps agents and verifiers from your files and from the network', ...boundGaps(o.bound)];
  }

  placesOf(folders: Folders): InsidePlaces {
    return hostPlaces(folders);
  }

  gatewayOrigin({ gateway }: SandboxView): string | null {
    return gateway?.origin ?? null;
  }

  sees(path: string): boolean {
    return existsSync(path);
  }

  hostPathOf(path: string): string | null {
    return existsSync(path) ? path : null;
  }

  placeholders(): readonly [] {
    return [];
  }

  run({ onStart: _, onGone: __, ...options }: InsideOptions, { cell, limits }: SandboxView): Promise<ProcessEnd> {
    return runProcess({ ...options, command: bounded(options, { cell, limits }) });
  }
}

/** The folders themselves, as this machine names them. */
export function hostPlaces(folders: Folders): InsidePlaces {
  const { workspace, home, temp, logs, tests, skills } = folders;
  return { workspace, home, temp, logs, tests, skills };
}

/** What can't be started goes as it is: `runProcess` says why, in place of a script of sh. */
export function bounded(
  options: Pick<InsideOptions, 'command' | 'cwd' | 'env'>,
  o: Pick<SandboxView, 'cell' | 'limits'>,
): readonly [string, ...string[]] {
  const { command } = options;
  if (o.cell === null && o.limits === null) return command;
  const why = whyNotRunnable(command[0], options, (path) => (existsSync(path) ? path : null));
  return why === null ? boundedStart(command, { ...o, folder: null }) : command;
}
