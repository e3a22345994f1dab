import { runProcess } from '../../../process/run-process.ts';
import { onPath } from './runnable.ts';

/**
 * The words before bwrap by which devices such as `/dev/null` are shown read-only: whoever owns them, which is root, could
 * change their permissions for the whole machine. What is written to a device is not written to its file system.
 */
export function withFirmDevices(
  unshare: string,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return [unshare, '--mount', '--propagation', 'slave', '/bin/sh', '-c', script, 'sh', ...command];
}

const script = `PATH=/usr/bin:/bin:/usr/sbin:/sbin
firm() { mount -o remount,bind,ro /dev; }
firm 2>/dev/null || { mount --bind /dev /dev && firm; } || exit 125
exec "$@"`;

const probeMs = 20_000;

/** The `unshare` by which that can be done here; null = it can't. */
export async function findFirmDevices(path: string): Promise<string | null> {
  const unshare = onPath('unshare', path, '/', (file) => file);
  if (unshare === null) return null;
  const end = await runProcess({
    command: withFirmDevices(unshare, ['/bin/sh', '-c', 'echo > /dev/null']),
    cwd: '/',
    env: {},
    timeoutMs: probeMs,
  });
  return end.exitCode === 0 ? unshare : null;
}
