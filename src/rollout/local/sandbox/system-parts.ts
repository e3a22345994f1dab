import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Part } from './view-tree.ts';

/** Where a Linux system keeps its programs and what they load; a link stays a link. */
const systemRoots = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/gnu/store',
  '/run/current-system',
] as const;

/**
 * Where the kernel takes settings of the whole machine from whoever owns the file. To the kernel a process inside is the
 * user who runs this program: where that is root, nothing but a read-only mount keeps it from them.
 */
const kernelSettings = ['/proc/sys'];
const kernelSettingsOfRoot = ['sysrq-trigger', 'fs', 'irq', 'bus', 'acpi', 'scsi', 'asound', 'driver', 'mtrr'].map(
  (name) => `/proc/${name}`,
);

/** The system's programs and what they load, as every process of a rollout sees them, read-only. */
export function systemParts(): readonly Part[] {
  const roots = systemRoots.flatMap((path): readonly Part[] => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return [stat.isSymbolicLink() ? { kind: 'link', at: path, target: readlinkSync(path) } : shown(path)];
  });
  return [
    ...roots,
    { kind: 'proc', at: '/proc' },
    ...[...kernelSettings, ...(process.getuid?.() === 0 ? kernelSettingsOfRoot : [])].map(shown),
    { kind: 'dev', at: '/dev' },
    { kind: 'folder', at: '/run' },
    { kind: 'folder', at: '/var' },
  ];
}

/**
 * What of `/etc` programs need to run as they do here: libraries, certificates, fonts, time zone, settings of languages.
 * Nothing that tells of the user, of other users or of secrets, and no configuration of tools (git, npm, pip, shells).
 */
const etcFiles = /^(ld\.so\.cache|static|localtime|timezone|os-release|mime\.types|services|protocols)$/;
const etcFolders = /^(alternatives|fonts|crypto-policies|php|R|OpenCL|dotnet|(java|ImageMagick)[\w.-]*)$/;
const etcFilesBelow = ['ssl/openssl.cnf', 'ssl/cert.pem', 'pki/tls/openssl.cnf', 'pki/tls/cert.pem'] as const;
const etcFoldersBelow = ['ssl/certs', 'pki/ca-trust', 'pki/tls/certs'] as const;
/** What a process needs that is to reach other machines. */
const etcOfNetwork = ['resolv.conf', 'hosts', 'host.conf', 'gai.conf'] as const;

/** Larger files are no settings. */
const mostFileBytes = 2_000_000;

/**
 * An `/etc` for a sandbox: small files with what they say now, links as links, folders shown in their place. Mounting takes
 * longer than writing, and happens for each process; nothing is written to a disk.
 */
export function etcParts(network: 'off' | 'on', home: string): readonly Part[] {
  const names = namesIn('/etc');
  const made = madeFiles(network, home);
  const files = [
    ...names.filter((name) => etcFiles.test(name)),
    ...etcFilesBelow,
    ...(network === 'on' ? etcOfNetwork : []),
  ].filter((name) => !(name in made));
  const folders = [...names.filter((name) => etcFolders.test(name)), ...etcFoldersBelow];
  return [
    { kind: 'folder', at: '/etc' },
    ...files.flatMap(brought),
    ...Object.entries(made).map(
      ([name, text]): Part => ({ kind: 'file', at: join('/etc', name), bytes: bytesOf(text) }),
    ),
    ...folders.map((name) => join('/etc', name)).flatMap((path) => (isFolder(path) ? [shown(path)] : [])),
  ];
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/** What a file of `/etc` says; one that leads to the system, such as the time zone, stays a link. Empty = it is not there. */
function brought(name: string): readonly Part[] {
  const at = join('/etc', name);
  try {
    const target = lstatSync(at).isSymbolicLink() ? resolve('/etc', readlinkSync(at)) : at;
    if (target !== at && systemRoots.some((root) => target.startsWith(`${root}/`)))
      return [{ kind: 'link', at, target }];
    const stat = statSync(at);
    return stat.isFile() && stat.size <= mostFileBytes ? [{ kind: 'file', at, bytes: readFileSync(at) }] : [];
  } catch {
    return []; // it is not there, or leads nowhere
  }
}

/** Who the user inside is, and how names are found. */
function madeFiles(network: 'off' | 'on', home: string): Readonly<Record<string, string>> {
  return {
    passwd: [
      'root:x:0:0:root:/root:/bin/sh',
      `agent:x:${insideId}:${insideId}:agent:${home}:/bin/bash`,
      'nobody:x:65534:65534:nobody:/nonexistent:/bin/false',
      '',
    ].join('\n'),
    group: ['root:x:0:', `agent:x:${insideId}:`, 'nogroup:x:65534:', ''].join('\n'),
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    ...(network === 'on' ? {} : { hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n' }),
  };
}

/** User and group of every process inside. */
export const insideId = 1000;

const shown = (path: string): Part => ({ kind: 'bind', at: path, from: path, writable: false });

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
