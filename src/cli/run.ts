import { readConfigFile } from '../config/load.ts';
import { sessionPaths } from '../session/paths.ts';
import { writeSchema } from '../session/schema-file.ts';
import type { CommandContext } from './context.ts';
import { NO_IMPROVEMENT } from './exit-codes.ts';
import { flagsOf, type KeyFlags } from './layered-config.ts';
import type { OverrideOptions } from './override-options.ts';
import { search } from './search.ts';
import { sessionPlace } from './session-place.ts';
import type { Show } from './show.ts';
import { withSource } from './source-moved.ts';

export type RunOptions = KeyFlags &
  OverrideOptions &
  Show & {
    readonly finalize?: boolean;
    readonly allowUnsandboxed?: boolean;
    readonly exitCode?: boolean;
    readonly smoke?: boolean;
  };

/** Starts or resumes the session of a directory. */
export async function run(dir: string, options: RunOptions, context: CommandContext): Promise<void> {
  const flags = flagsOf(options);
  const place = sessionPlace(dir, flags, true);
  if (place.config === null) readConfigFile(sessionPaths(place.dir).config); // says that there is none
  const path = place.dir;
  const { report, lines, estimate } = await search({
    io: context.io,
    dir: path,
    command: context.command,
    config: place.config,
    flags: place.flags,
    notes: flags.taken,
    onBegin: () => void writeSchema(sessionPaths(path)),
    finalize: options.finalize ?? false,
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    stage: context.stage,
    show: options,
  });
  const told = options.finalize ? withSource(path, report, lines) : { data: report, lines };
  context.io.result({ ...told.data, estimate }, told.lines);
  if (options.exitCode && report.result !== 'improved') process.exitCode = NO_IMPROVEMENT;
}
