import { z } from 'zod';

const values = (about: string) => z.record(z.string(), z.json()).default({}).describe(about);

const absolute = z.string().refine((path) => path.startsWith('/'), { error: 'is no path from / on' });

/** Rollouts in Harbor: what its jobs are told beside agent, model and tasks. */
export const harborConfig = z.strictObject({
  program: z.string().min(1).default('harbor').describe('the harbor program: its name on PATH, or its path'),
  mountAgent: z
    .boolean()
    .default(false)
    .describe('true: this machine’s agent is shown to the trials, read-only, and none is installed in each'),
  mounts: z
    .array(
      z.strictObject({
        source: z.string().min(1).describe('file or folder of this machine'),
        target: absolute.describe('where trials see it, read-only'),
      }),
    )
    .readonly()
    .default([])
    .describe('files and folders of this machine that trials see'),
  agentKwargs: values('arguments of the agent’s class, such as {"version": "2.1.332"}: `harbor agent schema NAME`'),
  environmentKwargs: values('arguments of the environment’s class'),
  pythonPath: z
    .array(z.string().min(1))
    .readonly()
    .default([])
    .describe('folders with classes of your own, for "agent" or "backend" as module:Class'),
  setupSec: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('seconds for the setup of the agent in a trial; null: Harbor’s own limit'),
});
export type HarborConfig = z.output<typeof harborConfig>;

export const noHarbor: HarborConfig = harborConfig.parse({});
