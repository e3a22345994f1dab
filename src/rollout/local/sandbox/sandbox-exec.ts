import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessEnd } from '../../../process/process-end.ts';
import { runProcess } from '../../../process/run-process.ts';
import type { Folders } from '../folders.ts';
import type { InsideOptions, InsidePlaces, Sandbox, SandboxView } from '../sandbox.ts';
import { bounded, hostPlaces } from './plain-folders.ts';
import { boundGaps, type ProcessBound } from './process-bound.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

/**
 * Walls on macOS by `sandbox-exec`: rules over the files of this machine, not another view of them, so paths stay the
 * host's. From its documentation; not run on a Mac by the project's tests (see `gaps`).
 */
export class SandboxExec implements Sandbox {
  readonly kind = 'sandbox-exec';
  readonly version = 'sandbox-exec';
  readonly gaps: readonly string[];
  readonly instead = null;
  readonly ownPaths = false;
  readonly #profiles = new WeakMap<SandboxView, string>();

  constructor(readonly bound: ProcessBound) {
    this.gaps = [
      'the sandbox of macOS is built from its documentation, and no test of ours has run it on a Mac',
      'on macOS processes see the names of files of this machine, and the process table; what they start is ended by its mark, not by a namespace',
      ...boundGaps(bound),
    ];
  }

  placesOf(folders: Folders): InsidePlaces {
    return hostPlaces(folders);
  }

  gatewayOrigin({ gateway }: SandboxView): string | null {
    return gateway?.origin ?? null;
  }

  sees(path: string, view: SandboxView): boolean {
    return this.hostPathOf(path, view) !== null;
  }

  hostPathOf(path: string, view: SandboxView): string | null {
    if (!existsSync(path)) return null;
    const real = realpathSync(path);
    const within = (folders: readonly string[]) => realPaths(folders).some((one) => isBelow(real, one));
    const { folders, show, hide } = view;
    return within([folders.root, ...show]) || !within(hide) ? path : null;
  }

  placeholders(): readonly [] {
    return [];
  }

  run({ onStart: _, onGone: __, ...options }: InsideOptions, view: SandboxView): Promise<ProcessEnd> {
    const command = bounded(options, view);
    return runProcess({ ...options, command: ['/usr/bin/sandbox-exec', '-f', this.#profileOf(view), ...command] });
  }

  #profileOf(view: SandboxView): string {
    const known = this.#profiles.get(view);
    if (known !== undefined) return known;
    const path = join(view.folders.root, `${view.phase}.sb`);
    writeFileSync(path, profileOf(view), { mode: 0o600 });
    this.#profiles.set(view, path);
    return path;
  }
}

/** The profile of a view. Of the rollout's own root nothing can be seen but the folders of its phase. */
export function profileOf(view: SandboxView): string {
  const { folders, phase, show, hide, network, gateway } = view;
  const port = gateway === null ? null : Number(new URL(gateway.origin).port);
  const { workspace, home, temp, logs, skills, tests, root } = folders;
  return seatbeltProfile({
    writable: realPaths([workspace, home, temp, logs, ...(phase === 'verifier' ? [tests] : [])]),
    readable: realPaths([...show, ...(phase === 'agent' ? [skills] : [])]),
    hidden: realPaths([...hide, root]),
    firm: realPaths([skills]),
    network,
    gatewayPort: port,
  });
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** What is not there has no real path, and no rule. */
function realPaths(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    try {
      return [realpathSync(path)];
    } catch {
      return [];
    }
  });
}
