import type { Io } from './io.ts';

/** What every command is given. */
export type CommandContext = {
  readonly io: Io;
  /** The command as it was typed, for the report. */
  readonly command: string;
};
