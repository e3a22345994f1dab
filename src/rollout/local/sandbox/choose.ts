import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type { SandboxConfig } from '../../../config/sandbox.ts';
import { runProcess } from '../../../process/run-process.ts';
import type { Sandbox } from '../sandbox.ts';
import { Bubblewrap } from './bubblewrap.ts';
import { wallArgs } from './bubblewrap-args.ts';
import { Channel, channelArgs } from './bubblewrap-status.ts';
import { findFirmDevices } from './firm-devices.ts';
import { PlainFolders } from './plain-folders.ts';
import { processBound } from './process-bound.ts';
import { SandboxExec } from './sandbox-exec.ts';
import { seccompFilter } from './seccomp.ts';

/** This machine, as far as it decides which walls there are. */
export type SandboxHost = {
  readonly platform: string;
  /** Where programs are looked for. */
  readonly path: string;
  /** The text of a small file of the system; null = it is not there. */
  readonly read: (path: string) => string | null;
  /** Builds walls with bwrap around a command that does nothing. */
  readonly probe: (program: string, closed: boolean) => Promise<Probed>;
  /** What `bwrap --version` says. */
  readonly versionOf: (program: string) => Promise<string>;
  /** See `BubblewrapOptions.unshare`. */
  readonly unshare: () => Promise<string | null>;
};

/** Null = it works; else what it said. */
export type Probed = { readonly said: string } | null;

const fix = (how: string) => `${how}; or allow plain folders with --allow-unsandboxed (docs/sandbox.md)`;

/**
 * The walls that this machine has, tried once. Where there are none, plain folders that say why (`instead`): they need
 * the user's consent.
 */
export async function chooseSandbox(o: {
  readonly kind: SandboxConfig['kind'];
  readonly host: SandboxHost;
}): Promise<Sandbox> {
  const { kind, host } = o;
  const plain = (instead: Sandbox['instead']) => new PlainFolders({ instead, bound: processBound(false) });
  if (kind === 'none') return plain(null);
  switch (host.platform) {
    case 'linux':
      return (await bubblewrap(host)) ?? plain(await whyNoBubblewrap(host));
    case 'darwin':
      return existsSync('/usr/bin/sandbox-exec')
        ? new SandboxExec(processBound(false))
        : plain({ what: 'sandbox-exec is not on this Mac', fix: fix('use Linux with bubblewrap') });
    default:
      return plain({ what: `${host.platform} has no sandbox that this program knows`, fix: fix('use Linux or macOS') });
  }
}

async function bubblewrap(host: SandboxHost): Promise<Bubblewrap | null> {
  const program = findProgram('bwrap', host.path);
  if (program === null) return null;
  const [, version = ''] = /(\d+(?:\.\d+)*)/.exec(await host.versionOf(program)) ?? [];
  for (const closed of canClose(version) ? [true, false] : [false]) {
    if ((await host.probe(program, closed)) !== null) continue;
    return new Bubblewrap({ program, version, closed, unshare: await host.unshare(), bound: processBound(true) });
  }
  return null;
}

/** `--disable-userns` came with 0.8.0. */
function canClose(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 0 || minor >= 8;
}

/** Why bubblewrap does not work here, and what makes it work. */
async function whyNoBubblewrap(host: SandboxHost): Promise<NonNullable<Sandbox['instead']>> {
  const program = findProgram('bwrap', host.path);
  if (program === null) {
    const how = 'install bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)';
    return { what: 'bubblewrap is not installed (no bwrap on PATH)', fix: fix(how) };
  }
  const is = (path: string, value: string) => host.read(path)?.trim() === value;
  const what = 'bubblewrap is not allowed to make user namespaces here';
  if (is('/proc/sys/kernel/unprivileged_userns_clone', '0'))
    return {
      what: `${what} (kernel.unprivileged_userns_clone is 0)`,
      fix: fix('sudo sysctl -w kernel.unprivileged_userns_clone=1'),
    };
  if (is('/proc/sys/user/max_user_namespaces', '0'))
    return {
      what: `${what} (user.max_user_namespaces is 0)`,
      fix: fix('sudo sysctl -w user.max_user_namespaces=15000'),
    };
  if (is('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'))
    return {
      what: `${what} (AppArmor: kernel.apparmor_restrict_unprivileged_userns is 1, as on Ubuntu)`,
      fix: fix('give bwrap an AppArmor profile that allows it, as docs/sandbox.md shows'),
    };
  const said = (await host.probe(program, false))?.said ?? 'it works now; try again';
  if (host.read('/.dockerenv') !== null || host.read('/run/.containerenv') !== null)
    return {
      what: `bubblewrap does not work in this container: ${said}`,
      fix: fix('start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined'),
    };
  return { what: `bubblewrap does not work here: ${said}`, fix: fix('mend what it says') };
}

function findProgram(name: string, path: string): string | null {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {}
  }
  return null;
}

const probeMs = 20_000;

/** The machine that this program runs on. */
export function thisSandboxHost(path: string): SandboxHost {
  return {
    platform: process.platform,
    path,
    read: (file) => {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return null;
      }
    },
    versionOf: async (program) =>
      (await runProcess({ command: [program, '--version'], cwd: '/', env: {}, timeoutMs: probeMs })).stdout,
    probe: probeWalls,
    unshare: async () => (process.getuid?.() === 0 ? findFirmDevices(path) : null),
  };
}

/** The walls as they will be, without a network and with the whole system in place of what is chosen later. */
async function probeWalls(program: string, closed: boolean): Promise<Probed> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-probe-'));
  try {
    const tree = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
    const channel = new Channel(
      folder,
      [...wallArgs({ network: 'off', closed }), ...tree],
      seccompFilter(process.arch),
    );
    try {
      const end = await runProcess({
        command: [program, ...channelArgs, '--', '/bin/sh', '-c', ':'],
        cwd: '/',
        env: {},
        timeoutMs: probeMs,
        descriptors: channel.descriptors,
      });
      if (channel.status().exitCode === 0) return null;
      return { said: end.stderr.trim().split('\n').at(-1) || end.detail || `exit code ${end.exitCode}` };
    } finally {
      channel.close();
    }
  } catch (error) {
    return { said: (error as Error).message };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
