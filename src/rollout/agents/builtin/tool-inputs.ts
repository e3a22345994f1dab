import { z } from 'zod';
import type { TrajectoryStep } from '../../../ports/trajectory.ts';

export type ToolStep = Extract<TrajectoryStep, { readonly kind: 'tool' }>;

/** What came of a tool: its step, whose output is what the model is shown. `over` = the rollout has ended; null: nothing of it is known. */
export type Performed =
  | { readonly kind: 'done'; readonly step: ToolStep; readonly isError: boolean }
  | { readonly kind: 'over'; readonly step: ToolStep | null };

const path = z.string().min(1).describe('Path of the file; relative to your folder, or absolute.');

/** What each tool is given. */
export const shapes = {
  bash: z.object({ command: z.string().min(1).describe('The command, as one or more lines of bash.') }),
  read: z.object({
    path,
    offset: z.number().int().min(1).optional().describe('First line to show, counted from 1; default 1.'),
    limit: z.number().int().min(1).optional().describe('How many lines to show; default: as many as fit.'),
  }),
  write: z.object({ path, content: z.string().describe('The whole content of the file.') }),
  edit: z.object({
    path,
    old: z
      .string()
      .min(1)
      .describe('The text to replace, letter for letter. It has to occur exactly once in the file.'),
    new: z.string().describe('The text that takes its place.'),
  }),
} as const;
export type ToolName = keyof typeof shapes;
/** The inputs of the tools, checked. */
export type ToolInput<N extends ToolName> = z.output<(typeof shapes)[N]>;
