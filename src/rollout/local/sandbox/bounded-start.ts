import type { PidsCell } from '../../../process/pids-cell.ts';
import type { Limits } from '../sandbox.ts';

/** A megabyte as the config counts. */
export const megabyte = 1_000_000;

/** A file size as `ulimit -f` takes it in sh: blocks of 512 bytes. */
const blockBytes = 512;

/**
 * The command started under limits by a small script of sh: in its cell, and with a largest file. `folder` is where the
 * program is looked for, so that its whole path stands in no command line inside; null = the program says where it is.
 */
export function boundedStart(
  command: readonly [string, ...string[]],
  o: {
    readonly cell: PidsCell | null;
    readonly limits: Limits | null;
    readonly folder: string | null;
    /** Steps of sh before the start. */
    readonly before?: readonly string[];
  },
): readonly [string, ...string[]] {
  const { cell, limits, folder } = o;
  const steps = [
    ...(o.before ?? []),
    ...(cell === null ? [] : ['echo 0 > "$2" || exit 125']),
    ...(limits === null ? [] : [`ulimit -f ${Math.ceil((limits.fileMb * megabyte) / blockBytes)} || exit 125`]),
    ...(folder === null ? [] : ['PATH=$1']),
    'shift 2',
    'exec "$@"',
  ];
  return ['/bin/sh', '-c', steps.join('\n'), 'sh', folder ?? '', cell?.door ?? '', ...command];
}
