import { basename, delimiter, isAbsolute, join } from 'node:path';
import { forgetMark } from '../../process/live.ts';
import type { PidNamespace } from '../../process/namespaces.ts';
import { makePidsCell, type PidsCell } from '../../process/pids-cell.ts';
import { type AgentNeeds, type AgentRun, noNeeds } from '../agents/agent.ts';
import { reapRollout } from './clean.ts';
import { cleanEnvironment } from './environment.ts';
import type { Folders } from './folders.ts';
import type { LaunchContext } from './launch.ts';
import { LimitWatch } from './limit-watch.ts';
import type { LocalOptions } from './options.ts';
import type { InsidePlaces, SandboxView } from './sandbox.ts';

/** What of the backend's options says how rollouts are walled in. */
export type WallOptions = Pick<
  LocalOptions,
  'sandbox' | 'network' | 'show' | 'hide' | 'limits' | 'gateway' | 'relay' | 'hostEnv' | 'tempRoot'
>;

/** What all processes of a rollout have in common, whatever their phase. */
export type RolloutContext = Omit<LaunchContext, 'walls'>;

/** All that stands around the processes of one rollout, from the making of its folders to their removal. */
export class RolloutWalls {
  /** Commands of which it is not known that nothing is left of them. */
  #unsure = 0;

  private constructor(
    private readonly o: WallOptions,
    readonly folders: Folders,
    readonly places: InsidePlaces,
    readonly cell: PidsCell | null,
  ) {}

  /** Throws `pack` for a workdir that can't be had, and errors of the file system. */
  static raise(
    o: WallOptions,
    { folders, workdir }: { readonly folders: Folders; readonly workdir: string },
  ): RolloutWalls {
    const places = o.sandbox.placesOf(folders, workdir);
    const { bound } = o.sandbox;
    const cell =
      o.limits !== null && bound.kind === 'cell'
        ? makePidsCell(bound.parent, basename(folders.root), o.limits.processes)
        : null;
    return new RolloutWalls(o, folders, places, cell);
  }

  /**
   * What the agent is shown: `readOnly` as in `SandboxView`; `callsModel` = through the gateway. One that talks to its
   * vendor by itself has the network; what is run without it, the verifier, has it only where the config says so.
   */
  agentView(
    more: {
      readonly readOnly?: SandboxView['readOnly'];
      readonly needs?: AgentNeeds;
      readonly callsModel?: boolean;
    } = {},
  ): SandboxView {
    const { gateway, relay, network } = this.o;
    const needs = more.needs ?? noNeeds;
    return {
      ...this.#view('agent'),
      network: needs.network ? 'on' : network,
      show: [...this.o.show, ...needs.show],
      readOnly: more.readOnly ?? [],
      gateway:
        gateway === null || more.callsModel !== true
          ? null
          : { socketPath: gateway.socketPath, origin: gateway.origin, relay },
    };
  }

  verifierView(): SandboxView {
    return this.#view('verifier');
  }

  #view(phase: SandboxView['phase']): SandboxView {
    const { folders, places, cell, o } = this;
    const hide = [...o.hide, o.tempRoot];
    const { show, network, limits } = o;
    return { folders, places, phase, show, hide, readOnly: [], network, gateway: null, limits, cell };
  }

  /** The environment of the view's processes; `first` stands before the host's PATH. */
  environment(
    view: SandboxView,
    taskEnv: Readonly<Record<string, string>>,
    first: readonly string[] = [],
  ): Readonly<Record<string, string>> {
    const { sandbox, hostEnv } = this.o;
    const seen = (folder: string) => sandbox.sees(folder, view);
    const host = sandbox.kind === 'none' ? (hostEnv.PATH ?? '') : visibleFolders(hostEnv.PATH, seen).join(delimiter);
    const path = [...first, ...(host === '' ? [] : [host])];
    return cleanEnvironment({ ...hostEnv, PATH: path.join(delimiter) }, taskEnv, this.places);
  }

  /** Where an agent works, as its processes and as this program see it. */
  seat(): Pick<AgentRun, 'workspace' | 'home' | 'logDir' | 'host'> {
    const { folders, places } = this;
    const { workspace, home, agentLogs, temp } = folders;
    return {
      workspace: places.workspace,
      home: places.home,
      logDir: join(places.logs, 'agent'),
      host: { workspace, home, logDir: agentLogs, temp },
    };
  }

  /** Begins to watch what a phase uses up; null = nothing is bounded. */
  async watch(): Promise<LimitWatch | null> {
    const { folders, cell, o } = this;
    return o.limits === null
      ? null
      : LimitWatch.begin({ folders, limits: o.limits, cell, countsThreads: o.sandbox.bound.kind === 'user' });
  }

  /** What the processes of a phase have in common; they end when it uses up more than it may. */
  enter(context: RolloutContext, view: SandboxView, watch: LimitWatch | null): LaunchContext {
    const cancelled = watch === null ? context.cancelled : AbortSignal.any([context.cancelled, watch.over]);
    const onStart = (namespace: () => PidNamespace | null) => {
      this.#unsure++;
      watch?.onStart(namespace);
    };
    // who has a network may have something started by others, outside
    const onGone = () => {
      if (view.network === 'off') this.#unsure--;
    };
    return { ...context, cancelled, walls: { sandbox: this.o.sandbox, view, onStart, onGone } };
  }

  /**
   * Ends all that a phase left running. Throws when the system has no room to look. Returns what was ended, for people.
   * The machine's processes are looked through unless it is known that none is left: all lived in namespaces that are gone.
   */
  async reap(mark: RolloutContext['mark']): Promise<readonly string[]> {
    const noneLeft = this.o.sandbox.kind === 'bubblewrap' && this.#unsure === 0;
    if (noneLeft) forgetMark(mark);
    const ended = noneLeft ? [] : await reapRollout(mark);
    const stubborn = (await this.cell?.empty(endedMs)) ?? [];
    return [...ended, ...stubborn.map((pid) => `process ${pid}: still there after SIGKILL`)];
  }

  /** Takes the group of the kernel away, when nothing is in it any more. */
  fall(): void {
    this.cell?.remove();
  }
}

/** How long a killed process may take to go. */
const endedMs = 5_000;

/** The folders of a PATH that are seen, in their order, each once. */
function visibleFolders(path: string | undefined, isSeen: (folder: string) => boolean): readonly string[] {
  const folders = (path ?? '').split(delimiter).filter(isAbsolute);
  return [...new Set(folders)].filter(isSeen);
}
