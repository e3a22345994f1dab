import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { livesIn } from '../../../process/namespaces.ts';
import { notStarted, type ProcessEnd } from '../../../process/process-end.ts';
import { runProcess } from '../../../process/run-process.ts';
import { errorCode, isSystemRefusal } from '../../../process/system-refusal.ts';
import { waitUntil } from '../../../process/wait.ts';
import type { Folders } from '../folders.ts';
import { isPlainBelow } from '../plain-below.ts';
import { type InsideOptions, relayPort, type Sandbox, type SandboxView } from '../sandbox.ts';
import { boundedStart } from './bounded-start.ts';
import { commandArgs, filesOf, treeArgs, wallArgs } from './bubblewrap-args.ts';
import { Channel, channelArgs, emptyStdin, type Status } from './bubblewrap-status.ts';
import { bubblewrapPlaces, bubblewrapTree } from './bubblewrap-view.ts';
import { withFirmDevices } from './firm-devices.ts';
import { boundGaps, type ProcessBound } from './process-bound.ts';
import { whyNotRunnable } from './runnable.ts';
import { seccompFilter } from './seccomp.ts';
import type { ViewTree } from './view-tree.ts';

/** A bubblewrap that works on this machine. */
export type BubblewrapOptions = {
  /** Its program, absolute. */
  readonly program: string;
  /** `0.8.0`. */
  readonly version: string;
  /** It can forbid further user namespaces. */
  readonly closed: boolean;
  /** For root: see `withFirmDevices`; null = it can't be done. Anybody else needs it not. */
  readonly unshare: string | null;
  readonly bound: ProcessBound;
};

/** How long the kernel may take to end what lived in a PID namespace. */
const endedMs = 5_000;

/**
 * Walls on Linux by bubblewrap: namespaces of its own for users, processes, files and network. Processes see their
 * folders at fixed places, the system read-only, what is shown, and nothing else; when a command ends, so has all that it
 * started.
 */
export class Bubblewrap implements Sandbox {
  readonly kind = 'bubblewrap';
  readonly version: string;
  readonly gaps: readonly string[];
  readonly instead = null;
  readonly ownPaths = true;
  readonly bound: ProcessBound;
  readonly #trees = new WeakMap<SandboxView, ViewTree>();
  readonly #turns = new WeakMap<Folders, Promise<unknown>>();

  constructor(private readonly o: BubblewrapOptions) {
    this.version = `bubblewrap ${o.version}`;
    this.bound = o.bound;
    this.gaps = [
      ...boundGaps(o.bound),
      ...(filter === null
        ? [`on ${process.arch} the keys that the kernel keeps for this login are not kept from processes inside`]
        : []),
      ...(process.getuid?.() !== 0 || o.unshare !== null
        ? []
        : [
            'since this program runs as root, processes inside could change the permissions of devices such as /dev/null',
          ]),
      ...(o.closed
        ? []
        : [`bubblewrap ${o.version} can’t forbid user namespaces inside, where memory can be filled by mounts`]),
    ];
  }

  placesOf(_folders: Folders, workdir: string) {
    return bubblewrapPlaces(workdir);
  }

  gatewayOrigin({ gateway, network }: SandboxView): string | null {
    if (gateway === null) return null;
    return network === 'on' ? gateway.origin : `http://127.0.0.1:${relayPort}`;
  }

  sees(path: string, view: SandboxView): boolean {
    return this.#treeOf(view).has(path);
  }

  hostPathOf(path: string, view: SandboxView): string | null {
    return this.#treeOf(view).hostOf(path);
  }

  placeholders(view: SandboxView) {
    return this.#treeOf(view).placeholders;
  }

  async run(options: InsideOptions, view: SandboxView): Promise<ProcessEnd> {
    const tree = this.#treeOf(view);
    const why = whyNotRunnable(options.command[0], options, (path) => tree.hostOf(path));
    if (why !== null) return notStarted(why);
    const points = tree.pointsInWritable;
    if (points.length === 0) return this.#start(options, view, tree);
    // Between this look and the mounting nothing of the rollout may run: it could lead the mounts elsewhere.
    return this.#inTurn(view.folders, options.signal, () => {
      const moved = points.find((point) => !isPlainBelow(view.folders.root, point));
      if (moved === undefined) return this.#start(options, view, tree);
      return Promise.resolve(notStarted(`the folder ${basename(moved)} has been moved or replaced`));
    });
  }

  #treeOf(view: SandboxView): ViewTree {
    const known = this.#trees.get(view);
    if (known !== undefined) return known;
    mkdirSync(view.folders.shared, { recursive: true });
    const tree = bubblewrapTree(view);
    this.#trees.set(view, tree);
    return tree;
  }

  async #inTurn(folders: Folders, signal: AbortSignal | undefined, start: () => Promise<ProcessEnd>) {
    const before = this.#turns.get(folders) ?? Promise.resolve();
    const mine = before
      .catch(() => {})
      .then(() => (signal?.aborted ? notStarted('cancelled before the start', { cause: 'cancelled' }) : start()));
    this.#turns.set(folders, mine);
    return mine;
  }

  async #start(options: InsideOptions, view: SandboxView, tree: ViewTree): Promise<ProcessEnd> {
    const { mark, onStart, onGone, ...rest } = options;
    const env = mark === undefined ? options.env : { ...options.env, [mark.name]: mark.value };
    const args = [
      ...wallArgs({ network: view.network, closed: this.o.closed }),
      ...treeArgs(tree),
      ...commandArgs(options.cwd, env),
    ];
    let channel: Channel;
    try {
      channel = new Channel(view.folders.root, args, filter, filesOf(tree));
    } catch (error) {
      const why = `the sandbox could not be prepared: ${(error as Error).message}`;
      return notStarted(why, { systemRefused: isSystemRefusal(errorCode(error)) });
    }
    try {
      onStart?.(() => channel.status().namespace);
      const end = await runProcess({
        ...rest,
        ...(mark === undefined ? {} : { mark }),
        command: this.#command(options, view, tree),
        cwd: '/',
        env: {},
        descriptors: channel.descriptors,
      });
      const status = channel.status();
      if (await isGone(status)) onGone?.();
      return judged(end, status, options);
    } finally {
      channel.close();
    }
  }

  /** From the outside inwards: limits, walls, the limit that takes a user namespace, the way to the gateway, the command. */
  #command({ command, stdin }: InsideOptions, view: SandboxView, tree: ViewTree): readonly [string, ...string[]] {
    const { limits, cell, gateway, network } = view;
    const relay = network === 'off' ? (gateway?.relay ?? null) : null;
    const inside = [
      ...(limits !== null && this.bound.kind === 'user' ? userBound(limits.processes, tree) : []),
      ...(relay?.command ?? []),
      ...command,
    ];
    const start = boundedStart(['bwrap', ...channelArgs, '--', ...inside], {
      cell,
      limits,
      folder: dirname(ownProgram(this.o.program, view.folders)),
      before: stdin === undefined ? [emptyStdin] : [],
    });
    return this.o.unshare === null ? start : withFirmDevices(this.o.unshare, start);
  }
}

/** Which calls to the kernel are refused; null = this kind of machine has no filter here. */
const filter = seccompFilter(process.arch);

/**
 * The program that becomes process 1 inside, where it is found by `/proc/1/exe`: one that this user owns is copied, so that
 * nobody inside can change its permissions. One that has rights of its own (set-user-ID) is somebody else's.
 */
function ownProgram(program: string, { root }: Folders): string {
  const { uid, mode } = statSync(program);
  if (uid !== process.getuid?.() || (mode & 0o6000) !== 0) return program;
  const copy = join(root, 'bin', 'bwrap');
  mkdirSync(dirname(copy), { recursive: true });
  rmSync(copy, { force: true });
  copyFileSync(program, copy);
  chmodSync(copy, 0o700);
  return copy;
}

/** The words before a command that bound the processes of its user, in sh's own way where the system has no `prlimit`. */
function userBound(most: number, tree: ViewTree): readonly string[] {
  if (tree.hostOf('/usr/bin/prlimit') !== null) return ['/usr/bin/prlimit', `--nproc=${most}:${most}`, '--'];
  return ['bash', '-c', `ulimit -u ${most} && exec "$0" "$@"`];
}

/** All that lived inside is gone a moment after bwrap, and not before that. False: it is not, or nobody knows. */
async function isGone({ pid, namespace }: Status): Promise<boolean> {
  return pid !== null && namespace !== null && (await waitUntil(() => !livesIn(pid, namespace), endedMs));
}

/** What bwrap's end says of the command's. */
function judged(end: ProcessEnd, status: Status, options: InsideOptions): ProcessEnd {
  if (end.cause !== 'exited' || status.exitCode !== null) return end;
  const words = lastWords(end, options);
  const what = /^bwrap: execvp [^:]*: (.*)$/.exec(words)?.[1];
  const command = `the command ${options.command[0]}`;
  if (what === 'No such file or directory')
    return notStarted(`the interpreter that ${options.command[0]} asks for was not found`);
  if (what !== undefined) return notStarted(`${command} could not be started: ${what}`);
  const systemRefused =
    /temporarily unavailable|Cannot allocate memory|Too many open files|No space left|namespaces exceeded/.test(words);
  return notStarted(`the sandbox could not be built: ${words || `exit code ${end.exitCode}`}`, { systemRefused });
}

function lastWords(end: ProcessEnd, { stderrFile }: InsideOptions): string {
  let text = end.stderr || end.stdout;
  if (stderrFile !== undefined) {
    try {
      text = readFileSync(stderrFile, 'utf8').slice(-4_000);
    } catch {}
  }
  const lines = text.trim().split('\n');
  return lines.findLast((line) => line.startsWith('bwrap: ')) ?? lines.at(-1) ?? '';
}
