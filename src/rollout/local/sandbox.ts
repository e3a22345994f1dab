import type { SandboxConfig } from '../../config/sandbox.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { Folders } from './folders.ts';

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

/** What one phase of a rollout is shown and allowed. The host's paths outside of it are not there. */
export type SandboxView = {
  readonly folders: Folders;
  readonly places: InsidePlaces;
  readonly phase: 'agent' | 'verifier';
  /** Further files and folders of this machine, read-only, at their own paths; what does not exist is passed over. */
  readonly show: readonly string[];
  /** Folders and files of the rollout that are shown read-only at a place inside, such as the skill where the agent looks for it. */
  readonly readOnly: readonly { readonly from: string; readonly to: string }[];
  /** `off` = nothing but the socket of the gateway, where there is one. */
  readonly network: 'off' | 'on';
  /** The gateway's unix socket and its origin outside; null = the phase calls no model. */
  readonly gateway: { readonly socketPath: string; readonly origin: string } | null;
  readonly limits: Pick<SandboxConfig, 'processes' | 'fileMb' | 'diskMb'>;
};

/** A command as it has to be started so that it runs within the walls. */
export type Wrapped = {
  readonly command: readonly [string, ...string[]];
  /** The environment of the process that builds the walls; that of the command is set inside. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** The walls around the processes of a rollout. */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'sandbox-exec' | 'none';
  /** As it stands among the versions of an outcome: `bubblewrap 0.8.0`, `none`. */
  readonly version: string;
  /** What these walls can't hold on this machine, one line each, for people. */
  readonly gaps: readonly string[];
  /** Where a task with this workdir finds its folders. */
  placesOf(folders: Folders, workdir: string): InsidePlaces;
  /** Origin under which processes of the view reach the gateway. */
  gatewayOrigin(view: SandboxView): string | null;
  /** `cwd` and all of `env` are as inside. */
  wrap(
    command: readonly [string, ...string[]],
    o: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
    view: SandboxView,
  ): Promise<Wrapped>;
  preflight(): Promise<readonly Finding[]>;
}
