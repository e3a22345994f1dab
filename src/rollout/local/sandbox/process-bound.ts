import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { findPidsParent } from '../../../process/pids-cell.ts';

/** By what the number of a rollout's processes is bounded on this machine. */
export type ProcessBound =
  /** A group of the kernel for each rollout, below `parent`. */
  | { readonly kind: 'cell'; readonly parent: string }
  /** The limit of the user, who in a user namespace of its own has no other processes. */
  | { readonly kind: 'user' }
  | { readonly kind: 'none'; readonly why: string };

/** What decides about it. */
export type BoundHost = {
  readonly platform: string;
  /** As `uname -r` tells it. */
  readonly kernel: string;
  readonly uid: number;
  /** The text of `/proc/self/uid_map`; empty = there is none. */
  readonly uidMap: string;
  /** See `findPidsParent`. */
  readonly pidsParent: () => string | null;
};

/** `walls`: whether processes live in a user namespace of their own. */
export function processBound(walls: boolean, host: BoundHost = thisHost()): ProcessBound {
  if (host.platform !== 'linux')
    return { kind: 'none', why: `nothing on ${host.platform} bounds them for one rollout` };
  if (walls && !isRootOfMachine(host) && isAtLeast(host.kernel, 5, 14)) return { kind: 'user' };
  const parent = host.pidsParent();
  if (parent !== null) return { kind: 'cell', parent };
  if (!walls) return { kind: 'none', why: 'without walls it takes control groups that this user may make' };
  return isRootOfMachine(host)
    ? { kind: 'none', why: 'root is bound by control groups alone, and none can be made here' }
    : { kind: 'none', why: `Linux ${host.kernel} counts all processes of this user together (5.14 does not)` };
}

/** What is said where they are not bounded; empty = they are. */
export function boundGaps(bound: ProcessBound): readonly string[] {
  return bound.kind === 'none' ? [`the number of processes is not limited: ${bound.why}`] : [];
}

/** Root of the machine, not of a container that maps its users: the kernel bounds its processes by no user limit. */
function isRootOfMachine({ uid, uidMap }: BoundHost): boolean {
  if (uid !== 0) return false;
  const [inside, outside] = uidMap.trim().split(/\s+/);
  return inside === undefined || (inside === '0' && outside === '0');
}

function isAtLeast(kernel: string, major: number, minor: number): boolean {
  const [, a, b] = /^(\d+)\.(\d+)/.exec(kernel) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}

function thisHost(): BoundHost {
  let uidMap = '';
  try {
    uidMap = readFileSync('/proc/self/uid_map', 'utf8');
  } catch {}
  return {
    platform: process.platform,
    kernel: release(),
    uid: process.getuid?.() ?? -1,
    uidMap,
    pidsParent: findPidsParent,
  };
}
