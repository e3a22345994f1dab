import { z } from 'zod';

/** Walls around agents and verifiers on the backend `local`. */
export const sandboxConfig = z.strictObject({
  kind: z
    .enum(['auto', 'none'])
    .default('auto')
    .describe('auto: the sandbox of this system (bubblewrap, sandbox-exec); none: plain folders, with consent'),
  network: z
    .enum(['off', 'on'])
    .default('off')
    .describe('off: nothing but the model through the gateway; on: agents and verifiers reach every network'),
  show: z
    .array(z.string().min(1))
    .readonly()
    .default([])
    .describe('further files and folders of this machine that agents and verifiers see, read-only'),
  processes: z.number().int().min(16).default(512).describe('most processes of one rollout'),
  fileMb: z.number().int().positive().default(1_000).describe('largest file that a rollout may write, in megabytes'),
  diskMb: z.number().int().positive().default(4_000).describe('most that a rollout may write in all, in megabytes'),
  keepMb: z
    .number()
    .int()
    .nonnegative()
    .default(200)
    .describe('megabytes for the workspaces of failed rollouts that are kept in .skillopt/workspaces; 0: none'),
});
export type SandboxConfig = z.output<typeof sandboxConfig>;
