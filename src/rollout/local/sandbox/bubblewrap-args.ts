import { fileDescriptor } from './bubblewrap-status.ts';
import { insideId } from './system-parts.ts';
import type { Part, ViewTree } from './view-tree.ts';

/** Which walls are built, whatever stands inside. */
export type WallFlags = {
  readonly network: 'off' | 'on';
  /** No further user namespaces inside (bubblewrap 0.8): nobody can mount anything or become somebody else there. */
  readonly closed: boolean;
};

/** bwrap's options for namespaces, user and privileges. */
export function wallArgs({ network, closed }: WallFlags): readonly string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(network === 'off' ? ['--unshare-net'] : []),
    ...(closed ? ['--disable-userns'] : []),
    '--die-with-parent',
    '--new-session',
    ...['--hostname', 'sandbox'],
    ...['--uid', String(insideId), '--gid', String(insideId)],
    ...['--cap-drop', 'ALL'],
  ];
}

/** bwrap's options for what stands inside. What was made to hold it is read-only in the end. */
export function treeArgs(tree: ViewTree): readonly string[] {
  const { parts } = tree;
  const firm = parts.filter(({ kind }) => kind === 'cover' || kind === 'dev').map(({ at }) => at);
  let files = 0;
  const args = parts.flatMap((part) =>
    part.kind === 'file' ? ['--file', String(fileDescriptor(files++)), part.at] : partArgs(part),
  );
  return [...args, ...[...firm, '/'].flatMap((at) => ['--remount-ro', at])];
}

/** What the files of the tree say, in the order of their descriptors (`fileDescriptor`). */
export function filesOf({ parts }: ViewTree): readonly Uint8Array[] {
  return parts.flatMap((part) => (part.kind === 'file' ? [part.bytes] : []));
}

function partArgs(part: Exclude<Part, { kind: 'file' }>): readonly string[] {
  switch (part.kind) {
    case 'bind':
      return [part.writable ? '--bind' : '--ro-bind', part.from, part.at];
    case 'link':
      return ['--symlink', part.target, part.at];
    case 'folder':
      return ['--dir', part.at];
    case 'cover':
      return ['--tmpfs', part.at];
    case 'proc':
      return ['--proc', part.at];
    case 'dev':
      return ['--dev', part.at];
    default:
      return part satisfies never;
  }
}

/** bwrap's options for where and in which environment the command runs. */
export function commandArgs(cwd: string, env: Readonly<Record<string, string>>): readonly string[] {
  return ['--chdir', cwd, ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])];
}
