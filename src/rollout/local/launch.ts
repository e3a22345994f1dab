import type { Mark } from '../../process/mark.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { type ProcessOptions, runProcess } from '../../process/run-process.ts';

/** What every process of one rollout has in common. */
export type LaunchContext = {
  readonly mark: Mark & { readonly match: 'exact' };
  /** Aborted when the rollout is cancelled. */
  readonly cancelled: AbortSignal;
  readonly graceMs: number;
};

/**
 * Starts a process of a rollout: in plain folders, with no walls but its group, its mark and its deadline. The one
 * place through which agents and verifiers come to run, and so where a sandbox stands when there is one.
 */
export function launch(
  context: LaunchContext,
  options: Omit<ProcessOptions, 'mark' | 'signal' | 'graceMs'>,
): Promise<ProcessEnd> {
  return runProcess({ ...options, mark: context.mark, signal: context.cancelled, graceMs: context.graceMs });
}
