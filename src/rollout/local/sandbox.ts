import type { SandboxConfig } from '../../config/sandbox.ts';
import type { PidNamespace } from '../../process/namespaces.ts';
import type { PidsCell } from '../../process/pids-cell.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import type { ProcessOptions } from '../../process/run-process.ts';
import type { Folders } from './folders.ts';
import type { ProcessBound } from './sandbox/process-bound.ts';

/** The folders of a rollout as its processes see them, absolute. */
export type InsidePlaces = {
  readonly workspace: string;
  readonly home: string;
  readonly temp: string;
  readonly logs: string;
  readonly tests: string;
  /** Where the folder with the skill is shown, `<skills>/<name>`. */
  readonly skills: string;
};

/** What one rollout may use up, in the units of the config. */
export type Limits = Pick<SandboxConfig, 'processes' | 'fileMb' | 'diskMb'>;

/**
 * The way from a sandbox without network to the gateway: a program that listens on a port inside (`relayPort`), passes
 * bytes to the socket (`relaySocket`), and starts the command that stands behind its own words.
 */
export type Relay = {
  readonly command: readonly string[];
  /** What of this machine it needs to run. */
  readonly show: readonly string[];
};

/** Port on 127.0.0.1 inside, and the socket's path there. */
export const relayPort = 8787;
export const relaySocket = '/run/model.sock';

/** What one phase of a rollout is shown and allowed. The host's paths outside of it are not there. */
export type SandboxView = {
  readonly folders: Folders;
  readonly places: InsidePlaces;
  readonly phase: 'agent' | 'verifier';
  /** Further files and folders of this machine, read-only, at their own paths; what does not exist is passed over. */
  readonly show: readonly string[];
  /** Files and folders that stay unseen where they lie within something that is shown, unless `show` names them. */
  readonly hide: readonly string[];
  /** Folders and files of the rollout that are shown read-only at a place inside, such as the skill where the agent looks for it. */
  readonly readOnly: readonly { readonly from: string; readonly to: string }[];
  /** `off` = nothing but the socket of the gateway, where there is one. */
  readonly network: 'off' | 'on';
  /** The gateway's unix socket and its origin outside; null = the phase calls no model. */
  readonly gateway: { readonly socketPath: string; readonly origin: string; readonly relay: Relay | null } | null;
  /** Null: nothing is bounded but the time. */
  readonly limits: Limits | null;
  /** What bounds the processes of the rollout, where that is a group of the kernel. */
  readonly cell: PidsCell | null;
};

/** How a process is run within walls: `cwd` and all of `env` are as inside. */
export type InsideOptions = ProcessOptions & {
  /** Told when it starts: where it lives, once that is known (walls without a PID namespace never know). */
  readonly onStart?: (namespace: () => PidNamespace | null) => void;
  /** Told when it is known that nothing is left of all that lived there. */
  readonly onGone?: () => void;
};

/** Something empty that stands where something else is shown. */
export type Placeholder = { readonly path: string; readonly kind: 'file' | 'folder' };

/** The walls around the processes of a rollout. */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'sandbox-exec' | 'none';
  /** As it stands among the versions of an outcome: `bubblewrap 0.8.0`, `none`. */
  readonly version: string;
  /** What these walls can't hold on this machine, one line each, for people. */
  readonly gaps: readonly string[];
  /** Plain folders: why there are no walls although there should be, and how there would be; null = none were asked for. */
  readonly instead: { readonly what: string; readonly fix: string } | null;
  /** Processes find their folders at paths of their own (`/app`), not at those of this machine. */
  readonly ownPaths: boolean;
  readonly bound: ProcessBound;
  /** Where a task with this workdir finds its folders. Throws `pack` for one that can't be had. */
  placesOf(folders: Folders, workdir: string): InsidePlaces;
  /** Origin under which processes of the view reach the gateway; null = there is none. */
  gatewayOrigin(view: SandboxView): string | null;
  /** Is there anything at a path inside? */
  sees(path: string, view: SandboxView): boolean;
  /** The file or folder of this machine that is found inside at a path, links followed as they lead there; null = nothing is. */
  hostPathOf(path: string, view: SandboxView): string | null;
  /**
   * Files and folders of this machine, in folders that the rollout may write, that have to exist (empty) before the first
   * process of the view starts, so that something can be shown in their place.
   */
  placeholders(view: SandboxView): readonly Placeholder[];
  /** As `runProcess`, within the walls. What keeps the walls from standing is `not-started`, never the command's own end. */
  run(options: InsideOptions, view: SandboxView): Promise<ProcessEnd>;
}
