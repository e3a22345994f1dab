import { basename, dirname } from 'node:path';
import type { Mark } from '../../process/mark.ts';
import { notStarted, type ProcessEnd } from '../../process/process-end.ts';
import { type ProcessOptions, runProcess } from '../../process/run-process.ts';
import { isPlainFolder } from './plain-below.ts';
import type { InsideOptions, Sandbox, SandboxView } from './sandbox.ts';

/** The walls around the processes of one phase, and what is shown within them. */
export type Walls = {
  readonly sandbox: Sandbox;
  readonly view: SandboxView;
  /** See `InsideOptions`. */
  readonly onStart?: NonNullable<InsideOptions['onStart']>;
  readonly onGone?: () => void;
};

/** What every process of one rollout has in common. */
export type LaunchContext = {
  readonly mark: Mark & { readonly match: 'exact' };
  /** Aborted when the rollout is cancelled. */
  readonly cancelled: AbortSignal;
  readonly graceMs: number;
  /** Null: plain folders, and nothing is bounded but the time. */
  readonly walls: Walls | null;
};

/**
 * Starts a process of a rollout: in a group of its own, marked, under its deadline, and within the walls. The one place
 * through which agents and verifiers come to run.
 */
export async function launch(
  context: LaunchContext,
  options: Omit<ProcessOptions, 'mark' | 'signal' | 'graceMs'>,
): Promise<ProcessEnd> {
  const { mark, walls } = context;
  const all = { ...options, mark, signal: context.cancelled, graceMs: context.graceMs };
  if (walls === null) return runProcess(all);
  const { sandbox, view, onStart, onGone } = walls;
  const { root } = view.folders;
  // This program opens these files, in folders that an earlier process of the rollout may have led elsewhere.
  const astray = [options.stdoutFile, options.stderrFile].find(
    (file) => file?.startsWith(`${root}/`) && !isPlainFolder(root, dirname(file)),
  );
  if (astray !== undefined) return notStarted(`the folder of the output file ${basename(astray)} has been replaced`);
  const told = { ...(onStart === undefined ? {} : { onStart }), ...(onGone === undefined ? {} : { onGone }) };
  return sandbox.run({ ...all, ...told }, view);
}
