import { resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import type { Flags } from '../session/effective-config.ts';
import { sessionPaths } from '../session/paths.ts';
import type { CommandContext } from './context.ts';
import { NO_IMPROVEMENT } from './exit-codes.ts';
import { search } from './search.ts';
import type { Show } from './show.ts';
import { withSource } from './source-moved.ts';

export type RunOptions = Flags &
  Show & {
    readonly finalize?: boolean;
    readonly allowUnsandboxed?: boolean;
    readonly exitCode?: boolean;
  };

/** Starts or resumes the session of a directory. */
export async function run(dir: string, options: RunOptions, context: CommandContext): Promise<void> {
  const path = resolve(dir);
  const { report, lines } = await search({
    io: context.io,
    dir: path,
    command: context.command,
    config: loadConfig(sessionPaths(path).config),
    flags: options,
    finalize: options.finalize ?? false,
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    stage: context.stage,
    show: options,
  });
  const told = options.finalize ? withSource(path, report, lines) : { data: report, lines };
  context.io.result(told.data, told.lines);
  if (options.exitCode && report.result !== 'improved') process.exitCode = NO_IMPROVEMENT;
}
