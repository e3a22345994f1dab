import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type SkilloptError } from '../../../ports/failure.ts';
import type { Folders } from '../folders.ts';
import { type InsidePlaces, relaySocket, type SandboxView } from '../sandbox.ts';
import { etcParts, systemParts } from './system-parts.ts';
import { type Part, ViewTree } from './view-tree.ts';

/** Folders that are the system's or this program's: no task works in or above them. */
const taken = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix', '/gnu'] as const;
const takenBelow = ['/proc', '/dev', '/sys', '/etc', '/run', '/tests', '/logs'] as const;

/**
 * May this be shown? The kernel's own files are made anew inside, and everything is more than anybody means: neither is
 * ever shown.
 */
export function canBeShown(path: string): boolean {
  return path.startsWith('/') && !/^\/(?:proc|dev)?(?:\/|$)/.test(path);
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
const meet = (a: string, b: string): boolean => isBelow(a, b) || isBelow(b, a);

/**
 * Where a task with this workdir finds its folders: at Harbor's places, and a home and a temporary folder that are not in
 * the workdir's way. Throws `pack` for a workdir that the sandbox needs for itself.
 */
export function bubblewrapPlaces(workdir: string): InsidePlaces {
  const workspace = workdir.replace(/\/+$/, '') || '/';
  if (
    workspace === '/' ||
    taken.some((one) => isBelow(one, workspace)) ||
    takenBelow.some((one) => meet(one, workspace))
  )
    throw noPlace(workspace);
  const free = (...places: readonly [string, ...string[]]) =>
    places.find((place) => !meet(place, workspace)) ?? places[0];
  return {
    workspace,
    home: free('/home/agent', '/agent', '/agent-home'),
    temp: workspace === '/tmp' ? '/var/tmp' : '/tmp',
    logs: '/logs',
    tests: '/tests',
    skills: free('/skills', '/mounted-skills'),
  };
}

/** The `/etc` of a rollout is the same in its phases, unless one has a network and another has not. */
const made = new WeakMap<Folders, Map<string, readonly Part[]>>();

function etcFor({ folders, network, places: { home } }: SandboxView): readonly Part[] {
  const known = made.get(folders) ?? new Map<string, readonly Part[]>();
  made.set(folders, known);
  const name = `${network} ${home}`;
  const parts = known.get(name) ?? etcParts(network, home);
  known.set(name, parts);
  return parts;
}

/** What stands where for one phase. Throws `pack` where there is no place for the workspace. */
export function bubblewrapTree(view: SandboxView): ViewTree {
  const { folders, places } = view;
  const viaRelay = view.network === 'off' && view.gateway !== null ? view.gateway : null;
  const shown: readonly Part[] = [...view.show, ...(viaRelay?.relay?.show ?? [])]
    .filter(canBeShown)
    .map((path) => readOnly(path, path));
  // who shows the whole of it means this machine's own
  const etc = shown.some(({ at }) => at.replace(/\/+$/, '') === '/etc') ? [] : etcFor(view);
  const system = [...systemParts(), ...etc];
  const own = (from: string, at: string): Part => ({ kind: 'bind', at, from, writable: true });
  const tree = ViewTree.of([
    ...system,
    ...covers([...system, ...shown], view.hide),
    ...shown,
    own(folders.temp, places.temp),
    ...(places.temp === '/tmp' ? [{ kind: 'link', at: '/var/tmp', target: '/tmp' } as const] : []),
    own(folders.shared, '/dev/shm'),
    own(folders.home, places.home),
    own(folders.logs, places.logs),
    own(folders.workspace, places.workspace),
    ...(view.phase === 'verifier' ? [own(folders.tests, places.tests)] : []),
    ...view.readOnly.map(({ from, to }) => readOnly(from, to)),
    ...(viaRelay === null ? [] : [readOnly(viaRelay.socketPath, relaySocket)]),
  ]);
  if (tree.hostOf(places.workspace) !== realpathSync(folders.workspace)) throw noPlace(places.workspace);
  return tree;
}

function noPlace(workspace: string): SkilloptError {
  return fail(
    'pack',
    `a task can’t work in ${workspace}, which the sandbox needs for itself`,
    `workdir ${workspace}`,
    'give the task a workdir of its own in task.toml ([environment] workdir = "/app")',
  );
}

const readOnly = (from: string, at: string): Part => ({ kind: 'bind', at, from, writable: false });

/** Puts nothing in place of what is hidden, wherever something shown would bring it in. */
function covers(parts: readonly Part[], hide: readonly string[]): readonly Part[] {
  const hidden = hide.flatMap((path) => real(path) ?? []);
  return parts.flatMap((part): readonly Part[] => {
    const from = part.kind === 'bind' ? real(part.from) : null;
    if (from === null) return [];
    return hidden
      .filter((path) => path !== from && isBelow(path, from))
      .map((path) => ({ kind: 'cover', at: join(part.at, path.slice(from.length)) }));
  });
}

function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
