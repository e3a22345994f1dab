import type { Io } from './io.ts';
import type { Stage } from './stage.ts';

/** What every command is given. */
export type CommandContext = {
  readonly io: Io;
  readonly stage: Stage;
  /** The command as it was typed, for the report. */
  readonly command: string;
};
